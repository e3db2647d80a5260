/* SPDX-License-Identifier: Apache-2.0 */
/* What has to be said to the verifier in its own instructions. */
#ifndef ASSEMBLY_H
#define ASSEMBLY_H

/* The value, made unknown to the verifier, which would walk the code once for each value that it
 * can tell apart. `noise`: any value that the verifier does not know. */
static inline u64 forget_value(u64 value, u64 noise)
{
	asm volatile("%0 ^= %1\n\t%0 ^= %1" : "+&r"(value) : "r"(noise));
	return value;
}

/* The next value of a loop's counter. Kernels before 6.2 or so insist that a loop's end leads to
 * its beginning by a jump, which the compiler omits where it places the end right before the
 * beginning. */
static inline u32 loop_next(u32 i)
{
	i++;
	asm volatile("goto +0" : "+r"(i));
	return i;
}

/* The same for a counter that goes down. In assembly, as the compiler would also compare what it
 * has before or after the step, and the verifier sees the bounds of one of them alone. */
static inline u64 loop_before(u64 i)
{
	asm volatile("%0 += -1\n\tgoto +0" : "+r"(i));
	return i;
}

/* A key of four bytes that a program with loops looks up is a u64 on its stack, of which the kernel
 * reads the first four, on machines whose lowest byte comes first, as ours do. The compiler gives
 * keys of several sizes one place on the stack in turn; of a place of eight bytes that is written
 * by half the verifier keeps the other half, and walks all that follows once for each value that
 * was there before: gotrace's programs for returns had three times the walk. */
#define KEY(number) ((u32 *)&(number))

/* Since Linux 6.13 a BPF program has its stack in memory of the CPU, shared by all runs of the
 * program there, unless it makes tail calls. The kernel relies on a program not being run on a CPU
 * while it already runs there; nothing sees to that for uprobes. A handler that waits for a page,
 * or that another thread preempts, would find its variables overwritten by the next one. So each
 * program has a tail call, which is never reached; the verifier knows that, and removes it. */
static inline void probe_own_stack(void)
{
	u64 zero;

	/* 12: BPF_FUNC_tail_call */
	asm volatile("%0 = 0\n\tif %0 == 0 goto +1\n\tcall 12" : "=r"(zero));
}

/* The register at byte offset `at` of struct pt_regs. The verifier insists on a read by the
 * context's own pointer with a constant offset; the compiler might merge equal reads in several
 * places, or different ones in branches, into one by a computed pointer: assembly prevents that. */
static inline u64 probe_register(struct pt_regs *ctx, const u32 at)
{
	u64 value;

	asm volatile("%0 = *(u64 *)(%1 + %2)" : "=r"(value) : "r"(ctx), "i"(at));
	return value;
}

/* A number that is put in when the program is loaded, as it is of one start of the tool, or one
 * release of Go: the compiled program is kept for the others. The compiler is not to know anything
 * of it, nor to keep it in a place of the stack, which is small: volatile, it is loaded anew. */
#define LATE(mark)                                                                                 \
	({                                                                                         \
		u64 number;                                                                        \
		asm volatile("%0 = " #mark " ll" : "=r"(number));                                  \
		number;                                                                            \
	})

#endif
