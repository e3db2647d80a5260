// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "runq/slow_wait_internal.h"

static int most_first(const void *a, const void *b)
{
	const struct slow_ran *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->goid < y->goid ? -1 : x->goid > y->goid;
}

static void add(struct slow_wait *wait, const struct runq_turn *turn, uint64_t ns)
{
	for (size_t i = 0; i < wait->count; i++) {
		struct slow_ran *ran = &wait->ran[i];

		if (ran->goid == turn->goid && ran->start == turn->start) {
			ran->ns += ns;
			return;
		}
	}
	wait->ran[wait->count++] =
		(struct slow_ran){.goid = turn->goid, .start = turn->start, .ns = ns};
}

void slow_wait_read(const struct runq_slow *event, struct slow_wait *out)
{
	uint64_t end = event->time_ns, begin = end - event->wait_ns, oldest = UINT64_MAX;
	size_t count = event->count < RUNQ_TURNS ? event->count : RUNQ_TURNS;

	*out = (struct slow_wait){0};
	for (size_t i = 0; i < count; i++) {
		const struct runq_turn *turn = &event->turns[i];
		uint64_t from = turn->from_ns, to = turn->to_ns ? turn->to_ns : end;

		if (from < oldest)
			oldest = from;
		from = from < begin ? begin : from;
		to = to > end ? end : to;
		if (from < to)
			add(out, turn, to - from);
	}
	/* where turns were overwritten; where none was yet, nothing is known of before, either */
	if (count && oldest > begin)
		out->cut_ns = (oldest < end ? oldest : end) - begin;
	else if (!count)
		out->cut_ns = event->wait_ns;
	qsort(out->ran, out->count, sizeof(*out->ran), most_first);
}
