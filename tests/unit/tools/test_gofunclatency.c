// SPDX-License-Identifier: Apache-2.0
/* gofunclatency from its command line to its output: what its calls took, their states, errors and
 * losses are the test's. */
#include "faketool.h"
#include "printed.h"
#include "timerun.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "latency/latency_internal.h"
#include "metrics/reading.h"

#define main tool_main
#include "tools/gofunclatency.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { ROWS = TIMERUN_ROWS };

static struct selection_row rows[ROWS] = {{.name = "main.slow"},
					  {.name = "main.idle"},
					  {.name = "main.fast\x1b"},
					  {.name = "main.odd"}};
static struct errmsg failure;

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	faketool.selection = (struct selection){.rows = rows, .row_count = ROWS};
	timerun_set(0, 2, 3000000);
	timerun_set(1, 0, 0);
	timerun_set(2, 8, 500);
	timerun_set(3, 0, 0);
	timerun.reports[0].errors = 1;
	timerun.reports[0].switched = 1;
	timerun.reports[3].panicked = 1;
	timerun.reports[3].switched = 2;
	timerun.reports[2].unread = 4;
	faketool.failing = NULL;
	timerun.state_ns = 6000005;
	timerun.part_is_missing = false;
	timerun.price = (struct latency_price){0};
	return 0;
}

static void show_it(struct toolrun *run, bool final, const char *want)
{
	printed_begin();
	assert_int_equal(run->show(run->ctx, final, &failure), 0);
	printed_expect(want);
}

static void begin_it(struct toolrun *run, const char *want)
{
	*faketool.said = '\0';
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_noted(want);
}

static void expect_lost(struct toolrun *run, const char *want)
{
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect(want);
}

#define NO_ROOM(when, n)                                                                           \
	"gofunclatency: " when #n " calls not tracked: the map of goroutines is full (1048576 at " \
	"a time)\n"

#define ROOMS "GOROUTINES=1048576 DEEP_CALLS=1048576"
#define BEHIND "\ngofunclatency: begin show sweep lost stop metrics\n"

static void plain(struct toolrun *run)
{
	faketool_expect_config(run, "gofunclatency.bpf.c cpu -1 returns tails goroutines "
				    "sleepable plan\nUNIT=1 " ROOMS BEHIND);
	assert_null(run->metrics->state);
	assert_int_equal(run->metrics->unit_ns, 1);
	faketool.selection.row_count =
		70000; /* of which the histograms could need more than there is */
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
	assert_string_equal(faketool.defined, "PLACES=4194304 STATE_SUMS=4194304 ");
	faketool.selection.row_count = 4;
	begin_it(run, "latency 4 unit 1\non\n");
	show_it(run, false,
		"\n"
		"     nsecs               : count     distribution\n"
		"   2097152 -> 4194303    : 2        |****************************************|"
		"\n"
		"\n"
		"avg = 3000000 nsecs, total: 6000000 nsecs, count: 2\n"
		"p50 = 3000000, p90 = 3000000, p99 = 3000000, max = 3000000 nsecs\n"
		"not in the histogram: 1 left on a system stack\n");
	timerun.price.ns = 700;
	timerun_set(0, 1, 1);
	show_it(run, true,
		"\n"
		"     nsecs               : count     distribution\n"
		"         0 -> 1          : 1        |****************************************|"
		"\n"
		"\n"
		"avg = 1 nsecs, total: 1 nsecs, count: 1\n"
		"p50 = 1, p90 = 1, p99 = 1, max = 1 nsecs\n"
		"price 700\n"
		"\n");
	faketool_noted("read\nlast read\n");
	run->sweep(run->ctx);
	assert_int_equal(run->stop(run->ctx), 0);
	faketool_noted("sweep\noff\n");
	expect_lost(run,
		    "gofunclatency: 5 calls not tracked: the map of goroutines is full (1048576 at "
		    "a time)\n");
	faketool.failing = "off";
	assert_int_equal(run->stop(run->ctx), -1);
}

static void test_text(void **state)
{
	(void)state;
	assert_int_equal(faketool_main(tool_main, "app:main.*", plain), FAKETOOL_STATUS);
}

static void each_function(struct toolrun *run)
{
	faketool_expect_config(run, "gofunclatency.bpf.c cpu -1 returns tails goroutines "
				    "sleepable plan\nUNIT=1000000 " ROOMS " PER_ROW=1" BEHIND);
	assert_int_equal(run->metrics->unit_ns, 1000000);
	begin_it(run, "latency 4 apart unit 1000000\non\n");
	timerun_set(0, 1, 1);
	timerun.reports[0].total_ns = 1234567;
	timerun_set(2, 0, 0);
	timerun.price = (struct latency_price){10, true};
	faketool_errors_begin();
	show_it(run, true,
		"\n"
		"12:00:00\n"
		"\n"
		"Function = main.slow\n"
		"     msecs               : count     distribution\n"
		"         0 -> 1          : 1        |****************************************|"
		"\n"
		"\n"
		"avg = 1.234 msecs, total: 1 msecs, count: 1\n"
		"p50 = 1, p90 = 1, p99 = 1, max = 1 msecs\n"
		"price 10 stepped\n"
		"\n"
		"Function = main.odd\n"
		"no call returned\n"
		"not in the histogram: 1 ended by a panic, 2 left on a system stack\n"
		"\n");
	faketool_errors_expect(
		"gofunclatency: 1 call not tracked: the map of goroutines is full (1048576 at a"
		" time)\n");
	expect_lost(run,
		    "gofunclatency: in total 5 calls not tracked: the map of goroutines is full (10"
		    "48576 at a time)\n");
}

static void as_json(struct toolrun *run)
{
	assert_int_equal(run->config.defs[0].value, 1);
	begin_it(run, "latency 4 unit 1\non\n");
	timerun.price.ns = 12;
	show_it(run, true,
		"{\"type\":\"latency\",\"func\":null,\"unit\":\"ns\",\"count\":2,\"total\":6000"
		"000,\"min\":3000000,\"max\":3000000,\"p50\":3000000,\"p90\":3000000,\"p99\":30"
		"00000,\"buckets\":[[2883584,3014655,2]],\"panicked\":0,\"exited\":0,\"lost\":0"
		",\"jumped\":0,\"process_ended\":0,\"running\":0,\"probe_ns\":12}\n");
	expect_lost(run,
		    "gofunclatency: 1 calls left on a system stack, not counted\n"
		    "gofunclatency: 5 calls not tracked: the map of goroutines is full (1048576 at "
		    "a time)\n");
}

static void test_each(void **state)
{
	faketool_main(tool_main, "-FmT -i 5 app:main.*", each_function);
	setup(state);
	faketool_main(tool_main, "-ju app:main.*", as_json);
}

/* --- the table --- */

static void expect_failure(int status, const char *text)
{
	assert_int_equal(status, -1);
	assert_string_equal(failure.text, text);
}

static void table(struct toolrun *run)
{
	faketool_expect_config(run, "gofunclatency.bpf.c cpu -1 returns tails goroutines sleepable "
				    "plan\nUNIT=1000 " ROOMS " PER_ROW=1 ERRORS=1" BEHIND);
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
	faketool_noted("plan errors\n");
	assert_string_equal(faketool.defined, "PLACES=3904 STATE_SUMS=256 ");
	begin_it(run, "latency 4 apart unit 1000\nbegin errors\non\n");
	timerun.price.ns = 30;
	show_it(run, false,
		"\n"
		"   CALLS  TOTAL    AVG     P50     P99     MAX  ERRORS FUNC\n"
		"       2   6000 3000.0 3000000 3000000 3000000       1 main.slow\n"
		"       8      4    0.5     500     500     500       - main.fast\\x1b\n"
		"times in usecs\n"
		"not in the table: main.slow: 1 left on a system stack\n"
		"not in the table: main.odd: 1 ended by a panic, 2 left on a system stack\n"
		"price 30\n");
	expect_lost(run,
		    "gofunclatency: 4 calls whose error could not be read, not counted as errors\n"
		    "gofunclatency: 5 calls not tracked: the map of goroutines is full (1048576 at "
		    "a time)\n");
	faketool.failing = "begin errors";
	expect_failure(run->begin(run->ctx, NULL, &failure), "begin errors fails");
	faketool.failing = "plan errors";
	expect_failure(run->config.plan(run->config.plan_ctx, NULL, &failure), "plan errors fails");
	faketool.failing = NULL;
}

static void table_as_json(struct toolrun *run)
{
	begin_it(run, "latency 4 apart unit 1\nbegin errors\non\n");
	timerun.price.ns = 30;
	show_it(run, true,
		"{\"type\":\"latency\",\"time\":\"12:00:00\",\"func\":\"main.slow\",\"unit\":"
		"\"ns\",\"count\":2,\"total\":6000000,\"min\":3000000,\"max\":3000000,\"p50\":3"
		"000000,\"p90\":3000000,\"p99\":3000000,\"buckets\":[[2883584,3014655,2]],\"pan"
		"icked\":0,\"exited\":0,\"lost\":0,\"jumped\":0,\"process_ended\":0,\"running"
		"\":0,\"probe_ns\":30,\"errors\":1}\n"
		"{\"type\":\"latency\",\"time\":\"12:00:00\",\"func\":\"main.fast\\u001b\",\"un"
		"it\":\"ns\",\"count\":8,\"total\":4000,\"min\":500,\"max\":500,\"p50\":500,\"p"
		"90\":500,\"p99\":500,\"buckets\":[[496,511,8]],\"panicked\":0,\"exited\":0,\"l"
		"ost\":0,\"jumped\":0,\"process_ended\":0,\"running\":0,\"probe_ns\":32,\"error"
		"s\":null}\n"
		"{\"type\":\"latency\",\"time\":\"12:00:00\",\"func\":\"main.odd\",\"unit\":\"n"
		"s\",\"count\":0,\"total\":0,\"min\":0,\"max\":0,\"p50\":0,\"p90\":0,\"p99\":0,"
		"\"buckets\":[],\"panicked\":1,\"exited\":0,\"lost\":0,\"jumped\":0,\"process_e"
		"nded\":0,\"running\":0,\"probe_ns\":33,\"errors\":0}\n");
}

/* main.fast has spent more on probes than it took. */
static void table_of_net(struct toolrun *run)
{
	faketool_expect_config(run, "gofunclatency.bpf.c cpu -1 returns tails goroutines sleepable "
				    "plan\nUNIT=1 " ROOMS " PER_ROW=1 NET=1 NESTED=1048576" BEHIND);
	begin_it(run, "latency 4 apart unit 1\nwaits for a CPU of 181\nbegin net\non\n");
	timerun.reports[0].probes_ns = 5000000;
	timerun.reports[2].probes_ns = 4001;
	timerun.reports[2].unpriced = 3;
	show_it(run, false,
		"\n"
		"   CALLS   TOTAL     NET     AVG NETAVG     P50     P99     MAX FUNC\n"
		"       2 6000000 1000000 3000000 500000 3000000 3000000 3000000 main.slow\n"
		"       8    4000       0     500      0     500     500     500 main.fast\\x1b\n"
		"times in nsecs\n"
		"NET, NETAVG: about what is left of TOTAL and AVG without the work of probes\n"
		"not in the table: main.slow: 1 left on a system stack\n"
		"not in the table: main.odd: 1 ended by a panic, 2 left on a system stack\n");
	expect_lost(run,
		    "gofunclatency: 4 calls whose error could not be read, not counted as errors\n"
		    "gofunclatency: 3 calls of which nothing is taken off for probes: there was no "
		    "room\n"
		    "gofunclatency: 5 calls not tracked: the map of goroutines is full (1048576 at "
		    "a time)\n");
	faketool.failing = "begin net";
	expect_failure(run->begin(run->ctx, NULL, &failure), "begin net fails");
	faketool.failing = NULL;
}

static void net_as_json(struct toolrun *run)
{
	begin_it(run, "latency 4 apart unit 1\nwaits for a CPU of 181\nbegin net\non\n");
	timerun_set(2, 0, 0);
	timerun_set(3, 0, 0);
	timerun.reports[0].probes_ns = 5000000;
	show_it(run, true,
		"{\"type\":\"latency\",\"func\":\"main.slow\",\"unit\":\"ns\",\"count\":2,\"to"
		"tal\":6000000,\"min\":3000000,\"max\":3000000,\"p50\":3000000,\"p90\":3000000,"
		"\"p99\":3000000,\"buckets\":[[2883584,3014655,2]],\"panicked\":0,\"exited\":0,"
		"\"lost\":0,\"jumped\":0,\"process_ended\":0,\"running\":0,\"probe_ns\":0,\"net_"
		"total\":1000000,\"probes_total\":5000000}\n");
}

static void test_net(void **state)
{
	faketool_main(tool_main, "--summary --net app:main.*", table_of_net);
	setup(state);
	faketool_main(tool_main, "-j --summary --net app:main.*", net_as_json);
}

static void test_summary(void **state)
{
	faketool_main(tool_main, "-u --summary --errors app:main.*", table);
	setup(state);
	faketool_main(tool_main, "-jT --summary --errors app:main.*", table_as_json);
}

/* --- states --- */

/* What the states sum up to is the calls' time; where parts of them are missing, it is not. */
static void with_states(struct toolrun *run)
{
	faketool_expect_config(run, "gofunclatency.bpf.c cpu -1 returns tails goroutines sleepable "
				    "plan\nUNIT=1 " ROOMS BEHIND);
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
	faketool_noted("plan states\n");
	begin_it(run, "latency 4 unit 1\nbegin states\nwaits for a CPU of 181\non\n");
	show_it(run, false,
		"\n"
		"     nsecs               : count     distribution\n"
		"   2097152 -> 4194303    : 2        |****************************************|"
		"\n"
		"\n"
		"avg = 3000002 nsecs, total: 6000005 nsecs, count: 2\n"
		"p50 = 3000000, p90 = 3000000, p99 = 3000000, max = 3000000 nsecs\n"
		"not in the histogram: 1 left on a system stack\n"
		"states 6000005 ns in nsecs\n");
	faketool_noted("read\n"
		       "read states\n"
		       "gofunclatency says waits for a CPU: \"running\" includes that; --threads "
		       "tells it apart\n");
	expect_lost(run,
		    "gofunclatency: states of a call lost\n"
		    "gofunclatency: states cost\n"
		    "gofunclatency: the calls took 6000000 ns, but their states 6000005 ns: --state"
		    "s is not to be relied on here\n"
		    "gofunclatency: 5 calls not tracked: the map of goroutines is full (1048576 at "
		    "a time)\n");
	timerun.part_is_missing = true;
	show_it(run, true,
		"\n"
		"     nsecs               : count     distribution\n"
		"   2097152 -> 4194303    : 2        |****************************************|"
		"\n"
		"\n"
		"avg = 3000000 nsecs, total: 6000000 nsecs, count: 2\n"
		"p50 = 3000000, p90 = 3000000, p99 = 3000000, max = 3000000 nsecs\n"
		"not in the histogram: 1 left on a system stack\n"
		"states 6000005 ns in nsecs\n"
		"\n");
	*faketool.said = '\0';
	run->stop(run->ctx);
	faketool_noted("off\nstop states\n");
	faketool.failing = "read states";
	expect_failure(run->show(run->ctx, false, &failure),
		       "cannot read the states: Operation not permitted");
	faketool.failing = "plan states";
	expect_failure(run->config.plan(run->config.plan_ctx, NULL, &failure), "plan states fails");
	faketool.failing = "begin states";
	expect_failure(run->begin(run->ctx, NULL, &failure), "begin states fails");
	faketool.failing = NULL;
}

static void of_threads(struct toolrun *run)
{
	faketool_noted("threads\n");
	begin_it(run, "latency 4 apart unit 1\nbegin states\non\n");
	timerun.state_ns = 6000000;
	timerun.reports[2].total_ns = timerun.state_ns + 2;
	timerun.reports[3].total_ns = timerun.state_ns + 3;
	show_it(run, true,
		"{\"type\":\"latency\",\"func\":\"main.slow\",\"unit\":\"ns\",\"count\":2,\"tot"
		"al\":6000000,\"min\":3000000,\"max\":3000000,\"p50\":3000000,\"p90\":3000000,"
		"\"p99\":3000000,\"buckets\":[[2883584,3014655,2]],\"panicked\":0,\"exited\":0,"
		"\"lost\":0,\"jumped\":0,\"process_ended\":0,\"running\":0,\"probe_ns\":0,\"sta"
		"tes\":6000000}\n"
		"{\"type\":\"latency\",\"func\":\"main.fast\\u001b\",\"unit\":\"ns\",\"count\":"
		"8,\"total\":6000002,\"min\":500,\"max\":500,\"p50\":500,\"p90\":500,\"p99\":50"
		"0,\"buckets\":[[496,511,8]],\"panicked\":0,\"exited\":0,\"lost\":0,\"jumped\":"
		"0,\"process_ended\":0,\"running\":0,\"probe_ns\":0,\"states\":6000002}\n"
		"{\"type\":\"latency\",\"func\":\"main.odd\",\"unit\":\"ns\",\"count\":0,\"tota"
		"l\":6000003,\"min\":0,\"max\":0,\"p50\":0,\"p90\":0,\"p99\":0,\"buckets\":[],"
		"\"panicked\":1,\"exited\":0,\"lost\":0,\"jumped\":0,\"process_ended\":0,\"runn"
		"ing\":0,\"probe_ns\":0,\"states\":6000003}\n");
	faketool_noted("last read\nread states\n");
	expect_lost(run,
		    "gofunclatency: states of a call lost\n"
		    "gofunclatency: the calls took 18000005 ns, but their states 24000006 ns: --sta"
		    "tes is not to be relied on here\n"
		    "gofunclatency: 3 calls left on a system stack, not counted\n"
		    "gofunclatency: 5 calls not tracked: the map of goroutines is full (1048576 at "
		    "a time)\n");
}

static void test_states(void **state)
{
	faketool_main(tool_main, "-v --states app:main.*", with_states);
	setup(state);
	faketool_main(tool_main, "-jF --states --threads app:main.*", of_threads);
}

/* --- roots, metrics, failures --- */

static void below(struct toolrun *run)
{
	faketool_noted("below main.handle\nchannels\ncheck\n");
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
	faketool_noted("plan roots\nserve roots\n");
	begin_it(run, "latency 4 unit 1\nbegin roots\non\n");
	timerun.reports[0].switched = 0;
	expect_lost(run, "gofunclatency: roots lost\n" NO_ROOM("", 5));
	faketool.failing = "plan roots";
	expect_failure(run->config.plan(run->config.plan_ctx, NULL, &failure), "plan roots fails");
	faketool.failing = "begin roots";
	expect_failure(run->begin(run->ctx, NULL, &failure), "begin roots fails");
	faketool.failing = "on";
	expect_failure(run->begin(run->ctx, NULL, &failure),
		       "cannot switch the BPF program on: Operation not permitted");
	faketool.failing = "read";
	expect_failure(run->show(run->ctx, false, &failure),
		       "cannot read the histogram: Operation not permitted");
}

static void expect_reading(struct toolrun *run, size_t row, uint64_t total, uint64_t running)
{
	struct reading sum = {.calls = 10, .total_ns = 1000};

	run->metrics->add_row(run->ctx, row, &sum);
	assert_int_equal(sum.calls, 10 + timerun.reports[row].count);
	assert_int_equal(sum.total_ns, 1000 + total);
	assert_int_equal(sum.state_ns[1], running);
}

static void published(struct toolrun *run)
{
	struct reading_loss losses[READING_LOSSES];

	begin_it(run, "latency 4 apart unit 1\nbegin states\nwaits for a CPU of 181\non\n");
	assert_int_equal(run->metrics->read(run->ctx, false, &failure), 0);
	assert_int_equal(run->metrics->read(run->ctx, true, &failure), 0);
	faketool_noted("peek\npeek at states\nlast peek\nlast peek at states\n");
	expect_reading(run, 0, 6000005, 6000005);
	expect_reading(run, 2, 4000, 6000005);
	assert_string_equal(run->metrics->state(run->ctx, 1), "running");
	assert_int_equal(run->metrics->losses(run->ctx, losses), 1);
	assert_int_equal(losses[0].calls, 3);
	faketool.failing = "peek";
	expect_failure(run->metrics->read(run->ctx, false, &failure),
		       "cannot read the histograms: Operation not permitted");
	faketool.failing = "peek at states";
	expect_failure(run->metrics->read(run->ctx, false, &failure),
		       "cannot read the states: Operation not permitted");
}

static void unpublished_states(struct toolrun *run)
{
	begin_it(run, "latency 4 apart unit 1\non\n");
	assert_int_equal(run->metrics->read(run->ctx, false, &failure), 0);
	faketool_noted("peek\n");
	expect_reading(run, 0, 6000000, 0);
}

static void test_others(void **state)
{
	faketool_main(tool_main, "--follow main.handle --follow-channels app:main.*", below);
	setup(state);
	faketool_main(tool_main, "--states --metrics :9436 app:main.*", published);
	setup(state);
	faketool_main(tool_main, "--metrics :9436 app:main.*", unpublished_states);
}

static void expect_refused(const char *words, const char *want)
{
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, words, faketool_never), 2);
	faketool_errors_expect(want);
}

static void test_refused(void **state)
{
	(void)state;
	expect_refused("-u -m f", "gofunclatency: -u and -m exclude each other\nusage: gofuncl...");
	expect_refused("--summary --states f",
		       "gofunclatency: --summary and --states exclude each other: -F --states has "
		       "the states of each function\nusage: gofuncl...");
	expect_refused("--states --summary f",
		       "gofunclatency: --summary and --states exclude each other: -F --states has "
		       "the states of each function\nusage: gofuncl...");
	expect_refused("--threads f",
		       "gofunclatency: --threads is a part of --states: give both\nusage: gof...");
	expect_refused("--errors f",
		       "gofunclatency: --errors is a part of --summary: give both\nusage: gof...");
	expect_refused("--net f",
		       "gofunclatency: --net is a part of --summary: give both\nusage: gofun...");
	expect_refused("-l x f", "gofunclatency: -l: \"x\" is not a number\nusage: gofunclate...");
	faketool.failing = "check";
	expect_refused("--follow-channels f", "gofunclatency: check fails\nusage: gofunclat...");
	faketool.failing = NULL;
	expect_refused("--follow a --follow b f", "gofunclatency: two roots\nusage: gofunclat...");
	assert_int_equal(faketool_main(tool_main, "-l 4294967295 app:main.*", plain),
			 FAKETOOL_STATUS);
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: gofunclatency [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-r] [-v]\n"
		"                     [-j] [-u] [-m] [-F] [--summary] [--errors] [--net]\n"
		"                     [-l LEVEL] [--states] [--follow ROOT] [--follow-channels]\n"
		"                     [--threads] [-n NAME] [--all] [--inlined] [--fips]\n"
		"                     [--force] [--max-cost PERCENT] [--cost] [--no-emulate]\n"
		"                     [--metrics WHERE] [--max-series N] [--version]\n"
		"                     [BINARY:]PATTERN... [-- COMMAND [ARG...]]\n"
		"\n"
		"Time Go functions and print latency as a histogram\n"
		"\n"
		"examples:\n"
		"    gofunclatency hello:fmt.Println        # time fmt.Println, inlined or not\n"
		"    gofunclatency -u etcd:net/http.HandlerFunc.ServeHTTP\n"
		"                                           # in microseconds\n"
		"    gofunclatency -p 181 'main.(*Store).*' # a type's methods, one process\n"
		"    gofunclatency -F 'app:main.*'          # one histogram per function\n"
		"    gofunclatency --summary 'app:main.*'   # one table, most time first\n"
		"\n"
		"all options: gofunclatency --help all\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test_setup(test_text, setup),
		cmocka_unit_test_setup(test_each, setup),
		cmocka_unit_test_setup(test_summary, setup),
		cmocka_unit_test_setup(test_net, setup),
		cmocka_unit_test_setup(test_states, setup),
		cmocka_unit_test_setup(test_others, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
