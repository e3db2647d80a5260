// SPDX-License-Identifier: Apache-2.0
/* Reports of calls as text and as JSON, and what was lost. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "bpf-src/shared/latency.h"
#include "latency/latency_internal.h"
#include "latency/latency_show_internal.h"
#include "printed.h"

static uint64_t lost[LOSSES];

/* of latency/latency.c */
uint64_t latency_lost(const struct latency *lat, unsigned loss)
{
	(void)lat;
	return lost[loss];
}

uint64_t latency_lost_in_all(const struct latency *lat, unsigned loss)
{
	(void)lat;
	return lost[loss] ? lost[loss] + 100 : 0;
}

static struct latency_words words = {.tool = "tool",
				     .what = "call",
				     .none = "no call returned",
				     .running = "still running",
				     .unit = "nsecs",
				     .unit_ns = 1,
				     .goroutines = 10,
				     .deep_calls = 20,
				     .places = 30};

/* Calls of 16 to 19 units, and one of 300 */
static struct latency_report report_of(uint64_t unit_ns)
{
	struct latency_report report = {
		.count = 5, .total_ns = 370 * unit_ns + unit_ns / 2, .min_ns = 16, .max_ns = 300};

	for (uint64_t n = 16; n < 20; n++)
		report.hist.slots[histogram_index(n)] = 1;
	report.hist.slots[histogram_index(300)] = 1;
	report.hist.count = 5;
	report.hist.total = 370;
	report.hist.min = 16;
	report.hist.max = 300;
	return report;
}

#define ROWS                                                                                       \
	"               : count     distribution\n"                                                \
	"        16 -> 31         : 4        |****************************************|\n"         \
	"        32 -> 63         : 0        |                                        |\n"         \
	"        64 -> 127        : 0        |                                        |\n"         \
	"       128 -> 255        : 0        |                                        |\n"         \
	"       256 -> 511        : 1        |**********                              |\n"

static void expect(const struct latency_report *report, const char *want)
{
	printed_begin();
	latency_print(&words, report);
	printed_expect(want);
}

static void test_units(void **state)
{
	struct latency_report report = report_of(1);

	(void)state;
	expect(&report, "     nsecs" ROWS "\navg = 74 nsecs, total: 370 nsecs, count: 5\n"
			"p50 = 18, p90 = 300, p99 = 300, max = 300 nsecs\n");
	words.unit = "usecs";
	words.unit_ns = 1000;
	report = report_of(1000);
	expect(&report, "     usecs" ROWS "\navg = 74.1 usecs, total: 370 usecs, count: 5\n"
			"p50 = 18, p90 = 300, p99 = 300, max = 300 usecs\n");
	words.unit = "msecs";
	words.unit_ns = 1000000;
	report = report_of(1000000);
	expect(&report, "     msecs" ROWS "\navg = 74.100 msecs, total: 370 msecs, count: 5\n"
			"p50 = 18, p90 = 300, p99 = 300, max = 300 msecs\n");
	words.unit = "nsecs";
	words.unit_ns = 1;
}

/* Each reason, and each alone is something to report. */
static void test_unreturned(void **state)
{
	struct latency_report report = {.panicked = 1,
					.exited = 2,
					.switched = 3,
					.jumped = 4,
					.lost = 5,
					.process_ended = 6,
					.running = 7};
	const size_t fields[] = {offsetof(struct latency_report, count),
				 offsetof(struct latency_report, panicked),
				 offsetof(struct latency_report, exited),
				 offsetof(struct latency_report, switched),
				 offsetof(struct latency_report, jumped),
				 offsetof(struct latency_report, lost),
				 offsetof(struct latency_report, process_ended),
				 offsetof(struct latency_report, running)};
	const uint64_t one = 1;

	(void)state;
	expect(&report, "no call returned\n"
			"not in the histogram: 1 ended by a panic, 2 ended by runtime.Goexit, "
			"3 left on a system stack, 4 left by a jump, 5 whose end was not seen, "
			"6 in processes that ended, 7 still running\n");
	report = (struct latency_report){.running = 1};
	printed_begin();
	latency_print_unreturned(&words, &report, "main.f\x1b");
	printed_expect("not in the table: main.f\\x1b: 1 still running\n");
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		report = (struct latency_report){0};
		assert_true(latency_report_is_empty(&report));
		memcpy((char *)&report + fields[i], &one, sizeof(one));
		assert_false(latency_report_is_empty(&report));
	}
}

static void test_json(void **state)
{
	const struct latency_report report = report_of(1);
	struct json json;

	(void)state;
	printed_begin();
	json_init(&json, stdout);
	json_object(&json);
	latency_json(&json, &report);
	json_object_end(&json);
	printed_expect("{\"unit\":\"ns\",\"count\":5,\"total\":370,\"min\":16,\"max\":300,"
		       "\"p50\":18,\"p90\":300,\"p99\":300,\"buckets\":[[16,16,1],[17,17,1],"
		       "[18,18,1],[19,19,1],[288,303,1]]}\n");
}

static void expect_said(void (*say)(void), const char *want)
{
	FILE *theirs = stderr;
	char *text;
	size_t len;

	stderr = open_memstream(&text, &len);
	say();
	fclose(stderr);
	stderr = theirs;
	assert_string_equal(text, want);
	free(text);
}

static void say(void)
{
	latency_say_losses(&words, NULL);
}

static void say_all(void)
{
	latency_say_all_losses(&words, NULL, "in total ");
}

static void test_losses(void **state)
{
	(void)state;
	expect_said(say, "");
	lost[LOSS_GOROUTINES] = 1;
	lost[LOSS_PROCESSES] = 2;
	lost[LOSS_DEEP] = 3;
	lost[LOSS_MEMORY] = 4;
	lost[LOSS_UNREADABLE] = 5;
	lost[LOSS_PLACES] = 6;
	expect_said(say, "tool: 1 call not tracked: the map of goroutines is full (10 at a time)\n"
			 "tool: 2 calls not tracked: the map of processes is full\n"
			 "tool: 3 calls not tracked: the map of deep calls is full (20 at a time)\n"
			 "tool: 4 calls not tracked: the kernel had no memory\n"
			 "tool: 5 calls not tracked: memory of the goroutine could not be read\n"
			 "tool: 6 calls not in a histogram: the map of histograms is full "
			 "(30 at a time)\n");
	memset(lost, 0, sizeof(lost));
	lost[LOSS_MEMORY] = 1;
	expect_said(say_all, "tool: in total 101 calls not tracked: the kernel had no memory\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_unreturned),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
