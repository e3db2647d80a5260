/* SPDX-License-Identifier: Apache-2.0 */
/* In place of bpf-src/parts/hit.h, for parts that compile for this side: what bpf-src/parts/fetch.h
 * takes from it. Registers are those that the test sets. */
#ifndef HIT_H
#define HIT_H

#include "kernelside.h"

enum { REGISTER_BX = 40 };

struct pt_regs {
	u64 ip, bx;
};

struct hit {
	u64 sp, depth, bias, restart;
};

static inline u64 probe_register(struct pt_regs *ctx, unsigned off)
{
	return off == REGISTER_BX ? ctx->bx : 0;
}

static inline u64 probe_address(struct pt_regs *ctx)
{
	return ctx->ip;
}

#endif
