// SPDX-License-Identifier: Apache-2.0
/* gofunccount from its command line to its output: counts are the test's. */
#include "faketool.h"
#include "printed.h"
#include "unit.h"

#include <errno.h>

#include "metrics/reading.h"

#define main tool_main
#include "tools/gofunccount.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { ROWS = 5, CPUS = 4 };

static struct selection_row rows[ROWS] = {
	{.name = "main.b"},
	{.name = "main.a\x1b"},
	{.name = "main.c"},
	{.name = "main.none_of_which_is_called_at_all_here"}, /* no column is made for it */
	{.name = "main.d"},
};
static uint64_t counts[ROWS];
static bool fails;

unsigned bpfmap_cpus(void)
{
	return CPUS;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_string_equal(faketool_map(fd), "counts");
	assert_int_equal(entries, ROWS);
	assert_int_equal(words, 1);
	memcpy(out, counts, sizeof(counts));
	errno = EPERM;
	return fails ? -1 : 0;
}

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	faketool.selection = (struct selection){.rows = rows, .row_count = ROWS};
	faketool.at_once = true;
	memset(counts, 0, sizeof(counts));
	fails = false;
	return 0;
}

static struct errmsg err;

static void show_it(struct toolrun *run, bool final, const char *want)
{
	printed_begin();
	assert_int_equal(run->show(run->ctx, final, &err), 0);
	printed_expect(want);
}

static void set(uint64_t b, uint64_t a, uint64_t c, uint64_t d)
{
	const uint64_t all[] = {b, a, c, 0, d};

	memcpy(counts, all, sizeof(all));
}

/* By count, then by name; what was counted at the last time is not counted again. */
static void intervals(struct toolrun *run)
{
	assert_string_equal(run->config.bpf_file, "gofunccount.bpf.c");
	assert_int_equal(run->config.cpu, -1);
	assert_int_equal(run->begin(run->ctx, NULL, &err), 0);
	set(7, 7, 100, 3);
	show_it(run, false,
		"\nFUNC                                    COUNT\n"
		"main.d                                      3\n"
		"main.a\\x1b                                  7\n"
		"main.b                                      7\n"
		"main.c                                    100\n");
	show_it(run, false, "\nFUNC                                    COUNT\n");
	set(7, 8, 105, 3);
	rows[1].name = "main.a_name_that_is_longer_than_the_column";
	show_it(run, true,
		"\nFUNC                                          COUNT\n"
		"main.a_name_that_is_longer_than_the_column        1\n"
		"main.c                                            5\n");
	rows[1].name = "main.a\x1b";
	fails = true;
	assert_int_equal(run->show(run->ctx, true, &err), -1);
	assert_string_equal(err.text, "cannot read the counts: Operation not permitted");
}

static void test_text(void **state)
{
	(void)state;
	assert_int_equal(faketool_main(tool_main, "main.*", intervals), FAKETOOL_STATUS);
}

static void as_json(struct toolrun *run)
{
	assert_int_equal(run->config.cpu, 3);
	assert_int_equal(run->begin(run->ctx, NULL, &err), 0);
	set(0, 9, 0, 3);
	show_it(run, true,
		"{\"type\":\"count\",\"time\":\"12:00:00\",\"func\":\"main.d\",\"count\":3}\n"
		"{\"type\":\"count\",\"time\":\"12:00:00\",\"func\":\"main.a\\u001b\",\"count\":9}"
		"\n");
	((struct options *)run->opts)->timestamp = false;
	set(1, 9, 0, 3);
	show_it(run, true, "{\"type\":\"count\",\"func\":\"main.b\",\"count\":1}\n");
}

static void test_json(void **state)
{
	(void)state;
	assert_int_equal(faketool_main(tool_main, "-j -T -c 3 main.*", as_json), FAKETOOL_STATUS);
}

static void timed(struct toolrun *run)
{
	assert_int_equal(run->begin(run->ctx, NULL, &err), 0);
	show_it(run, true, "\n12:00:00\nFUNC                                    COUNT\n");
}

/* Where probes begin one after the other, what the first ones have counted is none of it. */
static void one_by_one(struct toolrun *run)
{
	set(10, 20, 30, 40);
	assert_int_equal(run->begin(run->ctx, NULL, &err), 0);
	set(10, 21, 30, 40);
	show_it(run, true,
		"\nFUNC                                    COUNT\n"
		"main.a\\x1b                                  1\n");
}

static void unreadable(struct toolrun *run)
{
	fails = true;
	assert_int_equal(run->begin(run->ctx, NULL, &err), -1);
	assert_string_equal(err.text, "cannot read the counts: Operation not permitted");
}

static void test_begin(void **state)
{
	(void)state;
	faketool_main(tool_main, "-T main.*", timed);
	faketool.at_once = false;
	faketool_main(tool_main, "main.*", one_by_one);
	faketool_main(tool_main, "main.*", unreadable);
}

static void expect_calls(struct toolrun *run, size_t row, uint64_t calls)
{
	struct reading sum = {.calls = 1000};

	run->metrics->add_row(run->ctx, row, &sum);
	assert_int_equal(sum.calls, 1000 + calls);
}

/* From the beginning on, whatever is printed meanwhile; at the end, what is printed */
static void with_metrics(struct toolrun *run)
{
	set(10, 20, 30, 40);
	assert_int_equal(run->begin(run->ctx, NULL, &err), 0);
	set(15, 20, 37, 40);
	show_it(run, false,
		"\nFUNC                                    COUNT\n"
		"main.b                                      5\n"
		"main.c                                      7\n");
	set(16, 20, 37, 40);
	expect_calls(run, 0, (uint64_t)-10);
	assert_int_equal(run->metrics->read(run->ctx, false, &err), 0);
	expect_calls(run, 0, 6);
	expect_calls(run, 1, 0);
	expect_calls(run, 2, 7);
	set(99, 99, 99, 99);
	assert_int_equal(run->metrics->read(run->ctx, true, &err), 0);
	expect_calls(run, 0, 5);
	expect_calls(run, 2, 7);
	fails = true;
	assert_int_equal(run->metrics->read(run->ctx, false, &err), -1);
}

static void test_metrics(void **state)
{
	(void)state;
	faketool.at_once = false;
	faketool_main(tool_main, "main.*", with_metrics);
}

static void test_refused(void **state)
{
	(void)state;
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, "-c x main.*", faketool_never), 2);
	faketool_errors_expect("gofunccount: -c: \"x\" is not a CPU's number\n...");
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, "-c 4 main.*", faketool_never), 2);
	faketool_errors_expect("gofunccount: -c: no CPU 4: the last one is 3\n...");
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: gofunccount [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-r] [-D]\n"
		"                   [-j] [-c CPU] [-n NAME] [--all] [--inlined] [--fips]\n"
		"                   [--force] [--max-cost PERCENT] [--cost] [--metrics WHERE]\n"
		"                   [--max-series N] [--version] [BINARY:]PATTERN...\n"
		"                   [-- COMMAND [ARG...]]\n"
		"\n"
		"Count calls of Go functions, exactly\n"
		"\n"
		"examples:\n"
		"    gofunccount 'etcd:*/etcdserver.*'  # the functions of a package\n"
		"    gofunccount /usr/bin/etcd:net/http.HandlerFunc.ServeHTTP\n"
		"                                       # one function\n"
		"    gofunccount -p 181 'main.(*T).*'   # a type's methods, one process\n"
		"    gofunccount -i 1 -T -p 181 ':*'    # every function, each second\n"
		"    gofunccount -r 'app:main\\.(Get|Put)$'\n"
		"                                       # a regular expression\n"
		"\n"
		"all options: gofunccount --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: gofunccount [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-r] [-D]\n"
		"                   [-j] [-c CPU] [-n NAME] [--all] [--inlined] [--fips]\n"
		"                   [--force] [--max-cost PERCENT] [--cost] [--metrics WHERE]\n"
		"                   [--max-series N] [--version] [BINARY:]PATTERN...\n"
		"                   [-- COMMAND [ARG...]]\n"
		"\n"
		"Count calls of Go functions, exactly\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -p PID, --pid PID     trace this PID only\n"
		"  -i INTERVAL, --interval INTERVAL\n"
		"                        summary interval, in seconds, or as 500ms\n"
		"  -d DURATION, --duration DURATION\n"
		"                        total duration of trace, in seconds, or as 1m30s\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -r, --regexp          use regular expressions. Default is \"*\" wildcards "
		"only.\n"
		"  -D, --debug           print the BPF program, and what is left out, with the\n"
		"                        reasons\n"
		"  -j, --json            print JSON, one object a line\n"
		"  -c CPU, --cpu CPU     count on this CPU only\n"
		"  -n NAME, --name NAME  trace the Go programs that run and whose name contains\n"
		"                        NAME\n"
		"  --all                 trace all Go programs that run\n"
		"  --inlined             include inlined copies of the functions\n"
		"  --fips                include functions that FIPS mode checks, for processes\n"
		"                        that already run\n"
		"  --force               trace even if breakpoints take more memory than the\n"
		"                        process may use\n"
		"  --max-cost PERCENT    end when probes take more than PERCENT of a processor\n"
		"  --cost                say what a hit of a probe costs here, and at the end\n"
		"                        what all did\n"
		"  --metrics WHERE       publish metrics: serve them at ADDR:PORT (PORT alone:\n"
		"                        of 127.0.0.1), or write FILE.prom\n"
		"  --max-series N        functions with metrics of their own (default 1000); the\n"
		"                        others are added up\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gofunccount 'etcd:*/etcdserver.*'  # the functions of a package\n"
		"    gofunccount /usr/bin/etcd:net/http.HandlerFunc.ServeHTTP\n"
		"                                       # one function\n"
		"    gofunccount -p 181 'main.(*T).*'   # a type's methods, one process\n"
		"    gofunccount -i 1 -T -p 181 ':*'    # every function, each second\n"
		"    gofunccount -r 'app:main\\.(Get|Put)$'\n"
		"                                       # a regular expression\n"
		"    gofunccount hello:fmt.Println      # inlined everywhere: counted in its "
		"copies\n"
		"    gofunccount --metrics :9435 'etcd:*/etcdserver.*'\n"
		"                                       # for Prometheus, until Ctrl-C\n"
		"    gofunccount 'main.*' -- ./app arg  # run a program from its start\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_text, setup),
		cmocka_unit_test_setup(test_json, setup),
		cmocka_unit_test_setup(test_begin, setup),
		cmocka_unit_test_setup(test_metrics, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
