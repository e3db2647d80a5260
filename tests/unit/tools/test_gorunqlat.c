// SPDX-License-Identifier: Apache-2.0
/* gorunqlat from its command line to its output: the histogram is the test's. */
#include "faketool.h"
#include "printed.h"
#include "unit.h"

#include <errno.h>

#define main tool_main
#include "tools/gorunqlat.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { ROWS = 3 };

static char told[512];
static bool fails;
static uint64_t unit_ns;
static struct errmsg err;

static void tell(const char *what)
{
	strcat(strcat(told, what), " ");
}

/* --- in place of latency/ and of slow waits --- */

struct latency *latency_new(struct bpfprog *bpf, size_t rows, bool per_row, uint64_t unit)
{
	assert_null(bpf);
	assert_int_equal(rows, ROWS);
	assert_false(per_row);
	unit_ns = unit;
	return (struct latency *)told;
}

void latency_free(struct latency *lat)
{
	assert_true(!lat || lat == (struct latency *)told);
}

static int result(const struct latency *lat, const char *what)
{
	assert_ptr_equal(lat, told);
	tell(what);
	errno = EPERM;
	return fails ? -1 : 0;
}

int latency_switch(struct latency *lat, bool on)
{
	return result(lat, on ? "on" : "off");
}

int latency_sweep(struct latency *lat)
{
	return result(lat, "sweep");
}

int latency_read(struct latency *lat, bool final)
{
	return result(lat, final ? "read-last" : "read");
}

void latency_total(const struct latency *lat, struct latency_report *out)
{
	assert_ptr_equal(lat, told);
	*out = (struct latency_report){.count = 4, .lost = 5, .process_ended = 6, .running = 7};
}

void latency_print(const struct latency_words *words, const struct latency_report *report)
{
	printf("%d waits of %s, %s, %s, %d %s of %d ns for %s\n", (int)report->count, words->what,
	       words->none, words->running, (int)words->goroutines, words->unit,
	       (int)words->unit_ns, words->tool);
}

void latency_json(struct json *json, const struct latency_report *report)
{
	json_member_u64(json, "count", report->count);
}

void latency_say_losses(const struct latency_words *words, const struct latency *lat)
{
	assert_ptr_equal(lat, told);
	assert_string_equal(words->tool, "gorunqlat");
	tell("losses");
}

void latency_say_all_losses(const struct latency_words *words, const struct latency *lat,
			    const char *when)
{
	assert_ptr_equal(lat, told);
	assert_string_equal(words->tool, "gorunqlat");
	tell(when);
}

int slow_waits_run(const struct options_tool *tool, const struct options *opts, uint64_t min_ns)
{
	assert_string_equal(tool->name, "gorunqlat");
	assert_int_equal(opts->pid, 1);
	assert_int_equal(min_ns, 10000000);
	return 9;
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	faketool.selection.row_count = ROWS;
	*told = '\0';
	fails = false;
	return 0;
}

static void run_through(struct toolrun *run, const char *first, const char *last)
{
	assert_int_equal(run->begin(run->ctx, NULL, &err), 0);
	run->sweep(run->ctx);
	printed_begin();
	assert_int_equal(run->show(run->ctx, false, &err), 0);
	printed_expect(first);
	assert_int_equal(run->stop(run->ctx), 0);
	printed_begin();
	assert_int_equal(run->show(run->ctx, true, &err), 0);
	printed_expect(last);
	run->lost(run->ctx);
}

#define TITLE "Tracing run queue latency of goroutines... Hit Ctrl-C to end.\n"
#define LINE(unit, ns)                                                                             \
	"4 waits of wait, no goroutine waited, still waiting, 1048576 " unit " of " ns             \
	" ns for gorunqlat\n"

static void as_text(struct toolrun *run)
{
	assert_int_equal(run->config.cpu, -1);
	assert_string_equal(run->config.bpf_file, "gorunqlat.bpf.c");
	assert_true(run->config.goroutines && run->config.sleepable);
	assert_int_equal(run->config.runtime_func_count, 1);
	assert_string_equal(run->config.runtime_funcs[0].names[0], "runtime.casgstatus");
	assert_int_equal(run->config.def_count, 2);
	assert_string_equal(run->config.defs[0].name, "UNIT");
	assert_int_equal(run->config.defs[0].value, 1000);
	assert_string_equal(run->config.defs[1].name, "GOROUTINES");
	assert_int_equal(run->config.defs[1].value, 1 << 20);
	printed_begin();
	run->started(run->ctx);
	printed_expect(TITLE);
	run_through(run, "\n" LINE("usecs", "1000"), "\n" LINE("usecs", "1000") "\n");
	assert_int_equal(unit_ns, 1000);
	assert_string_equal(told, "on sweep read off read-last  ");
}

static void in_intervals(struct toolrun *run)
{
	assert_int_equal(run->config.defs[0].value, 1000000);
	run_through(run, "\n12:00:00\n" LINE("msecs", "1000000"),
		    "\n12:00:00\n" LINE("msecs", "1000000") "\n");
	assert_string_equal(told, "on sweep read losses off read-last losses in total  ");
}

static void test_text(void **state)
{
	(void)state;
	assert_int_equal(faketool_main(tool_main, "-p 1", as_text), FAKETOOL_STATUS);
	setup(NULL);
	faketool_main(tool_main, "-m -T -i 1 -p 1", in_intervals);
}

#define OBJECT(time)                                                                               \
	"{\"type\":\"runqlat\"," time "\"count\":4,\"lost\":5,\"process_ended\":6,\"waiting\":7}"  \
	"\n"

static void as_json(struct toolrun *run)
{
	assert_int_equal(run->config.defs[0].value, 1);
	faketool_errors_begin();
	run->started(run->ctx);
	faketool_errors_expect(TITLE);
	run_through(run, OBJECT(""), OBJECT(""));
	assert_int_equal(unit_ns, 1);
}

static void as_json_with_time(struct toolrun *run)
{
	run_through(run, OBJECT("\"time\":\"12:00:00\","), OBJECT("\"time\":\"12:00:00\","));
}

static void test_json(void **state)
{
	(void)state;
	faketool_main(tool_main, "-j -m -p 1", as_json);
	setup(NULL);
	faketool_main(tool_main, "-jT -p 1", as_json_with_time);
}

static void failing(struct toolrun *run)
{
	fails = true;
	assert_int_equal(run->begin(run->ctx, NULL, &err), -1);
	assert_string_equal(err.text, "cannot switch the BPF program on: Operation not permitted");
	assert_int_equal(run->show(run->ctx, true, &err), -1);
	assert_string_equal(err.text, "cannot read the histogram: Operation not permitted");
	assert_int_equal(run->stop(run->ctx), -1);
}

static void expect_refused(const char *words, const char *why)
{
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, words, faketool_never), 2);
	faketool_errors_expect(why);
}

static void test_failures(void **state)
{
	(void)state;
	faketool_main(tool_main, "-p 1", failing);
	expect_refused("-u -m -p 1", "gorunqlat: -u and -m exclude each other\n...");
	expect_refused("--slower x -p 1",
		       "gorunqlat: --slower: \"x\" is not a time, such as 10ms\n...");
	expect_refused("--slower 0 -p 1",
		       "gorunqlat: --slower: \"0\" is not a time, such as 10ms\n...");
	expect_refused("--slower 10ms -i 1 -p 1",
		       "gorunqlat: --slower and -i exclude each other: waits are printed as they "
		       "end\n");
	expect_refused("--slower 10ms -m -p 1",
		       "gorunqlat: --slower and -m exclude each other: its times are in "
		       "microseconds\n");
	assert_int_equal(faketool_main(tool_main, "--slower 10ms -u -p 1", faketool_never), 9);
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: gorunqlat [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-v] [-j] [-u]\n"
		"                 [-m] [--slower DURATION] [-n NAME] [--all] [--force]\n"
		"                 [--max-cost PERCENT] [--version] [BINARY...]\n"
		"                 [-- COMMAND [ARG...]]\n"
		"\n"
		"Time goroutines that wait for a processor and print a histogram\n"
		"\n"
		"examples:\n"
		"    gorunqlat -p 181              # how long do goroutines wait to run?\n"
		"    gorunqlat etcd                # of all processes of this program\n"
		"    gorunqlat -p 181 -i 1 -d 10   # 1 second summaries, for 10 seconds\n"
		"    gorunqlat -mTi 5 ./app        # every 5 seconds, in ms, with the time\n"
		"    gorunqlat --slower 10ms -p 181 # each longer wait, and who ran meanwhile\n"
		"\n"
		"all options: gorunqlat --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: gorunqlat [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-v] [-j] [-u]\n"
		"                 [-m] [--slower DURATION] [-n NAME] [--all] [--force]\n"
		"                 [--max-cost PERCENT] [--version] [BINARY...]\n"
		"                 [-- COMMAND [ARG...]]\n"
		"\n"
		"Time goroutines that wait for a processor and print a histogram\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -p PID, --pid PID     trace this PID only\n"
		"  -i INTERVAL, --interval INTERVAL\n"
		"                        summary interval, in seconds, or as 500ms\n"
		"  -d DURATION, --duration DURATION\n"
		"                        total duration of trace, in seconds, or as 1m30s\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -v, --verbose         print the BPF program, and what is left out, with the\n"
		"                        reasons\n"
		"  -j, --json            print JSON, one object a line\n"
		"  -u, --microseconds    microsecond histogram (the default)\n"
		"  -m, --milliseconds    millisecond histogram\n"
		"  --slower DURATION     a line for each wait that takes longer, with what ran\n"
		"                        on the processor meanwhile, in place of histograms\n"
		"  -n NAME, --name NAME  trace the Go programs that run and whose name contains\n"
		"                        NAME\n"
		"  --all                 trace all Go programs that run\n"
		"  --force               trace even if breakpoints take more memory than the\n"
		"                        process may use\n"
		"  --max-cost PERCENT    end when probes take more than PERCENT of a processor\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gorunqlat -p 181              # how long do goroutines wait to run?\n"
		"    gorunqlat etcd                # of all processes of this program\n"
		"    gorunqlat -p 181 -i 1 -d 10   # 1 second summaries, for 10 seconds\n"
		"    gorunqlat -mTi 5 ./app        # every 5 seconds, in ms, with the time\n"
		"    gorunqlat --slower 10ms -p 181 # each longer wait, and who ran meanwhile\n"
		"    gorunqlat -jp 181             # JSON\n"
		"    gorunqlat -- ./app arg        # run a program from its start\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_text, setup),
		cmocka_unit_test_setup(test_json, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
