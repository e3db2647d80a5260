/* SPDX-License-Identifier: Apache-2.0 */
/* What parts of bpf-src/ take from bpf-src/parts/probe.h, so that they compile for this side. The
 * program's memory is that of fakemem.h. */
#ifndef KERNELSIDE_H
#define KERNELSIDE_H

#include "fakemem.h"

/* clang has more pragmas, and none of this warning in the kernel's way of compiling */
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wsign-compare"
#define asm __asm__

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;

static inline long read_user(void *to, u32 size, u64 from)
{
	return fakemem_memory.read(NULL, from, to, size) ? 0 : -14; /* EFAULT */
}

static inline long probe_read_user(void *to, u32 size, const void *from)
{
	return read_user(to, size, (u64)from);
}

static inline u32 loop_next(u32 i)
{
	return i + 1;
}

#endif
