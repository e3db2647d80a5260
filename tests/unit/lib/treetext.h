/* SPDX-License-Identifier: Apache-2.0 */
/* What gotree's kernel side tells, as text. */
#ifndef TREETEXT_H
#define TREETEXT_H

#include <stdio.h>

#include "treeprogram.h"

enum { TEXT_MAX = 8192 };

static char text[TEXT_MAX];

static inline size_t print_calls(size_t at, const struct tree_call *calls, size_t count)
{
	static const char how[] = "GRPXJUS"; /* goes on, returned, panicked, exited, jumped, ... */

	for (const struct tree_call *c = calls; c < calls + count; c++)
		at += snprintf(text + at, TEXT_MAX - at, " %d@%u^%d%c%llu+%llu", (int)c->row,
			       c->depth, (short)c->parent, how[c->how], c->start_ns, c->latency_ns);
	at += snprintf(text + at, TEXT_MAX - at, "\n");
	assert_true(at < TEXT_MAX);
	return at;
}

static inline void print_events(void)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < fakekernel.event_count; i++) {
		const struct tree_event *e = (void *)fakekernel.events[i].data;
		u32 left = e->head.count - e->first;

		assert_int_equal(fakekernel.events[i].len, sizeof(*e));
		assert_int_equal(e->zero, 0);
		assert_int_equal(e->head.who.process.tgid, FAKEGOROUTINE_PID);
		at += snprintf(text + at, TEXT_MAX - at,
			       "%llu g%llu p%u %s f%llu %u-%u cut %llu:", e->time_ns,
			       e->head.who.id, e->head.pid, e->head.comm,
			       fakekernel.events[i].flags, e->first, e->head.count, e->head.cut);
		at = print_calls(at, e->calls, left < TREE_PIECE ? left : TREE_PIECE);
	}
}

static inline void expect(const char *wanted)
{
	print_events();
	assert_string_equal(text, wanted);
}

#endif
