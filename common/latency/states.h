/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of calls went, by the state that their goroutine was in: what states.bpf.c adds
 * up, beside what latency.h reads. */
#ifndef STATES_H
#define STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/states.h"

struct errmsg;
struct json;
struct latency_words;
struct reading;
struct states;
struct tracer;

struct states_report {
	struct state_sum of[STATES];
	uint64_t total_ns; /* of all of them */
	bool is_whole;     /* that is what the calls took: no part is missing */
};

struct states *states_new(void);
/* Before states_plan(): tells apart whether threads are on a CPU while goroutines run on them. */
void states_watch_threads(struct states *states);
void states_free(struct states *states); /* NULL is all right */

/* For struct tracer_config's `plan`, with the states as its context: has the scheduler's functions
 * traced beside what is selected, by a part of the kernel side of its own. -1 with *err where not
 * all changes of state could be seen and named. */
int states_plan(void *ctx, struct tracer *tracer, struct errmsg *err);
/* The same where waits are not told apart, for who has a plan already: the caller gives what is
 * added to the selection a part of its own, which calls on_state_change(). `asked`: what the user
 * calls it, in messages. */
int states_plan_brief(struct tracer *tracer, const char *asked, struct errmsg *err);
/* When all is attached. -1 with *err: not all is. */
int states_check(const struct tracer *tracer, const char *asked, struct errmsg *err);
int states_begin(struct states *states, const struct tracer *tracer, struct errmsg *err);
void states_stop(struct states *states); /* nothing is counted any more */

/* Reads all sums; the reports are then of the time since the read before. -1 with errno. */
int states_read(struct states *states);
void states_total(const struct states *states, struct states_report *out);
/* only where the kernel side was compiled PER_ROW */
void states_row(const struct states *states, size_t row, struct states_report *out);

/* For metrics, as latency_peek() and latency_add_reading(). *total_ns becomes what the row's states
 * sum up to, unless a part is missing. */
int states_peek(struct states *states, bool final);
void states_add_reading(const struct states *states, size_t row, struct reading *sum,
			uint64_t *total_ns);
const char *states_name(const struct states *states, unsigned state); /* below STATES */

/* A table below the histogram; nothing if there are no calls. */
void states_print(const struct states *states, const struct latency_words *words,
		  const struct states_report *report);
void states_json(const struct states *states, struct json *json,
		 const struct states_report *report); /* a member "states" */
/* What could not be told, on stderr: what the kernel side's `state_losses` has. */
void states_say_cost(const struct states *states, const char *tool); /* beside that of hits */
void states_say_lost(const char *tool, const uint64_t lost[STATE_LOSSES]);
void states_say_losses(const struct states *states, const struct latency_words *words);

#endif
