/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PPROF_INTERNAL_H
#define PPROF_INTERNAL_H

#include <stddef.h>

struct profile;

/* What pprof_write() compresses; malloc'd. */
void *pprof_bytes(const struct profile *profile, size_t *len);

#endif
