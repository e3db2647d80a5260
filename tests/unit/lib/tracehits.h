/* SPDX-License-Identifier: Apache-2.0 */
/* Hits of gotrace's probes, whose kernel side the test has included, and the events that it sends,
 * as text. */
#ifndef TRACEHITS_H
#define TRACEHITS_H

#include "eventtext.h"
#include "steps.h"
#include "traceplan_own.h"

enum { TRACEHITS_BIAS = 0x700000, TRACEHITS_SITE = 0x1000 };

#ifndef KEYED
/* All events since the last time */
static inline void expect_events(const char *want)
{
	eventtext_all(TRACEHITS_BIAS);
	steps_expect(want);
}
#endif

/* A place of `plan`'s, of which `item` is printed; its row is free for the test to choose. */
static inline struct trace_place *place(u32 row, u32 item, u32 plan)
{
	struct trace_place *at = places.lookup(&row);

	*at = (struct trace_place){.addr = TRACEHITS_SITE * (row + 1),
				   .item = item,
				   .plan = trace_plan(plan, 5),
				   .frame = -1};
	return at;
}

static inline int begin(void **state)
{
	(void)state;
	fakegoroutine_begin(10);
	steps.len = 0;
	return 0;
}

/* AX is `ax`. */
static inline void hit_copy(u32 part, unsigned n, unsigned depth, u32 row, enum cookie_kind kind,
			    u64 ax, u32 copy)
{
	fakegoroutine_runs(n, depth);
	regs.ip = TRACEHITS_BIAS + places.lookup(&row)->addr;
	regs.ax = ax;
	fakekernel.cookie = cookie_make(row, kind, 0, copy);
	assert_int_equal(handle(&regs, part), 0);
}

static inline void hit(unsigned n, unsigned depth, u32 row, enum cookie_kind kind, u64 ax)
{
	hit_copy(0, n, depth, row, kind, ax, 0);
}

static inline void call(unsigned n, unsigned depth, u32 row, u64 ax)
{
	hit(n, depth, row, COOKIE_CALL, ax);
}

static inline void ret(unsigned n, unsigned depth, u32 row, u64 ax)
{
	hit(n, depth, row, COOKIE_RETURN, ax);
}

/* These counters, "NUMBER N" each, and no others */
static inline void expect_counts(const char *want)
{
	for (u32 i = 0; i < TRACE_COUNTERS; i++)
		if (i != TRACE_SENT && *counters.lookup(&i))
			steps_are("%u %llu", i, *counters.lookup(&i));
	steps_expect(want);
}

#endif
