// SPDX-License-Identifier: Apache-2.0
/* Sums of states as they are read from the kernel side's maps, from a run's beginning to its end;
 * and what is said of those that are missing. Maps are the test's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "faketool.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "latency/latency_show.h"
#include "latency/states.h"
#include "latency/states_internal.h"
#include "latency/threadwatch_internal.h"
#include "metrics/reading.h"
#include "steps.h"

enum { ROW = 32, PLACES = 4 };

static struct state_place places[PLACES]; /* in the map, in no order */
static size_t count;
static uint64_t lost[STATE_LOSSES];
static const char *failing;

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_string_equal(faketool_map(fd), "state_sums");
	assert_int_equal(key_size, sizeof(places->key));
	assert_int_equal(value_size, sizeof(places->sum));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(fn(&places[i].key, &places[i].sum, arg), 0);
	return failing && !strcmp(failing, "sums") ? -1 : 0;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_string_equal(faketool_map(fd), "state_losses");
	assert_int_equal(entries * words, STATE_LOSSES);
	memcpy(out, lost, sizeof(lost));
	return failing && !strcmp(failing, "losses") ? -1 : 0;
}

struct threadwatch *threadwatch_begin(struct bpfprog *bpf, struct errmsg *err)
{
	assert_null(bpf);
	return steps_answer(err, "watch") ? NULL : (struct threadwatch *)places;
}

void threadwatch_end(struct threadwatch *watch)
{
	assert_true(!watch || watch == (struct threadwatch *)places);
	steps_are(watch ? "end" : "no end");
}

void threadwatch_say(const struct threadwatch *watch, const char *tool)
{
	assert_ptr_equal(watch, places);
	steps_are("say %s", tool);
}

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	steps = (struct steps){0};
	memset(lost, 0, sizeof(lost));
	failing = NULL;
	count = 0;
	return 0;
}

/* latency/states_plan.c makes them for a tracer. */
static struct states *new_states(void)
{
	return mem_zalloc(1, sizeof(struct states));
}

static void free_states(struct states *states)
{
	free(states->then.items);
	free(states->now.items);
	free(states->live.items);
	free(states);
}

static void put(unsigned row, unsigned of, uint64_t calls, uint64_t ns)
{
	places[count].key = (uint64_t)row << ROW | of;
	places[count++].sum = (struct state_sum){calls, ns};
}

static void say_report(const struct states_report *report)
{
	for (unsigned i = 0; i < STATES; i++)
		if (report->of[i].calls || report->of[i].total_ns)
			steps_are("state %u: %llu calls %llu ns", i, report->of[i].calls,
				  report->of[i].total_ns);
	steps_are("total %d%s", (int)report->total_ns, report->is_whole ? "" : ", not all");
}

static void say_reading(const struct states *states, size_t row)
{
	struct reading sum = {0};
	uint64_t total = 77;

	sum.state_ns[STATE_RUNNING] = 1000;
	states_add_reading(states, row, &sum, &total);
	for (unsigned i = 0; i < STATES; i++)
		if (sum.state_ns[i])
			steps_are("reading %u: %d", i, (int)sum.state_ns[i]);
	steps_are("of %d", (int)total);
}

/* Reports are of the time since the read before, readings of all that was. */
static void test_reads(void **state)
{
	struct states *states = new_states();
	struct states_report report;
	struct errmsg err;

	(void)state;
	assert_int_equal(states_begin(states, NULL, &err), 0);
	put(1, STATE_RUNNABLE, 2, 20);
	put(0, STATE_RUNNING, 1, 10);
	put(1, STATE_RUNNING, 3, 300);
	assert_int_equal(states_read(states), 0);
	states_total(states, &report);
	say_report(&report);
	states_row(states, 1, &report);
	say_report(&report);
	places[0].sum.calls = 5;
	places[0].sum.total_ns = 50;
	put(0, STATE_SYSCALL, 1, 7);
	assert_int_equal(states_peek(states, false), 0); /* beside these reads */
	say_reading(states, 0);
	say_reading(states, 1);
	assert_int_equal(states_peek(states, true), 0); /* what was read last */
	say_reading(states, 1);
	assert_int_equal(states_read(states), 0);
	states_total(states, &report);
	say_report(&report);
	lost[STATE_LOSS_SUMS] = 2;
	assert_int_equal(states_read(states), 0);
	states_total(states, &report);
	say_report(&report);
	say_reading(states, 1);
	free_states(states);
	steps_expect("state 0: 4 calls 310 ns; state 1: 2 calls 20 ns; total 330; state 0: "
		     "3 calls 300 ns; state 1: 2 calls 20 ns; total 320; reading 0: 1010; "
		     "reading 2: 7; of 17; reading 0: 1300; reading 1: 50; of 350; reading "
		     "0: 1300; reading 1: 20; of 320; state 1: 3 calls 30 ns; state 2: 1 "
		     "calls 7 ns; total 37; total 0, not all; reading 0: 1300; reading 1: "
		     "50; of 77; ");
}

static void test_failures(void **state)
{
	struct states *states = new_states();
	struct errmsg err;

	(void)state;
	assert_int_equal(states_begin(states, NULL, &err), 0);
	failing = "sums";
	assert_int_equal(states_read(states), -1);
	assert_int_equal(states_peek(states, false), -1);
	failing = "losses";
	assert_int_equal(states_read(states), -1);
	free_states(states);
}

/* --- threads --- */

static void test_threads(void **state)
{
	struct states *states = new_states();
	struct errmsg err;

	(void)state;
	assert_int_equal(states_begin(states, NULL, &err), 0);
	states_say_cost(states, "tool"); /* nothing is watched */
	states_stop(states);
	states->threads = true;
	steps_expect("no end; ");
	assert_int_equal(states_begin(states, NULL, &err), 0);
	states_say_cost(states, "tool");
	states_stop(states);
	free_states(states);
	steps_expect("watch; say tool; end; ");
	steps.fails = "watch";
	states = new_states();
	states->threads = true;
	assert_int_equal(states_begin(states, NULL, &err), -1);
	assert_string_equal(err.text, "no watch");
	free_states(states);
}

/* --- what is not seen --- */

static void test_skipped(void **state)
{
	static struct selection_row rows[] = {{.name = "main.f"}, {.name = "runtime.casgstatus"}};
	static struct selection_item items[] = {{.row = 0, .skipped = "it is none of these"},
						{.row = 1, .runtime = 3}};
	struct states *states = new_states();
	struct errmsg err;

	(void)state;
	faketool.selection =
		(struct selection){.rows = rows, .row_count = 2, .items = items, .item_count = 2};
	assert_int_equal(states_begin(states, NULL, &err), 0);
	items[1].skipped = "it has no place";
	assert_int_equal(states_begin(states, NULL, &err), -1);
	assert_string_equal(err.text, "--states: changes of state would not all be seen: "
				      "runtime.casgstatus cannot be probed: it has no place");
	assert_int_equal(states_check(NULL, "$blocked", &err), -1);
	assert_string_equal(err.text, "$blocked: changes of state would not all be seen: "
				      "runtime.casgstatus cannot be probed: it has no place");
	free_states(states);
}

static void test_lost(void **state)
{
	const struct latency_words words = {.tool = "tool"};
	struct states states = {0};

	(void)state;
	faketool_errors_begin();
	states_say_losses(&states, &words);
	faketool_errors_expect("");
	for (unsigned i = 0; i < STATE_LOSSES; i++)
		states.lost[i] = i + 1;
	faketool_errors_begin();
	states_say_losses(&states, &words);
	faketool_errors_expect(
		"tool: 1 call whose states are unknown: there was no room for them\n"
		"tool: 2 changes of state not seen: the time before is unknown\n"
		"tool: 3 changes of state lost: memory of the goroutine could not be read\n"
		"tool: 4 parts of calls not added up: there was no room for them\n"
		"tool: 5 times a thread could not be followed, for lack of room: then it runs, "
		"whether on a CPU or not\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_reads, setup),
		cmocka_unit_test_setup(test_failures, setup),
		cmocka_unit_test_setup(test_threads, setup),
		cmocka_unit_test_setup(test_skipped, setup),
		cmocka_unit_test_setup(test_lost, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
