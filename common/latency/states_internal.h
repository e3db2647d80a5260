/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATES_INTERNAL_H
#define STATES_INTERNAL_H

#include "goroutines/runtime_vars.h"
#include "latency/states.h"

struct threadwatch;
struct tracer_plan;

static const char states_option[] = "--states";

struct state_place {  /* of one state and row */
	uint64_t key; /* latency_place() */
	struct state_sum sum;
};

struct state_sums {
	struct state_place *items; /* by key */
	size_t count, cap;
};

struct states {
	bool threads;                /* --threads */
	struct threadwatch *watch;   /* of it; NULL: not yet */
	char *reasons[WAIT_REASONS]; /* what goroutines wait for, by Go's numbers; NULL: no such */
	struct tracer_plan *plans;   /* of the selection's items */
	int sums, losses;            /* maps */
	struct state_sums then, now, live;
	const struct state_sums *peeked; /* either of the last two; NULL: none yet */
	uint64_t lost[STATE_LOSSES];
};

#endif
