/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run of an inlined copy, whose code lies scattered in a function, begins and ends. The
 * compiler moves instructions: those with the callee's source position are neither in one piece nor
 * all executed in each run. */
#ifndef BODY_INTERNAL_H
#define BODY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "machine/graph.h"

struct body {
	const struct graph *graph;
	const bool *inside;    /* of each instruction: has it the callee's source position? */
	const uint32_t *insns; /* the `count` instructions that have, in any order */
	size_t count;
	long mark; /* the nop that the compiler left where the run begins, or FLOW_NONE */
	/* Is block b where the source has the call? Called if no instruction shows that. */
	bool (*agrees)(const void *ctx, uint32_t b);
	const void *ctx;
};

/* The instruction with which each run begins and that it executes once: the mark, or the body's
 * first instruction where that cannot have been moved. FLOW_NONE and *reason: there is none. */
long body_start(const struct body *body, const char **reason);

/* The cheapest instruction to probe that is executed exactly as often as `start`. FLOW_NONE: no
 * probe may stand on any. */
long body_cheapest(const struct body *body, long start);

/* `at`, or if nops that no probe may stand on begin there, the instruction after them: it is
 * reached only through them. */
long body_past_nops(const struct body *body, long at);

/* The last of the instructions from `start` on that are executed exactly as often. */
long body_last(const struct body *body, long start);

/* The one call of a body that only prepares and makes this call. FLOW_NONE: the body does more. */
long body_only_call(const struct body *body, long start);

struct body_exits {
	long *items; /* instructions; caller frees */
	size_t count, cap;
};

/* The instructions that come next when a run that began with `start` has ended, past nops as by
 * body_past_nops(). 0, or -1 with *reason, such as work of the caller's amid the run. */
int body_exits(const struct body *body, long start, struct body_exits *out, const char **reason);

#endif
