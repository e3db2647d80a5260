/* SPDX-License-Identifier: Apache-2.0 */
/* Largest values, kept exactly though programs on one CPU may interrupt each other.
 *
 *   -DCMPXCHG   the kernel has atomic compare-and-exchange (5.12); without it a larger value may,
 *               very rarely, be overwritten by a smaller one
 */
#ifndef EXTREMES_H
#define EXTREMES_H

#include <linux/types.h>

/* Stores `value` if *slot still is `old`; returns what it was. */
static inline u64 extremes_exchange(u64 *slot, u64 old, u64 value)
{
#ifdef CMPXCHG
	u64 was = old, aside;

	/* LLVM's default BPF CPU lacks this instruction: BPF_STX | BPF_ATOMIC | BPF_DW,
	 * BPF_CMPXCHG, with the registers' numbers in its second byte. The old value goes in and
	 * out in r0; what may be there is in `aside` meanwhile. No variable is given a register by
	 * name: clang takes it for one of the machine that it runs on. */
	asm volatile(".irp reg,0,1,2,3,4,5,6,7,8,9\n"
		     ".ifc %[where], r\\reg\n"
		     ".set extremes_where, \\reg\n"
		     ".endif\n"
		     ".ifc %[with], r\\reg\n"
		     ".set extremes_with, \\reg\n"
		     ".endif\n"
		     ".endr\n"
		     ".irp reg,1,2,3,4,5,6,7,8,9\n"
		     ".ifc %[aside], r\\reg\n"
		     ".ifc %[where], r0\n"
		     ".set extremes_where, \\reg\n"
		     ".endif\n"
		     ".ifc %[with], r0\n"
		     ".set extremes_with, \\reg\n"
		     ".endif\n"
		     ".endif\n"
		     ".endr\n"
		     ".ifnc %[was], r0\n"
		     "%[aside] = r0\n"
		     "r0 = %[was]\n"
		     ".endif\n"
		     ".byte 0xdb, extremes_with << 4 | extremes_where, 0, 0, 0xf1, 0, 0, 0\n"
		     ".ifnc %[was], r0\n"
		     "%[was] = r0\n"
		     "r0 = %[aside]\n"
		     ".endif\n"
		     : [was] "+&r"(was), [aside] "=&r"(aside)
		     : [where] "r"(slot), [with] "r"(value)
		     : "memory");
	return was;
#else
	*slot = value;
	return old;
#endif
}

/* The next number, from 1 on; 0: other programs were faster eight times in a row. Without CMPXCHG
 * two may get the same one. */
static inline u64 extremes_next(u64 *slot)
{
	u64 now = *(volatile u64 *)slot, was;
	int i;

#pragma unroll
	for (i = 0; i < 8; i++) {
		was = extremes_exchange(slot, now, now + 1);
		if (was == now)
			return now + 1;
		now = was;
	}
	return 0;
}

static inline void extremes_raise(u64 *slot, u64 value)
{
	u64 now = *(volatile u64 *)slot, was;
	int i;

	/* an exchange fails only if another program has raised the value meanwhile: that does not
	 * happen eight times in a row */
#pragma unroll
	for (i = 0; i < 8; i++) {
		if (value <= now)
			return;
		was = extremes_exchange(slot, now, value);
		if (was == now)
			return;
		now = was;
	}
}

#endif
