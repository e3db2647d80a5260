// SPDX-License-Identifier: Apache-2.0
/* Sums of states: of all rows and of one, since the read before, as a table and as JSON. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "latency/latency_show.h"
#include "latency/states.h"
#include "latency/states_internal.h"
#include "metrics/reading.h"
#include "printed.h"

enum { ROW = 32, SLEEPS = STATE_WAITING + 2, UNNAMED = STATE_WAITING + 3 };

/* Three rows, of which the third has nothing. */
static struct state_place then[] = {
	{STATE_RUNNING, {1, 100}},
	{UINT64_C(1) << ROW | SLEEPS, {1, 50}},
};
static struct state_place now[] = {
	{STATE_RUNNING, {3, 1000}},
	{STATE_RUNNABLE, {2, 30}},
	{UINT64_C(1) << ROW | STATE_RUNNING, {4, 4000}},
	{UINT64_C(1) << ROW | SLEEPS, {2, 2050}},
};
static struct states states;

static int begin(void **state)
{
	(void)state;
	states = (struct states){0};
	states.then = (struct state_sums){.items = then, .count = 2};
	states.now = (struct state_sums){.items = now, .count = 4};
	states.reasons[2] = "sleep";
	return 0;
}

static void expect_sum(const struct states_report *report, unsigned state, uint64_t calls,
		       uint64_t ns)
{
	assert_int_equal(report->of[state].calls, calls);
	assert_int_equal(report->of[state].total_ns, ns);
}

static void test_rows(void **state)
{
	struct states_report report;

	(void)state;
	states_row(&states, 0, &report);
	expect_sum(&report, STATE_RUNNING, 2, 900);
	expect_sum(&report, STATE_RUNNABLE, 2, 30);
	expect_sum(&report, SLEEPS, 0, 0);
	assert_int_equal(report.total_ns, 930);
	states_row(&states, 1, &report);
	expect_sum(&report, STATE_RUNNING, 4, 4000);
	expect_sum(&report, SLEEPS, 1, 2000);
	assert_int_equal(report.total_ns, 6000);
	states_row(&states, 2, &report);
	assert_int_equal(report.total_ns, 0);
	states_total(&states, &report);
	expect_sum(&report, STATE_RUNNING, 6, 4900);
	expect_sum(&report, SLEEPS, 1, 2000);
	assert_int_equal(report.total_ns, 6930);
	assert_true(report.is_whole);
	states.lost[STATE_LOSS_SUMS] = 1;
	states_total(&states, &report);
	assert_false(report.is_whole);
}

/* For metrics: since the beginning; a total only where no part is missing. */
static void test_reading(void **state)
{
	struct reading sum = {0};
	uint64_t total = 7;

	(void)state;
	assert_int_equal(states_peek(&states, true), 0);
	states_add_reading(&states, 1, &sum, &total);
	assert_int_equal(sum.state_ns[STATE_RUNNING], 4000);
	assert_int_equal(sum.state_ns[SLEEPS], 2050);
	assert_int_equal(total, 6050);
	states.lost[STATE_LOSS_SUMS] = 1;
	states_add_reading(&states, 0, &sum, &total);
	assert_int_equal(sum.state_ns[STATE_RUNNING], 5000); /* added */
	assert_int_equal(total, 6050);
}

static void test_names(void **state)
{
	static const struct {
		unsigned of;
		const char *name;
	} names[] = {
		{STATE_RUNNING, "running"},
		{STATE_RUNNABLE, "runnable"},
		{STATE_SYSCALL, "syscall"},
		{STATE_UNKNOWN, "unknown"},
		{SLEEPS, "sleep"},
		{UNNAMED, "waiting"},
		{STATE_STOP_WORLD, "stopping the world"},
		{STATE_MARK_DONE, "GC mark termination"},
		{STATE_DUMP_HEAP, "dumping heap"},
		{STATE_OTHER_WORK, "work of the runtime"},
		{STATE_OFF_CPU, "off-CPU"},
		{STATES - 1, "waiting"},
	};

	(void)state;
	states.reasons[0] = "first";
	states.reasons[STATE_REASONS - 1] = "last";
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_string_equal(states_name(&states, names[i].of), names[i].name);
	assert_string_equal(states_name(&states, STATE_WAITING), "first");
	assert_string_equal(states_name(&states, STATE_STOP_WORLD - 1), "last");
}

static void expect_table(uint64_t unit_ns, const struct states_report *report, const char *want)
{
	const struct latency_words words = {.unit_ns = unit_ns};

	printed_begin();
	states_print(&states, &words, report);
	printed_expect(want);
}

/* Most time first, of equal ones in their order; in the unit that is asked for. */
static void test_table(void **state)
{
	struct states_report report = {.of = {[STATE_RUNNABLE] = {2, 1234567},
					      [STATE_RUNNING] = {1, 1234567},
					      [SLEEPS] = {4, 7530866}},
				       .total_ns = 10000000};

	(void)state;
	expect_table(
		1, &report,
		"     STATE                       CALLS           TOTAL          AVG   SHARE\n"
		"     sleep                           4         7530866      1882716   75.3%\n"
		"     running                         1         1234567      1234567   12.3%\n"
		"     runnable                        2         1234567       617283   12.3%\n");
	expect_table(
		1000, &report,
		"     STATE                       CALLS           TOTAL          AVG   SHARE\n"
		"     sleep                           4            7530       1882.7   75.3%\n"
		"     running                         1            1234       1234.5   12.3%\n"
		"     runnable                        2            1234        617.2   12.3%\n");
	report.of[STATE_RUNNING].calls = report.of[STATE_RUNNABLE].calls = 0;
	states.reasons[2] = "a reason of thirty characters.";
	expect_table(
		1000000, &report,
		"     STATE                             CALLS           TOTAL          AVG   SHARE"
		"\n"
		"     a reason of thirty characters.        4               7            1   75.3%"
		"\n");
	report.of[SLEEPS].calls = 0;
	expect_table(1, &report, "");
}

static void test_json(void **state)
{
	const struct states_report report = {
		.of = {[STATE_RUNNING] = {1, 5}, [STATE_UNKNOWN] = {0, 0}, [SLEEPS] = {4, 70}},
		.total_ns = 75};
	struct json json;

	(void)state;
	printed_begin();
	json_init(&json, stdout);
	json_object(&json);
	states_json(&states, &json, &report);
	json_object_end(&json);
	printed_expect("{\"states\":{\"sleep\":{\"calls\":4,\"total\":70},"
		       "\"running\":{\"calls\":1,\"total\":5}}}\n");
}

static void test_losses(void **state)
{
	static const uint64_t lost[STATE_LOSSES] = {[STATE_LOSS_ROOM] = 1,
						    [STATE_LOSS_UNSEEN] = 2,
						    [STATE_LOSS_UNREADABLE] = 3,
						    [STATE_LOSS_SUMS] = 4,
						    [STATE_LOSS_THREADS] = 5};
	FILE *theirs = stderr;
	char *text;
	size_t len;

	(void)state;
	stderr = open_memstream(&text, &len);
	states_say_lost("tool", lost);
	states_say_losses(&states, &(struct latency_words){.tool = "tool"});
	fclose(stderr);
	stderr = theirs;
	assert_string_equal(
		text,
		"tool: 1 call whose states are unknown: there was no room for them\n"
		"tool: 2 changes of state not seen: the time before is unknown\n"
		"tool: 3 changes of state lost: memory of the goroutine could not be read\n"
		"tool: 4 parts of calls not added up: there was no room for them\n"
		"tool: 5 times a thread could not be followed, for lack of room: then it runs, "
		"whether on a CPU or not\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_rows, begin),
		cmocka_unit_test_setup(test_reading, begin),
		cmocka_unit_test_setup(test_names, begin),
		cmocka_unit_test_setup(test_table, begin),
		cmocka_unit_test_setup(test_json, begin),
		cmocka_unit_test_setup(test_losses, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
