/* SPDX-License-Identifier: Apache-2.0 */
/* reflect.Kind's numbers, which descriptors and debug information have of each type. */
#ifndef GOKIND_H
#define GOKIND_H

#include <stdbool.h>
#include <stdint.h>

#include "golang/gotype.h"

enum gokind {
	GOKIND_BOOL = 1,
	GOKIND_INT, /* to INT64 */
	GOKIND_INT64 = 6,
	GOKIND_UINT, /* to UINTPTR */
	GOKIND_UINTPTR = 12,
	GOKIND_FLOAT32,
	GOKIND_FLOAT64,
	GOKIND_COMPLEX64,
	GOKIND_COMPLEX128,
	GOKIND_ARRAY,
	GOKIND_CHAN,
	GOKIND_FUNC,
	GOKIND_INTERFACE,
	GOKIND_MAP,
	GOKIND_POINTER,
	GOKIND_SLICE,
	GOKIND_STRING,
	GOKIND_STRUCT,
	GOKIND_UNSAFE_POINTER,
};

enum { GOKIND_MASK = 31 }; /* other bits beside a kind are flags */

/* GOTYPE_UNKNOWN: there is no such kind */
enum gotype_kind gokind_type(enum gokind kind);
/* Can a value of this kind have this size and alignment, in bytes? */
bool gokind_fits(enum gokind kind, uint64_t size, uint32_t align);

#endif
