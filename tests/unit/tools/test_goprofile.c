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

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: goprofile [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-D] [-j]\n"
		"                 [-F HZ] [-f] [-K] [--off-cpu] [--cgroup PATH] [--labels[=KEY]]\n"
		"                 [-n NAME] [--all] [--pprof FILE] [--version] [BINARY]\n"
		"                 [DURATION]\n"
		"\n"
		"Profile what Go programs spend processor time on, by sampling their stacks\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -p PID, --pid PID     trace this PID only\n"
		"  -i INTERVAL, --interval INTERVAL\n"
		"                        summary interval, in seconds, or as 500ms\n"
		"  -d DURATION, --duration DURATION\n"
		"                        total duration of trace, in seconds, or as 1m30s\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -D, --debug           print the BPF program, and what is left out, with the\n"
		"                        reasons\n"
		"  -j, --json            print JSON, one object a line\n"
		"  -F HZ, --frequency HZ\n"
		"                        samples a second on each processor (default 49)\n"
		"  -f, --folded          output folded format, for flame graphs\n"
		"  -K, --kernel-stack    show the kernel's frames as well\n"
		"  --off-cpu             time that goroutines are blocked or runnable as well\n"
		"  --cgroup PATH         what runs in this cgroup, and in those below it\n"
		"  --labels[=KEY]        tell stacks apart by their goroutines' labels, all or\n"
		"                        that of KEY\n"
		"  -n NAME, --name NAME  trace the Go programs that run and whose name contains\n"
		"                        NAME\n"
		"  --all                 trace all Go programs that run\n"
		"  --pprof FILE          write what is counted to FILE as well, for go tool\n"
		"                        pprof\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    goprofile -p 181                # where does process 181 spend its time?\n"
		"    goprofile -d 10 -p 181          # for ten seconds\n"
		"    goprofile -d 10 /usr/bin/etcd   # in all processes that run etcd\n"
		"    goprofile -d 10 -n etcd         # in those whose name contains etcd\n"
		"    goprofile -d 10                 # in all Go programs of the machine\n"
		"    goprofile -F 999 -d 1 -p 181    # 999 times a second\n"
		"    goprofile --off-cpu -d 10 -p 181\n"
		"                                    # what its goroutines wait for as well\n"
		"    goprofile -K -d 10 -p 181       # with the kernel's frames\n"
		"    goprofile -d 10 --cgroup /sys/fs/cgroup/system.slice/etcd.service\n"
		"                                    # in all Go programs of a service\n"
		"    goprofile --labels=handler -d 10 -p 181\n"
		"                                    # by this label of goroutines\n"
		"    goprofile -f -d 30 -p 181 > out.stacks\n"
		"                                    # for flamegraph.pl\n"
		"    goprofile --pprof cpu.pb.gz -d 30 -p 181\n"
		"                                    # for go tool pprof\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_options, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
