// SPDX-License-Identifier: Apache-2.0
#include "golang/gokind.h"

enum { ALIGN_MAX = 128 };

static const struct {
	uint8_t kind, size; /* of a value, bytes; 0: any */
} kinds[] = {
	[GOKIND_BOOL] = {GOTYPE_BOOL, 1},
	[GOKIND_INT] = {GOTYPE_INT, 8},
	{GOTYPE_INT, 1},
	{GOTYPE_INT, 2},
	{GOTYPE_INT, 4},
	[GOKIND_INT64] = {GOTYPE_INT, 8},
	[GOKIND_UINT] = {GOTYPE_UINT, 8},
	{GOTYPE_UINT, 1},
	{GOTYPE_UINT, 2},
	{GOTYPE_UINT, 4},
	{GOTYPE_UINT, 8},
	[GOKIND_UINTPTR] = {GOTYPE_UINT, 8},
	[GOKIND_FLOAT32] = {GOTYPE_FLOAT, 4},
	[GOKIND_FLOAT64] = {GOTYPE_FLOAT, 8},
	[GOKIND_COMPLEX64] = {GOTYPE_COMPLEX, 8},
	[GOKIND_COMPLEX128] = {GOTYPE_COMPLEX, 16},
	[GOKIND_ARRAY] = {GOTYPE_ARRAY, 0},
	[GOKIND_CHAN] = {GOTYPE_CHAN, 8},
	[GOKIND_FUNC] = {GOTYPE_FUNC, 8},
	[GOKIND_INTERFACE] = {GOTYPE_INTERFACE, 16},
	[GOKIND_MAP] = {GOTYPE_MAP, 8},
	[GOKIND_POINTER] = {GOTYPE_POINTER, 8},
	[GOKIND_SLICE] = {GOTYPE_SLICE, 24},
	[GOKIND_STRING] = {GOTYPE_STRING, 16},
	[GOKIND_STRUCT] = {GOTYPE_STRUCT, 0},
	[GOKIND_UNSAFE_POINTER] = {GOTYPE_POINTER, 8},
};

enum gotype_kind gokind_type(enum gokind kind)
{
	return kind < sizeof(kinds) / sizeof(kinds[0]) ? kinds[kind].kind : GOTYPE_UNKNOWN;
}

bool gokind_fits(enum gokind kind, uint64_t size, uint32_t align)
{
	if (!align || align > ALIGN_MAX || align & (align - 1))
		return false;
	if (kind == GOKIND_ARRAY || kind == GOKIND_STRUCT)
		return size <= GOTYPE_SIZE_MAX;
	return gokind_type(kind) != GOTYPE_UNKNOWN && size == kinds[kind].size;
}
