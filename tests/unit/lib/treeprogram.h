/* SPDX-License-Identifier: Apache-2.0 */
/* gotree's kernel side, which the test has included, and hits of its probes. */
#ifndef TREEPROGRAM_H
#define TREEPROGRAM_H

#include "fakegoroutine.h"
#include "unit.h"

static inline int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(8);
	*active.lookup(&zero) = 1;
	return 0;
}

static inline void hit_copy(unsigned n, unsigned depth, u32 row, enum cookie_kind kind, u32 copy)
{
	fakegoroutine_runs(n, depth);
	fakekernel.cookie = cookie_make(row, kind, 0, copy);
	assert_int_equal(on_probe(&regs), 0);
}

static inline void hit(unsigned n, unsigned depth, u32 row, enum cookie_kind kind)
{
	hit_copy(n, depth, row, kind, 0);
}

static inline void call(unsigned n, unsigned depth, u32 row)
{
	hit(n, depth, row, COOKIE_CALL);
}

static inline void ret(unsigned n, unsigned depth, u32 row)
{
	hit(n, depth, row, COOKIE_RETURN);
}

/* Another row's return, at a depth where nothing is: only to look. */
static inline void look(unsigned n, unsigned depth)
{
	hit(n, depth, 99, COOKIE_RETURN);
}

static inline u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

static inline void expect_losses(u64 faster, u64 room, u64 memory, u64 system, u64 unreadable,
				 u64 events)
{
	const u64 wanted[TREE_COUNTERS] = {faster, room, memory, system, unreadable, events};

	for (u32 i = 0; i < TREE_COUNTERS; i++)
		assert_int_equal(loss(i), wanted[i]);
}

#endif
