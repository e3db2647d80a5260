// SPDX-License-Identifier: Apache-2.0
/* goprofile's command line: what is asked of a run. */
#include "faketool.h"
#include "sampling/sampling.h"

#define main tool_main
#include "tools/goprofile.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include <stdio.h>

#include "unit.h"

int sampling_run(const struct sampling *sampling)
{
	const struct options *opts = sampling->opts;

	assert_string_equal(sampling->tool->name, "goprofile");
	faketool_note("%u Hz%s%s%s%s", sampling->hz, sampling->folded ? " folded" : "",
		      sampling->off_cpu ? " off_cpu" : "", sampling->kernel ? " kernel" : "",
		      sampling->labels ? " labels" : "");
	if (sampling->cgroup)
		faketool_note(" of %s", sampling->cgroup);
	if (sampling->label)
		faketool_note(" by %s", sampling->label);
	faketool_note(" %d s", (int)(opts->duration_ns / 1000000000));
	return FAKETOOL_STATUS;
}

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	return 0;
}

static void expect(const char *words, const char *want)
{
	assert_int_equal(faketool_main(tool_main, words, faketool_never), FAKETOOL_STATUS);
	faketool_noted(want);
}

static void test_options(void **state)
{
	(void)state;
	expect("", "49 Hz 0 s");
	expect("-d 10 app", "49 Hz 10 s");
	expect("-F 1 -p 181 -f", "1 Hz folded 0 s");
	expect("-F 1000000 -K -d 30", "1000000 Hz kernel 30 s");
	expect("--off-cpu --cgroup /a/b", "49 Hz off_cpu of /a/b 0 s");
	expect("--labels", "49 Hz labels 0 s");
	expect("--labels=key", "49 Hz labels by key 0 s");
}

static void test_refused(void **state)
{
	static const char *const words[] = {"-F 0", "-F 1000001", "-F x"};
	static const char *const want[] = {"0", "1000001", "x"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char text[128];

		faketool_errors_begin();
		assert_int_equal(faketool_main(tool_main, words[i], faketool_never), 2);
		snprintf(text, sizeof(text),
			 "goprofile: frequency of \"%s\": not a number from 1 to 1000000\nusage...",
			 want[i]);
		faketool_errors_expect(text);
	}
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: goprofile [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-D] [-j]\n"
		"                 [-F HZ] [-f] [-K] [--off-cpu] [--cgroup PATH] [--labels[=KEY]]\n"
		"                 [-n NAME] [--all] [--pprof FILE] [--version] [BINARY]\n"
		"                 [DURATION]\n"
		"\n"
		"Profile what Go programs spend processor time on, by sampling their stacks\n"
		"\n"
		"examples:\n"
		"    goprofile -p 181                # where does process 181 spend its time?\n"
		"    goprofile -d 10 -p 181          # for ten seconds\n"
		"    goprofile -d 10 /usr/bin/etcd   # in all processes that run etcd\n"
		"    goprofile -d 10 -n etcd         # in those whose name contains etcd\n"
		"    goprofile -d 10                 # in all Go programs of the machine\n"
		"\n"
		"all options: goprofile --help all\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test_setup(test_options, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
