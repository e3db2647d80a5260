// SPDX-License-Identifier: Apache-2.0
/* What gofunclatency says of itself. */
#include "printed.h"
#include "unit.h"

#define main tool_main
#include "tools/gofunclatency.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

static void expect_help(char *word, char *all, const char *want)
{
	char *words[] = {"gofunclatency", word, all, NULL};

	printed_begin();
	assert_int_equal(tool_main(all ? 3 : 2, words), 0);
	printed_expect(want);
}

static const char help_all[] =
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
	"  -v, --verbose         print the BPF program, and what is left out, with the\n"
	"                        reasons\n"
	"  -j, --json            print JSON, one object a line\n"
	"  -u, --microseconds    microsecond histogram\n"
	"  -m, --milliseconds    millisecond histogram\n"
	"  -F, --function        show a separate histogram per function\n"
	"  --summary             one table of all functions, most time first, in place\n"
	"                        of histograms\n"
	"  --errors              with --summary, count the calls that returned an error\n"
	"                        as their last result\n"
	"  --net                 with --summary, estimate what the calls took without\n"
	"                        the work of probes\n"
	"  -l LEVEL, --level LEVEL\n"
	"                        accepted and ignored: every recursive call is timed\n"
	"  --states              show where the calls' time went: running, runnable, or\n"
	"                        what they waited for\n"
	"  --follow ROOT         time only calls below calls of ROOT, also in goroutines\n"
	"                        that these start\n"
	"  --follow-channels     with --follow, also in goroutines that receive what\n"
	"                        these send\n"
	"  --threads             with --states, show for how long running goroutines\n"
	"                        were not on a CPU\n"
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
	"  --no-emulate          have the kernel execute returns, even if BPF could\n"
	"                        carry them out\n"
	"  --metrics WHERE       publish metrics: serve them at ADDR:PORT (PORT alone:\n"
	"                        of 127.0.0.1), or write FILE.prom\n"
	"  --max-series N        functions with metrics of their own (default 1000); the\n"
	"                        others are added up\n"
	"  --version             show the version and exit\n"
	"\n"
	"examples:\n"
	"    gofunclatency hello:fmt.Println        # time fmt.Println, inlined or not\n"
	"    gofunclatency -u etcd:net/http.HandlerFunc.ServeHTTP\n"
	"                                           # in microseconds\n"
	"    gofunclatency -p 181 'main.(*Store).*' # a type's methods, one process\n"
	"    gofunclatency -F 'app:main.*'          # one histogram per function\n"
	"    gofunclatency --summary 'app:main.*'   # one table, most time first\n"
	"    gofunclatency --summary --errors 'app:main.*' # and how many returned an "
	"error\n"
	"    gofunclatency --states app:main.handle # and what they waited for meanwhile\n"
	"    gofunclatency --follow main.handle 'app:main.*' # only what handle calls\n"
	"    gofunclatency -mTi 5 app:main.handle   # every 5 seconds, with timestamps\n"
	"    gofunclatency -j -d 10 app:main.handle # JSON, for 10 seconds\n"
	"    gofunclatency --metrics :9436 'app:main.*' # for Prometheus, until Ctrl-C\n"
	"    gofunclatency 'main.*' -- ./app arg    # run a program from its start\n";

static void test_help_all(void **state)
{
	(void)state;
	expect_help("--help", "all", help_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_help_all)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
