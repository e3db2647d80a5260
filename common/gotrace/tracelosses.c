// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracelosses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpf-src/shared/latency.h"
#include "bpf-src/shared/trace.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/processes.h"
#include "latency/states.h"

struct tracelosses {
	int counters, goroutines, deep_calls; /* maps; -1: no returns are traced */
	int clocks, states;                   /* maps; -1: states are not asked for */
	struct processes *procs;
	uint64_t process_ended; /* calls */
	uint64_t told[TRACE_COUNTERS];
};

struct tracelosses *tracelosses_new(struct bpfprog *bpf)
{
	struct tracelosses *losses = mem_zalloc(1, sizeof(*losses));

	losses->counters = bpfprog_map(bpf, "counters");
	losses->goroutines = bpfprog_map(bpf, "goroutines");
	losses->deep_calls = bpfprog_map(bpf, "deep_calls");
	losses->clocks = bpfprog_map(bpf, "clocks");
	losses->states = bpfprog_map(bpf, "state_losses");
	losses->procs = processes_new(bpf);
	return losses;
}

void tracelosses_free(struct tracelosses *losses)
{
	if (!losses)
		return;
	processes_free(losses->procs);
	free(losses);
}

/* `when` is "" or words before the number; `thing` is in the singular */
static void say_count(const char *when, uint64_t count, const char *thing, const char *what)
{
	if (count)
		fprintf(stderr, "gotrace: %s%" PRIu64 " %s%s %s\n", when, count, thing,
			count == 1 ? "" : "s", what);
}

static void say_counts(const char *when, const uint64_t counts[TRACE_COUNTERS])
{
	static const struct {
		enum trace_counter counter;
		const char *thing, *what;
	} words[] = {
		{TRACE_LOST, "event",
		 "lost: events came faster than they could be printed, and the ring buffer was "
		 "full"},
		{TRACE_UNREADABLE, "call",
		 "not printed: the predicate needs memory that could not be read"},
		{TRACE_UNTRACKED, "call",
		 "not tracked: the map of calls that have not returned is full"},
		{TRACE_NO_MEMORY, "call", "not tracked: the kernel had no memory"},
		{TRACE_UNKNOWN, "call", "not tracked: memory of the goroutine could not be read"},
		{TRACE_NAMELESS, "call",
		 "printed without GOID: memory of the goroutine could not be read"},
		{TRACE_UNTESTED, "call",
		 "not printed: ended by a panic, Goexit, a jump to another function or unseen, so "
		 "without the results that the predicate needs"},
		{TRACE_UNREPORTED, "call", "not printed: a panic or Goexit ended too many at once"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		say_count(when, counts[words[i].counter], words[i].thing, words[i].what);
}

static int read_counts(const struct tracelosses *losses, uint64_t counts[TRACE_COUNTERS])
{
	if (!bpfmap_sum_percpu(losses->counters, TRACE_COUNTERS, 1, counts))
		return 0;
	fprintf(stderr, "gotrace: cannot read what was lost: %s\n", strerror(errno));
	return -1;
}

void tracelosses_say(struct tracelosses *losses)
{
	uint64_t now[TRACE_COUNTERS], since[TRACE_COUNTERS];

	if (read_counts(losses, now))
		return;
	for (size_t i = 0; i < TRACE_COUNTERS; i++)
		since[i] = now[i] - losses->told[i];
	memcpy(losses->told, now, sizeof(now));
	say_counts("", since);
}

static int add_waiting(const void *key, const void *value, void *arg)
{
	uint64_t calls, *sum = arg;

	(void)key;
	memcpy(&calls, value, sizeof(calls));
	*sum += calls;
	return 0;
}

static void sweep(struct tracelosses *losses)
{
	if (!processes_look(losses->procs))
		return;
	processes_sweep(losses->procs, losses->deep_calls, NULL, NULL);
	processes_sweep(losses->procs, losses->goroutines, add_waiting, &losses->process_ended);
	if (losses->clocks >= 0)
		processes_sweep(losses->procs, losses->clocks, NULL, NULL);
	processes_forget(losses->procs);
}

void tracelosses_sweep(struct tracelosses *losses)
{
	if (processes_due(losses->procs))
		sweep(losses);
}

static void say_waiting(const struct tracelosses *losses)
{
	uint64_t sum = 0;

	if (losses->goroutines >= 0 &&
	    !bpfmap_each(losses->goroutines, sizeof(struct goroutine_key), sizeof(sum), add_waiting,
			 &sum))
		say_count("", sum, "call", "had not returned when tracing ended");
}

static void say_states(const struct tracelosses *losses)
{
	uint64_t lost[STATE_LOSSES];

	if (losses->states >= 0 && !bpfmap_sum_percpu(losses->states, STATE_LOSSES, 1, lost))
		states_say_lost("gotrace", lost);
}

void tracelosses_say_all(struct tracelosses *losses, const char *when)
{
	uint64_t counts[TRACE_COUNTERS];

	if (read_counts(losses, counts))
		return;
	say_counts(when, counts);
	say_states(losses);
	sweep(losses);
	say_count("", losses->process_ended, "call", "had not returned when their process ended");
	say_waiting(losses);
}
