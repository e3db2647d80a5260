/* SPDX-License-Identifier: Apache-2.0 */
/* Size classes of Go's allocator: what a small object takes. Go's src/runtime/sizeclasses.go */
#ifndef SIZECLASS_H
#define SIZECLASS_H

#include <stdint.h>

enum { SIZECLASSES = 68 };

/* Bytes, by the number of the class; 0 is that of large objects. As it is since Go 1.16; before,
 * there was no class of 24 bytes. */
extern const uint16_t sizeclass_bytes[SIZECLASSES];

#endif
