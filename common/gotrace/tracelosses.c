// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracelosses.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "bpf-src/shared/latency.h"
#include "bpf-src/shared/trace.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/processes.h"
#include "latency/states.h"
#include "selection/selection.h"

struct tracelosses {
	const struct tracelosses_words *words;
	const struct selection *sel;
	int counters, goroutines, deep_calls, untested; /* maps; -1: no returns are traced */
	int clocks, states;                             /* maps; -1: states are not asked for */
	int members;                                    /* map; -1: no --follow */
	void *waiting; /* room for a value of deep_calls: a struct call first. NULL: none */
	struct processes *procs;
	uint64_t process_ended; /* calls */
	uint64_t told[TRACE_COUNTERS];
};

struct tracelosses *tracelosses_new(struct bpfprog *bpf, const struct selection *sel,
				    const struct tracelosses_words *words)
{
	struct tracelosses *losses = mem_zalloc(1, sizeof(*losses));

	losses->sel = sel;
	losses->words = words;
	losses->counters = bpfprog_map(bpf, "counters");
	losses->goroutines = bpfprog_map(bpf, "goroutines");
	losses->deep_calls = bpfprog_map(bpf, "deep_calls");
	losses->untested = bpfprog_map(bpf, "untested");
	losses->clocks = bpfprog_map(bpf, "clocks");
	losses->states = bpfprog_map(bpf, "state_losses");
	losses->members = bpfprog_map(bpf, "root_members");
	size_t key_size, size;

	if (losses->deep_calls >= 0 && !bpfmap_sizes(losses->deep_calls, &key_size, &size) &&
	    key_size == sizeof(struct deep_key) && size >= sizeof(struct call))
		losses->waiting = mem_zalloc(1, size);
	losses->procs = processes_new(bpf);
	return losses;
}

void tracelosses_free(struct tracelosses *losses)
{
	if (!losses)
		return;
	processes_free(losses->procs);
	free(losses->waiting);
	free(losses);
}

/* `when` is "" or words before the number; `thing` is in the singular */
static void say_count(const struct tracelosses *losses, const char *when, uint64_t count,
		      const char *thing, const char *what)
{
	if (count)
		fprintf(stderr, "%s: %s%" PRIu64 " %s%s %s\n", losses->words->tool, when, count,
			thing, count == 1 ? "" : "s", what);
}

/* "3 calls not printed: WHY" */
static void say_undone(const struct tracelosses *losses, const char *when, uint64_t count,
		       const char *why)
{
	char *what = mem_printf("not %s: %s", losses->words->done, why);

	say_count(losses, when, count, "call", what);
	free(what);
}

static void say_counts(const struct tracelosses *losses, const char *when,
		       const uint64_t counts[TRACE_COUNTERS])
{
	static const struct {
		enum trace_counter counter;
		const char *thing, *what;
	} words[] = {
		{TRACE_LOST, "event",
		 "lost: events came faster than they could be printed, and the ring buffer was "
		 "full"},
		{TRACE_UNTRACKED, "call",
		 "not tracked: the map of calls that have not returned is full"},
		{TRACE_NO_MEMORY, "call", "not tracked: the kernel had no memory"},
		{TRACE_UNKNOWN, "call", "not tracked: memory of the goroutine could not be read"},
		{TRACE_NAMELESS, "call",
		 "printed without GOID: memory of the goroutine could not be read"},
	};
	static const struct {
		enum trace_counter counter;
		const char *why;
	} undone[] = {
		{TRACE_UNREADABLE,
		 "the predicate has no value: memory could not be read, or an index or a "
		 "time is out of range"},
		{TRACE_UNREPORTED, "a panic or Goexit ended too many at once"},
		{TRACE_KEYS_FULL, "the map of values is full, these were new ones"},
		{TRACE_KEYS_NO_MEMORY, "the kernel had no memory for another value"},
		{TRACE_ROOMS_FULL, "made by too many threads"},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		say_count(losses, when, counts[words[i].counter], words[i].thing, words[i].what);
	for (size_t i = 0; i < sizeof(undone) / sizeof(undone[0]); i++)
		say_undone(losses, when, counts[undone[i].counter], undone[i].why);
	char *why = mem_printf("did not return, so without %s", losses->words->results);

	say_undone(losses, when, counts[TRACE_UNTESTED], why);
	free(why);
}

static int read_counts(const struct tracelosses *losses, uint64_t counts[TRACE_COUNTERS])
{
	if (!bpfmap_sum_percpu(losses->counters, TRACE_COUNTERS, 1, counts))
		return 0;
	fprintf(stderr, "%s: cannot read what was lost: %s\n", losses->words->tool,
		strerror(errno));
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
	say_counts(losses, "", since);
}

struct waiting { /* calls whose return is waited for */
	const struct tracelosses *losses;
	uint64_t calls;
};

/* false: it cannot be read, or is gone. */
static bool read_call(const struct tracelosses *losses, const struct deep_key *key,
		      struct call *out)
{
	if (!losses->waiting || bpfmap_lookup(losses->deep_calls, key, losses->waiting))
		return false;
	memcpy(out, losses->waiting, sizeof(*out));
	return true;
}

/* Are these, of one goroutine, of one call, which several PROBEs ask for? */
static bool is_same(const struct selection *sel, const struct call *a, const struct call *b)
{
	if (a->depth != b->depth || a->row >= sel->item_count || b->row >= sel->item_count)
		return false;
	const struct selection_item *one = &sel->items[a->row], *other = &sel->items[b->row];

	return one->prog == other->prog && one->func == other->func && !one->is_copy &&
	       !other->is_copy;
}

/* Of a goroutine: outer calls come first. */
static int add_waiting(const void *key, const void *value, void *arg)
{
	struct waiting *waiting = arg;
	struct call call, last;
	bool has_last = false;
	uint64_t calls;

	memcpy(&calls, value, sizeof(calls));
	waiting->calls += calls;
	for (uint64_t i = 0; calls > 1 && i < calls; i++) {
		struct deep_key at = {.index = i};

		memcpy(&at.who, key, sizeof(at.who));
		bool has_call = read_call(waiting->losses, &at, &call);

		waiting->calls -=
			has_call && has_last && is_same(waiting->losses->sel, &call, &last);
		has_last = has_call;
		last = call;
	}
	return 0;
}

static void sweep_map(const struct tracelosses *losses, int map)
{
	if (map >= 0)
		processes_sweep(losses->procs, map, NULL, NULL);
}

static void sweep(struct tracelosses *losses)
{
	if (!processes_look(losses->procs))
		return;
	struct waiting waiting = {.losses = losses};

	if (losses->goroutines >= 0)
		processes_sweep(losses->procs, losses->goroutines, add_waiting, &waiting);
	losses->process_ended += waiting.calls;
	sweep_map(losses, losses->deep_calls);
	sweep_map(losses, losses->clocks);
	sweep_map(losses, losses->members);
	processes_forget(losses->procs);
}

void tracelosses_sweep(struct tracelosses *losses)
{
	if (processes_due(losses->procs))
		sweep(losses);
}

static void say_waiting(const struct tracelosses *losses)
{
	struct waiting waiting = {.losses = losses};

	if (losses->goroutines >= 0 &&
	    !bpfmap_each(losses->goroutines, sizeof(struct goroutine_key), sizeof(waiting.calls),
			 add_waiting, &waiting))
		say_count(losses, "", waiting.calls, "call", "had not returned when tracing ended");
}

static void say_states(const struct tracelosses *losses)
{
	uint64_t lost[STATE_LOSSES];

	if (losses->states >= 0 && !bpfmap_sum_percpu(losses->states, STATE_LOSSES, 1, lost))
		states_say_lost(losses->words->tool, lost);
}

/* --- calls that did not return, by how they ended and by function --- */

enum { NAMED = 3 };

struct untested { /* calls of a row */
	size_t row;
	uint64_t calls;
};

struct untested_calls {
	const struct tracelosses *losses;
	unsigned how; /* enum trace_how */
	struct untested *rows;
	size_t count, cap;
	uint64_t sum;
};

/* A row may have several items: it is in several PROBEs. */
static int add_untested(const void *key, const void *value, void *arg)
{
	struct untested_calls *all = arg;
	uint64_t which, calls;
	size_t i = 0;

	memcpy(&which, key, sizeof(which));
	memcpy(&calls, value, sizeof(calls));
	if ((uint32_t)which != all->how)
		return 0;
	size_t row = all->losses->sel->items[which >> 32].row;

	while (i < all->count && all->rows[i].row != row)
		i++;
	if (i == all->count) {
		all->rows = mem_grow(all->rows, all->count, &all->cap, sizeof(*all->rows));
		all->rows[all->count++] = (struct untested){.row = row};
	}
	all->rows[i].calls += calls;
	all->sum += calls;
	return 0;
}

static int by_calls(const void *a, const void *b)
{
	const struct untested *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* ": 30 of main.f, 10 of main.g, 3 of 2 others" */
static void name_untested(const struct untested_calls *all)
{
	uint64_t left = all->sum;

	for (size_t i = 0; i < all->count && i < NAMED; i++) {
		fprintf(stderr, "%s %" PRIu64 " of ", i ? "," : ":", all->rows[i].calls);
		escape_print(stderr, all->losses->sel->rows[all->rows[i].row].name);
		left -= all->rows[i].calls;
	}
	if (all->count > NAMED)
		fprintf(stderr, ", %" PRIu64 " of %zu other%s", left, all->count - NAMED,
			all->count == NAMED + 1 ? "" : "s");
}

/* How many were named. */
static uint64_t say_untested(const struct tracelosses *losses, const char *when)
{
	static const char *const ends[] = {
		[TRACE_PANICKED] = "ended by a panic",
		[TRACE_EXITED] = "ended by runtime.Goexit",
		[TRACE_LEFT] = "left on a system stack",
		[TRACE_JUMPED] = "left by a jump to another function",
		[TRACE_UNSEEN] = "their end was not seen",
	};
	uint64_t sum = 0;

	for (unsigned how = TRACE_PANICKED; how <= TRACE_UNSEEN; how++) {
		struct untested_calls all = {.losses = losses, .how = how};

		if (losses->untested >= 0)
			bpfmap_each(losses->untested, sizeof(uint64_t), sizeof(uint64_t),
				    add_untested, &all);
		if (all.count) {
			qsort(all.rows, all.count, sizeof(*all.rows), by_calls);
			fprintf(stderr, "%s: %s%" PRIu64 " call%s not %s: %s, so without %s",
				losses->words->tool, when, all.sum, all.sum == 1 ? "" : "s",
				losses->words->done, ends[how], losses->words->results);
			name_untested(&all);
			fputc('\n', stderr);
		}
		sum += all.sum;
		free(all.rows);
	}
	return sum;
}

void tracelosses_say_all(struct tracelosses *losses, const char *when)
{
	uint64_t counts[TRACE_COUNTERS];

	if (read_counts(losses, counts))
		return;
	uint64_t untested = say_untested(losses, when);

	/* what the map of them had no room for */
	counts[TRACE_UNTESTED] -=
		untested < counts[TRACE_UNTESTED] ? untested : counts[TRACE_UNTESTED];
	say_counts(losses, when, counts);
	say_states(losses);
	sweep(losses);
	say_count(losses, "", losses->process_ended, "call",
		  "had not returned when their process ended");
	say_waiting(losses);
}
