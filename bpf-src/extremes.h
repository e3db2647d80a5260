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
	register u64 *where asm("r8") = slot;
	register u64 with asm("r9") = value;
	u64 was = old, aside;

	/* LLVM's default BPF CPU lacks this instruction: BPF_STX | BPF_ATOMIC | BPF_DW, r8, r9,
	 * BPF_CMPXCHG. The old value goes in and out in r0, which LLVM does not let a variable
	 * name. */
	asm volatile(".ifnc %[was], r0\n"
		     "%[aside] = r0\n"
		     "r0 = %[was]\n"
		     ".endif\n"
		     ".byte 0xdb, 0x98, 0, 0, 0xf1, 0, 0, 0\n"
		     ".ifnc %[was], r0\n"
		     "%[was] = r0\n"
		     "r0 = %[aside]\n"
		     ".endif\n"
		     : [was] "+r"(was), [aside] "=&r"(aside)
		     : "r"(where), "r"(with)
		     : "memory");
	return was;
#else
	*slot = value;
	return old;
#endif
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
