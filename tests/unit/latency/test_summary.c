// SPDX-License-Identifier: Apache-2.0
/* gofunclatency --summary: one table of all functions. What the kernel side counted is made up. */
#include "unit.h"

#include <stdlib.h>

#include "bpf-src/shared/histogram_index.h"
#include "latency/latency_internal.h"
#include "latency/latency_show.h"
#include "latency/summary.h"
#include "printed.h"
#include "selection/selection.h"

enum { ROWS = 5, UNIT_MAX = 1000000 };

static struct latency_report reports[ROWS];

/* of latency/latency.c */
void latency_row(const struct latency *lat, size_t row, struct latency_report *out)
{
	(void)lat;
	*out = reports[row];
}

uint64_t latency_row_calls(const struct latency *lat, size_t row)
{
	(void)lat;
	return reports[row].count;
}

uint64_t latency_lost(const struct latency *lat, unsigned loss)
{
	(void)lat;
	(void)loss;
	return 0;
}

uint64_t latency_lost_in_all(const struct latency *lat, unsigned loss)
{
	return latency_lost(lat, loss);
}

static struct selection_row rows[ROWS] = {{.name = "main.none"},
					  {.name = "main.few"},
					  {.name = "main.b"},
					  {.name = "main.a"},
					  {.name = "main.ended\x1b"}};
static const struct selection sel = {.rows = rows, .row_count = ROWS};
static const struct latency_words nsecs = {
	.none = "no call returned", .running = "still running", .unit = "nsecs", .unit_ns = 1};

/* `calls` that took so long each, and one that took ten times as long */
static struct latency_report report_of(uint64_t calls, uint64_t ns, uint64_t unit_ns)
{
	struct latency_report report = {.count = calls + 1, .total_ns = (calls + 10) * ns};

	report.hist.slots[histogram_index(ns / unit_ns)] = calls;
	report.hist.slots[histogram_index(10 * ns / unit_ns)] = 1;
	report.hist.count = calls + 1;
	report.hist.min = ns / unit_ns;
	report.hist.max = 10 * ns / unit_ns;
	return report;
}

static int begin(void **state)
{
	(void)state;
	reports[0] = (struct latency_report){0};
	reports[1] = report_of(4, 16, 1);
	reports[2] = report_of(9, 512, 1);
	reports[3] = report_of(9, 512, 1);
	reports[4] = (struct latency_report){.panicked = 3, .exited = 2, .running = 1};
	return 0;
}

/* Most time first, equal ones by name, and those last that have nothing but calls without an end */
static void test_order(void **state)
{
	static const size_t want[] = {3, 2, 1, 4};
	const struct summary_view view = {.sel = &sel};
	size_t count, *order = summary_order(&view, &count);

	(void)state;
	assert_int_equal(count, 4);
	assert_memory_equal(order, want, sizeof(want));
	free(order);
}

/* of latency/errors.c */
bool errors_counted(const struct errors *errors, size_t row)
{
	(void)errors;
	return row != 2;
}

static void expect_errors(const struct latency_words *words, const struct errors *errors,
			  const char *want)
{
	const struct summary_view view = {.words = words, .sel = &sel, .errors = errors};
	size_t count, *order = summary_order(&view, &count);

	printed_begin();
	summary_print(&view, order, count);
	printed_expect(want);
	free(order);
}

static void expect_table(const struct latency_words *words, const char *want)
{
	expect_errors(words, NULL, want);
}

#define ENDED                                                                                      \
	"not in the table: main.ended\\x1b: 3 ended by a panic, 2 ended by runtime.Goexit, "       \
	"1 still running\n"

static void test_table(void **state)
{
	(void)state;
	expect_table(&nsecs, "   CALLS  TOTAL    AVG    P50    P99    MAX FUNC\n"
			     "      10   9728    972    543   5120   5120 main.a\n"
			     "      10   9728    972    543   5120   5120 main.b\n"
			     "       5    224     44     16    160    160 main.few\n"
			     "times in nsecs\n" ENDED);
}

static void test_errors(void **state)
{
	const struct errors *asked = (const struct errors *)state; /* is only asked whether there */

	reports[3].errors = 7;
	expect_errors(&nsecs, asked,
		      "   CALLS  TOTAL    AVG    P50    P99    MAX  ERRORS FUNC\n"
		      "      10   9728    972    543   5120   5120       7 main.a\n"
		      "      10   9728    972    543   5120   5120       - main.b\n"
		      "       5    224     44     16    160    160       0 main.few\n"
		      "times in nsecs\n" ENDED);
}

/* Two columns more, which are what rows are ordered by; what probes took may be said to be more. */
static void test_net(void **state)
{
	const struct summary_view view = {.words = &nsecs, .sel = &sel, .net = true};
	size_t count, *order;

	(void)state;
	reports[1].probes_ns = 225;
	reports[2].probes_ns = 5000;
	reports[3].probes_ns = 9000;
	order = summary_order(&view, &count);
	printed_begin();
	summary_print(&view, order, count);
	printed_expect("   CALLS  TOTAL    NET    AVG NETAVG    P50    P99    MAX FUNC\n"
		       "      10   9728   4728    972    472    543   5120   5120 main.b\n"
		       "      10   9728    728    972     72    543   5120   5120 main.a\n"
		       "       5    224      0     44      0     16    160    160 main.few\n"
		       "times in nsecs\n"
		       "NET, NETAVG: about what is left of TOTAL and AVG without the work of "
		       "probes\n" ENDED);
	free(order);
}

/* Columns are as wide as their widest number; of averages, decimals are shown. */
static void test_units(void **state)
{
	const struct latency_words usecs = {.none = nsecs.none,
					    .running = nsecs.running,
					    .unit = "usecs",
					    .unit_ns = 1000},
				   msecs = {.none = nsecs.none,
					    .running = nsecs.running,
					    .unit = "msecs",
					    .unit_ns = UNIT_MAX};

	(void)state;
	reports[1] = reports[2] = (struct latency_report){0};
	reports[3] = report_of(1, 16000, 1000);
	reports[3].total_ns += 1999;
	expect_table(&usecs, "   CALLS  TOTAL    AVG    P50    P99    MAX FUNC\n"
			     "       2    177   88.9     16    160    160 main.a\n"
			     "times in usecs\n" ENDED);
	reports[3] = report_of(1, 16000000, UNIT_MAX);
	reports[3].total_ns += 199998;
	reports[2] = report_of(999999, 2000000000, UNIT_MAX);
	expect_table(&msecs, "   CALLS      TOTAL      AVG    P50    P99    MAX FUNC\n"
			     " 1000000 2000018000 2000.018   2047   2047  20000 main.b\n"
			     "       2        176   88.099     16    160    160 main.a\n"
			     "times in msecs\n" ENDED);
}

static void test_none_returned(void **state)
{
	(void)state;
	reports[1] = reports[2] = reports[3] = (struct latency_report){0};
	expect_table(&nsecs, "no call returned\n" ENDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, begin),
		cmocka_unit_test_setup(test_table, begin),
		cmocka_unit_test_setup(test_errors, begin),
		cmocka_unit_test_setup(test_net, begin),
		cmocka_unit_test_setup(test_units, begin),
		cmocka_unit_test_setup(test_none_returned, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
