// SPDX-License-Identifier: Apache-2.0
#include "latency/states.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/column.h"
#include "base/errmsg.h"
#include "base/json.h"
#include "base/mem.h"
#include "bpf-src/shared/latency.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "latency/latency_show.h"
#include "latency/states_internal.h"
#include "latency/threadwatch_internal.h"
#include "metrics/reading.h"
#include "tracing/tracer.h"

enum { NAME_WIDTH = 24, NAME_MAX = 40, MUCH = 10 /* a part of so many */ };

int states_check(const struct tracer *tracer, const char *asked, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tracer);

	for (size_t i = 0; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (item->runtime && item->skipped)
			return errmsg_set(err,
					  "%s: changes of state would not all be seen: %s cannot "
					  "be probed: %s",
					  asked, sel->rows[item->row].name, item->skipped);
	}
	return 0;
}

int states_begin(struct states *states, const struct tracer *tracer, struct errmsg *err)
{
	if (states_check(tracer, states_option, err))
		return -1;
	states->sums = tracer_map(tracer, "state_sums");
	states->losses = tracer_map(tracer, "state_losses");
	if (!states->threads)
		return 0;
	states->watch = threadwatch_begin(tracer_bpf(tracer), err);
	return states->watch ? 0 : -1;
}

/* --- reading --- */

static int add_place(const void *key, const void *value, void *ctx)
{
	struct state_sums *sums = ctx;

	sums->items = mem_grow(sums->items, sums->count, &sums->cap, sizeof(*sums->items));
	struct state_place *place = &sums->items[sums->count++];

	memcpy(&place->key, key, sizeof(place->key));
	memcpy(&place->sum, value, sizeof(place->sum));
	return 0;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct state_place *)a)->key;
	uint64_t y = ((const struct state_place *)b)->key;

	return x < y ? -1 : x > y;
}

static int read_sums(struct states *states, struct state_sums *out)
{
	out->count = 0;
	if (bpfmap_each(states->sums, sizeof(uint64_t), sizeof(struct state_sum), add_place, out))
		return -1;
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), by_key);
	return bpfmap_sum_percpu(states->losses, STATE_LOSSES, 1, states->lost);
}

int states_read(struct states *states)
{
	struct state_sums old = states->then;

	states->then = states->now;
	states->now = old;
	return read_sums(states, &states->now);
}

/* The first place with this key or a greater one. */
static size_t find_place(const struct state_sums *sums, uint64_t key)
{
	size_t low = 0, high = sums->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sums->items[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Adds `sign` times what stands at rows [from, to). */
static void add_rows(const struct state_sums *sums, uint64_t from, uint64_t to, uint64_t sign,
		     struct states_report *out)
{
	for (size_t i = find_place(sums, from << 32);
	     i < sums->count && sums->items[i].key < to << 32; i++) {
		const struct state_sum *sum = &sums->items[i].sum;
		struct state_sum *state = &out->of[(uint32_t)sums->items[i].key % STATES];

		state->calls += sign * sum->calls;
		state->total_ns += sign * sum->total_ns;
		out->total_ns += sign * sum->total_ns;
	}
}

static void report_rows(const struct states *states, uint64_t from, uint64_t to,
			struct states_report *out)
{
	memset(out, 0, sizeof(*out));
	out->is_whole = !states->lost[STATE_LOSS_SUMS];
	add_rows(&states->now, from, to, 1, out);
	add_rows(&states->then, from, to, -1ull, out);
}

void states_total(const struct states *states, struct states_report *out)
{
	report_rows(states, 0, UINT32_MAX, out);
}

void states_row(const struct states *states, size_t row, struct states_report *out)
{
	report_rows(states, row, row + 1, out);
}

int states_peek(struct states *states, bool final)
{
	states->peeked = final ? &states->now : &states->live;
	return final ? 0 : read_sums(states, &states->live);
}

void states_add_reading(const struct states *states, size_t row, struct reading *sum,
			uint64_t *total_ns)
{
	struct states_report report = {0};

	add_rows(states->peeked, row, row + 1, 1, &report);
	for (unsigned i = 0; i < STATES; i++)
		sum->state_ns[i] += report.of[i].total_ns;
	if (!states->lost[STATE_LOSS_SUMS])
		*total_ns = report.total_ns;
}

/* --- showing --- */

const char *states_name(const struct states *states, unsigned state)
{
	static const char *const names[] = {
		[STATE_RUNNING] = "running",
		[STATE_RUNNABLE] = "runnable",
		[STATE_SYSCALL] = "syscall",
		[STATE_UNKNOWN] = "unknown",
		/* as from Go 1.20 on */
		[STATE_STOP_WORLD] = "stopping the world",
		[STATE_MARK_DONE] = "GC mark termination",
		[STATE_DUMP_HEAP] = "dumping heap",
		[STATE_OTHER_WORK] = "work of the runtime",
		[STATE_OFF_CPU] = "off-CPU", /* "preempted" is a wait of Go's */
		[STATES - 1] = NULL,
	};
	const char *reason = NULL;

	if (names[state])
		return names[state];
	if (state >= STATE_WAITING && state < STATE_WAITING + STATE_REASONS)
		reason = states->reasons[state - STATE_WAITING];
	return reason ? reason : "waiting";
}

static int by_total(const void *a, const void *b, void *ctx)
{
	const struct states_report *report = ctx;
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	if (report->of[x].total_ns != report->of[y].total_ns)
		return report->of[x].total_ns < report->of[y].total_ns ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* The states that took time, the one that took most first. */
static size_t sort_states(const struct states_report *report, unsigned out[STATES])
{
	size_t count = 0;

	for (unsigned state = 0; state < STATES; state++)
		if (report->of[state].calls)
			out[count++] = state;
	qsort_r(out, count, sizeof(*out), by_total, (void *)report);
	return count;
}

static void print_state(const struct latency_words *words, const struct states_report *report,
			unsigned state)
{
	const struct state_sum *sum = &report->of[state];
	uint64_t avg_ns = sum->total_ns / sum->calls;
	char avg[32];

	snprintf(avg, sizeof(avg), "%" PRIu64, avg_ns / words->unit_ns);
	if (words->unit_ns == 1000)
		snprintf(avg + strlen(avg), sizeof(avg) - strlen(avg), ".%" PRIu64,
			 avg_ns % 1000 / 100);
	printf(" %8llu %15llu %12s %6.1f%%\n", sum->calls, sum->total_ns / words->unit_ns, avg,
	       100 * (double)sum->total_ns / (double)report->total_ns);
}

/* Go's scheduler looks for data when it has nothing to run, or about every 10 ms if it always has:
 * until then the goroutine counts as waiting, and after that as runnable. */
static void print_late(const struct states *states, const struct states_report *report)
{
	uint64_t io_ns = 0, runnable_ns = report->of[STATE_RUNNABLE].total_ns;

	for (unsigned state = 0; state < STATES; state++)
		if (!strcmp(states_name(states, state), "IO wait"))
			io_ns += report->of[state].total_ns;
	if (io_ns >= report->total_ns / MUCH && runnable_ns >= io_ns / MUCH)
		puts("     IO wait: what they waited for may have come earlier, as the scheduler "
		     "looks\n     for it late when goroutines wait for a processor: gorunqlat "
		     "shows that");
}

void states_print(const struct states *states, const struct latency_words *words,
		  const struct states_report *report)
{
	unsigned order[STATES], width = NAME_WIDTH;
	size_t count = sort_states(report, order);

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		width = column_fit(width, NAME_MAX, states_name(states, order[i]));
	fputs("     ", stdout);
	column_print(stdout, "STATE", width);
	printf(" %8s %15s %12s %7s\n", "CALLS", "TOTAL", "AVG", "SHARE");
	for (size_t i = 0; i < count; i++) {
		fputs("     ", stdout);
		column_print(stdout, states_name(states, order[i]), width);
		print_state(words, report, order[i]);
	}
	print_late(states, report);
}

void states_json(const struct states *states, struct json *json, const struct states_report *report)
{
	unsigned order[STATES];
	size_t count = sort_states(report, order);

	json_key(json, "states");
	json_object(json);
	for (size_t i = 0; i < count; i++) {
		const struct state_sum *sum = &report->of[order[i]];

		json_key(json, states_name(states, order[i]));
		json_object(json);
		json_member_u64(json, "calls", sum->calls);
		json_member_u64(json, "total", sum->total_ns);
		json_object_end(json);
	}
	json_object_end(json);
}

void states_say_lost(const char *tool, const uint64_t lost[STATE_LOSSES])
{
	static const char *const what[STATE_LOSSES][2] = {
		[STATE_LOSS_ROOM] = {"call",
				     "whose states are unknown: there was no room for them"},
		[STATE_LOSS_UNSEEN] = {"change", "of state not seen: the time before is unknown"},
		[STATE_LOSS_UNREADABLE] = {"change",
					   "of state lost: memory of the goroutine could not be "
					   "read"},
		[STATE_LOSS_THREADS] = {"time",
					"a thread could not be followed, for lack of room: then it "
					"runs, whether on a CPU or not"},
		[STATE_LOSS_SUMS] = {"part", "of calls not added up: there was no room for them"},
	};

	for (unsigned i = 0; i < STATE_LOSSES; i++)
		if (lost[i])
			fprintf(stderr, "%s: %" PRIu64 " %s%s %s\n", tool, lost[i], what[i][0],
				lost[i] == 1 ? "" : "s", what[i][1]);
}

void states_stop(struct states *states)
{
	threadwatch_end(states->watch);
}

void states_say_cost(const struct states *states, const char *tool)
{
	if (states->watch)
		threadwatch_say(states->watch, tool);
}

void states_say_losses(const struct states *states, const struct latency_words *words)
{
	states_say_lost(words->tool, states->lost);
}
