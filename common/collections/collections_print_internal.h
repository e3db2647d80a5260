/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECTIONS_PRINT_INTERNAL_H
#define COLLECTIONS_PRINT_INTERNAL_H

#include <stdint.h>

enum { COLLECTIONS_CELL = 16 };

/* "1.2ms", in `out`, which it returns */
const char *collections_time(char out[COLLECTIONS_CELL], uint64_t ns);

#endif
