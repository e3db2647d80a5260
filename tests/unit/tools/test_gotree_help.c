// SPDX-License-Identifier: Apache-2.0
/* What gotree says of itself. */
#include "printed.h"
#include "unit.h"

#define main tool_main
#include "tools/gotree.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

static void expect_help(char *word, char *all, const char *want)
{
	char *words[] = {"gotree", word, all, NULL};

	printed_begin();
	assert_int_equal(tool_main(all ? 3 : 2, words), 0);
	printed_expect(want);
}

static void test_help(void **state)
{
	(void)state;
	expect_help(
		"-h", NULL,
		"usage: gotree [-h] [-p PID] [-d DURATION] [-T] [-r] [-v] [-j]\n"
		"              [--slower DURATION] [-M N] [--follow] [--follow-channels]\n"
		"              [--perfetto FILE] [-n NAME] [--all] [--inlined] [--fips]\n"
		"              [--force] [--max-cost PERCENT] [--no-emulate] [--version]\n"
		"              [BINARY:]ROOT [PATTERN...] [-- COMMAND [ARG...]]\n"
		"\n"
		"Print what slow calls of a Go function have called, as trees\n"
		"\n"
		"examples:\n"
		"    gotree app:main.handle                # each call, and what it called\n"
		"    gotree --slower 100ms -p 181 main.handle\n"
		"                                          # calls that took longer\n"
		"    gotree app:main.handle 'main.*' 'database/sql.(*DB).*'\n"
		"                                          # these functions below it\n"
		"    gotree --follow app:main.handle       # and the goroutines that it starts\n"
		"    gotree -M 1 --perfetto one.json app:main.handle\n"
		"                                          # one call, for ui.perfetto.dev\n"
		"\n"
		"all options: gotree --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	expect_help(
		"--help", "all",
		"usage: gotree [-h] [-p PID] [-d DURATION] [-T] [-r] [-v] [-j]\n"
		"              [--slower DURATION] [-M N] [--follow] [--follow-channels]\n"
		"              [--perfetto FILE] [-n NAME] [--all] [--inlined] [--fips]\n"
		"              [--force] [--max-cost PERCENT] [--no-emulate] [--version]\n"
		"              [BINARY:]ROOT [PATTERN...] [-- COMMAND [ARG...]]\n"
		"\n"
		"Print what slow calls of a Go function have called, as trees\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -p PID, --pid PID     trace this PID only\n"
		"  -d DURATION, --duration DURATION\n"
		"                        total duration of trace, in seconds, or as 1m30s\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -r, --regexp          use regular expressions. Default is \"*\" wildcards "
		"only.\n"
		"  -v, --verbose         print the BPF program, and what is left out, with the\n"
		"                        reasons\n"
		"  -j, --json            print JSON, one object a line\n"
		"  --slower DURATION     show only calls of ROOT that take longer\n"
		"  -M N, --max-trees N   end after N trees\n"
		"  --follow              show goroutines that are started below ROOT, too\n"
		"  --follow-channels     and those that receive values which these send:\n"
		"                        --follow, with channels\n"
		"  --perfetto FILE       write the trees to FILE, too, as Chrome's trace events,\n"
		"                        for ui.perfetto.dev\n"
		"  -n NAME, --name NAME  trace the Go programs that run and whose name contains\n"
		"                        NAME\n"
		"  --all                 trace all Go programs that run\n"
		"  --inlined             include inlined copies of the functions\n"
		"  --fips                include functions that FIPS mode checks, for processes\n"
		"                        that already run\n"
		"  --force               trace even if breakpoints take more memory than the\n"
		"                        process may use\n"
		"  --max-cost PERCENT    end when probes take more than PERCENT of a processor\n"
		"  --no-emulate          have the kernel execute returns, even if BPF could\n"
		"                        carry them out\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gotree app:main.handle                # each call, and what it called\n"
		"    gotree --slower 100ms -p 181 main.handle\n"
		"                                          # calls that took longer\n"
		"    gotree app:main.handle 'main.*' 'database/sql.(*DB).*'\n"
		"                                          # these functions below it\n"
		"    gotree --follow app:main.handle       # and the goroutines that it starts\n"
		"    gotree -M 1 --perfetto one.json app:main.handle\n"
		"                                          # one call, for ui.perfetto.dev\n"
		"    gotree -j -d 10 app:main.handle       # JSON, for 10 seconds\n"
		"    gotree main.main -- ./app arg         # run a program, from its first "
		"instruction\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
