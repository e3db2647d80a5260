/* SPDX-License-Identifier: Apache-2.0 */
/* In place of bpf-src/parts/assembly.h, for programs that run on this side. */
#ifndef ASSEMBLY_H
#define ASSEMBLY_H

static inline u64 forget_value(u64 value, u64 noise)
{
	(void)noise;
	return value;
}

static inline u32 loop_next(u32 i)
{
	return i + 1;
}

static inline u64 loop_before(u64 i)
{
	return i - 1;
}

static inline void probe_own_stack(void)
{
}

static inline u64 probe_register(struct pt_regs *ctx, const u32 at)
{
	return *(u64 *)((char *)ctx + at);
}

#define KEY(number) ((u32 *)&(number))

#endif
