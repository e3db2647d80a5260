/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a Go function, at a probe at its entry (struct tracer_config's runtime_funcs).
 * Before Go 1.17, on arm64 1.18, they are on the stack, since then in ABIInternal's registers (Go's
 * src/cmd/compile/abi-internal.md): one register each if all are integers or pointers.
 *
 *   -DARGS_IN_REGISTERS
 */
#ifndef GOARG_H
#define GOARG_H

#include "parts/probe.h"

enum { /* places of the first arguments, receivers included */
#ifdef __aarch64__
       GOARG_CALLED = 8, /* of what is passed on the stack, from the caller's stack pointer on */
       GOARG_1 = 0,
       GOARG_2 = 8,
       GOARG_3 = 16,
       GOARG_4 = 24,
       GOARG_5 = 32,
#else
       GOARG_CALLED = 0,
       GOARG_1 = REGISTER_AX,
       GOARG_2 = REGISTER_BX,
       GOARG_3 = REGISTER_CX,
       GOARG_4 = REGISTER_DI,
       GOARG_5 = REGISTER_SI,
#endif
};

/* The argument of `size` bytes, 4 or 8: in register `place`, or on the stack `at` bytes after the
 * first one. 0, or an error, and *value is 0. */
static inline long goarg(struct pt_regs *ctx, u64 cookie, const u32 place, u32 at, u32 size,
			 u64 *value)
{
	*value = 0;
#ifdef ARGS_IN_REGISTERS
	*value = probe_register(ctx, place);
	/* the upper half of the register is undefined */
	if (size == 4)
		*value = (u32)*value;
	return 0;
#else
	/* above the return address */
	return read_user(value, size, probe_sp(ctx) + cookie_adjust(cookie) + 8 + at);
#endif
}

/* What a call has left as its one result of 8 bytes, at a probe right behind it. */
static inline u64 goarg_result(struct pt_regs *ctx)
{
#ifdef ARGS_IN_REGISTERS
	return probe_register(ctx, GOARG_1);
#else
	u64 value;

	read_user(&value, sizeof(value), probe_sp(ctx) + GOARG_CALLED);
	return value;
#endif
}

#endif
