/* SPDX-License-Identifier: Apache-2.0 */
/* Where a walk of the user's stack by frame pointer begins. */
#ifndef FRAME_LINK_H
#define FRAME_LINK_H

#include "parts/probe.h"

struct frames_link { /* what a frame pointer points to */
	u64 caller;  /* frame pointer */
	u64 ret;
};

/* The probed function's return address, and its caller's frame pointer. `entry_sp`: the stack
 * pointer at the first instruction of the function that contains the probe (for an inlined copy: SP
 * here plus functab_sp_delta()); 0: not known; then the function must have a frame of its own. */
static inline bool frames_first(struct pt_regs *ctx, u64 entry_sp, struct frames_link *link)
{
#ifdef __aarch64__
	u64 bp = probe_register(ctx, REGISTER_FP), lr = probe_register(ctx, REGISTER_LR);

	/* before the prologue, in leaves, and at a return */
	if (entry_sp == probe_sp(ctx)) {
		link->caller = bp;
		link->ret = lr;
		return lr;
	}
	/* as below: to Go 1.26 the device has a frame for itself alone */
	if (bp == probe_sp(ctx) - 24 && read_user(&bp, sizeof(bp), bp))
		return false;
#else
	u64 bp = probe_register(ctx, REGISTER_FP);

	/* up to Go 1.25, code that clears or copies stack memory by Duff's device makes a frame for
	 * that alone below the stack pointer, before the call of the device */
	if (bp == probe_sp(ctx) - 16 && read_user(&bp, sizeof(bp), bp))
		return false;
	/* the function has no frame yet, or no longer, or never */
	if (entry_sp && bp != entry_sp - 8) {
		link->caller = bp;
		return !read_user(&link->ret, sizeof(link->ret), entry_sp) && link->ret;
	}
#endif
	return !read_user(link, sizeof(*link), bp) && link->ret;
}

#endif
