/* SPDX-License-Identifier: Apache-2.0 */
/* The user's stack, by frame pointer, which all Go code keeps on amd64 (from 1.7) and arm64 (from
 * 1.12): the frame pointer points to {caller's frame pointer, return address}.
 *
 *   -DG_GOPC=n -DG_PARENT_GOID=n    byte offsets in Go's struct g; 0: not known
 */
#ifndef FRAMES_H
#define FRAMES_H

#include "parts/frame_link.h"
#include "shared/trace.h"

/* Stacks grow down, so callers' frames are at higher addresses, except where the runtime switches
 * from a goroutine's stack to a system stack or a signal stack: at most so many times. */
#define FRAMES_SWITCHES 2

/* Fills `to` with the probe's address, then return addresses, innermost first. Returns how many; if
 * TRACE_FRAMES, there may be more. */
static inline u32 frames_user(struct pt_regs *ctx, u64 entry_sp, u64 *to)
{
	struct frames_link link = {};
	u64 bp, noise, switches = 0;
	u32 n;

	to[0] = probe_register(ctx, REGISTER_PC);
	if (!frames_first(ctx, entry_sp, &link))
		return 1;
	to[1] = link.ret;
	noise = link.ret;
	for (n = 2; n < TRACE_FRAMES; n++) {
		bp = link.caller;
		if (!bp || bp & 7 || read_user(&link, sizeof(link), bp) || !link.ret)
			break;
		to[n] = link.ret;
		/* without a branch, which the verifier would follow both ways */
		switches += (link.caller - bp - 1) >> 63;
		if (switches > FRAMES_SWITCHES) {
			n++;
			break;
		}
	}
	return forget_value(n, noise);
}

/* Which go statement created a goroutine, and the goroutine that ran it; `g` is its struct g. */
static inline void frames_creator(u64 g, u64 *created_by, u64 *parent_goid)
{
	*created_by = 0;
	*parent_goid = 0;
	if (G_GOPC)
		read_user(created_by, sizeof(*created_by), g + G_GOPC);
	if (G_PARENT_GOID)
		read_user(parent_goid, sizeof(*parent_goid), g + G_PARENT_GOID);
}

#endif
