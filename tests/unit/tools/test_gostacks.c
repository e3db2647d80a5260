// SPDX-License-Identifier: Apache-2.0
/* gostacks from its command line to what it asks of a look. */
#include "faketool.h"
#include "readerrun.h"

#define main tool_main
#include "tools/gostacks.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include <stdio.h>

#include "profile/profile.h"
#include "unit.h"

static struct errmsg failure;

/* --- in place of a look --- */

const struct profile_spec goroutines_profile_spec = {.tool = "gostacks"};

static void note_flag(bool is, const char *name)
{
	faketool_note("%s", is ? name : "");
}

int goroutines_look(struct goroutines_look *look, const struct goprocesses_one *one,
		    uint64_t *count, struct errmsg *err)
{
	const struct goroutines_pick *pick = &look->pick;

	assert_ptr_equal(one, &readerrun.one);
	assert_ptr_equal(pick->patterns, readerrun.rt->patterns);
	faketool_note("look of %zu patterns", pick->pattern_count);
	note_flag(look->each, " each");
	note_flag(look->full, " full");
	note_flag(look->folded, " folded");
	note_flag(look->json, " json");
	note_flag(look->stop, " stop");
	note_flag(look->again, " again");
	note_flag(look->has_printed, " printed");
	note_flag(look->json_time == toolrun_json_time, " time");
	note_flag(look->profile, " profile");
	note_flag(pick->system, " system");
	if (pick->goid)
		faketool_note(" goroutine %" PRIu64, pick->goid);
	if (pick->state)
		faketool_note(" in %s", pick->state);
	faketool_note("\n");
	*count = 3;
	return faketool_answer("it", err);
}

void goroutines_look_end(struct goroutines_look *look)
{
	assert_ptr_equal(look, &gostacks.look);
	faketool_result("end");
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	readerrun_begin();
	gostacks = (struct gostacks){0};
	return 0;
}

static void look_once(struct readertool *rt, const char *want)
{
	uint64_t count = 0;

	*faketool.said = '\0';
	assert_int_equal(rt->look(rt->ctx, &readerrun.one, true, NULL, &count, &failure), 0);
	assert_int_equal(count, 3);
	faketool_noted(want);
}

static void plain(struct readertool *rt)
{
	uint64_t count;

	readerrun_expect("gostacks: look end ready nothing profile\n");
	assert_ptr_equal(rt->profile_spec, &goroutines_profile_spec);
	look_once(rt, "look of 0 patterns\nit\n");
	assert_int_equal(rt->nothing(rt->ctx, &failure), 0);
	rt->pattern_count = 2;
	faketool.failing = "it";
	assert_int_equal(
		rt->look(rt->ctx, &readerrun.one, false, FAKETOOL_SOME(profile), &count, &failure),
		-1);
	rt->pattern_count = 0;
	rt->end(rt->ctx);
	faketool_noted("look of 2 patterns printed profile\nit\nend\n");
}

static void each(struct readertool *rt)
{
	look_once(rt, "look of 0 patterns each\nit\n");
}

static void in_full(struct readertool *rt)
{
	look_once(rt, "look of 0 patterns each full stop system\nit\n");
}

static void folded(struct readertool *rt)
{
	readerrun_expect("takes n\ngostacks: look end ready nothing profile regexp\n");
	look_once(rt, "look of 0 patterns folded in chan send\nit\n");
}

static void changes(struct readertool *rt)
{
	readerrun_expect("gostacks: look end ready nothing profile every 1000 ms\n");
	look_once(rt, "look of 0 patterns json again time\nit\n");
}

static void one_alone(struct readertool *rt)
{
	readerrun_expect("gostacks: look end ready nothing profile of core\n");
	look_once(rt, "look of 0 patterns goroutine 9223372036854775807\nit\n");
	assert_int_equal(rt->nothing(rt->ctx, &failure), -1);
	assert_string_equal(failure.text, "no goroutine 9223372036854775807");
}

static void test_options(void **state)
{
	assert_int_equal(readerrun_main(tool_main, "181", plain), FAKETOOL_STATUS);
	setup(state);
	readerrun_main(tool_main, "-a 181", each);
	setup(state);
	readerrun_main(tool_main, "--full --stop --system 181", in_full);
	setup(state);
	readerrun_main(tool_main, "-rfs chan_send -n app", folded);
	setup(state);
	readerrun_main(tool_main, "-i 1 -j -T 181", changes);
	setup(state);
	readerrun_main(tool_main, "-g 9223372036854775807 --core core app", one_alone);
}

static void test_refused(void **state)
{
	static const char *const refused[][2] = {
		{"-g x 1", "\"x\" is not a goroutine's ID"},
		{"-g 0 1", "\"0\" is not a goroutine's ID"},
		{"--core c --stop a", "--stop is for programs that run: not with --core"},
		{"-a -f 1", "-a or --full, -f and -j exclude each other"},
		{"--full -j 1", "-a or --full, -f and -j exclude each other"},
		{"-f -j 1", "-a or --full, -f and -j exclude each other"},
		{"-i 1 -a 1", "-i shows what has changed: not with -a, --full or -f"},
		{"-i 1 -f 1", "-i shows what has changed: not with -a, --full or -f"},
		{"-i 1 --stop 1", "--stop is for a single snapshot: not with -i"},
		{"-p bad", "bad value"},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		char want[128];

		setup(state);
		snprintf(want, sizeof(want), "gostacks: %s\nusage: gostacks ...", refused[i][1]);
		readerrun_refused(tool_main, refused[i][0], want);
	}
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: gostacks [-h] [-i INTERVAL] [-d DURATION] [-T] [-j] [-p PID] [-n NAME]\n"
		"                [--all] [-r] [-a] [--full] [-g GOID] [-s STATE] [-f] [--system]\n"
		"                [--stop] [--core FILE] [--pprof FILE] [--version] [PID... |\n"
		"                BINARY] [PATTERN...]\n"
		"\n"
		"Show what the goroutines of running Go programs do\n"
		"\n"
		"examples:\n"
		"    gostacks 181               # what the goroutines of process 181 do\n"
		"    gostacks -a 181            # each with its whole stack\n"
		"    gostacks --full 181        # and the words of arguments, in hexadecimal\n"
		"    gostacks -g 17 181         # goroutine 17 alone\n"
		"    gostacks -s 'chan send' 181\n"
		"\n"
		"all options: gostacks --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: gostacks [-h] [-i INTERVAL] [-d DURATION] [-T] [-j] [-p PID] [-n NAME]\n"
		"                [--all] [-r] [-a] [--full] [-g GOID] [-s STATE] [-f] [--system]\n"
		"                [--stop] [--core FILE] [--pprof FILE] [--version] [PID... |\n"
		"                BINARY] [PATTERN...]\n"
		"\n"
		"Show what the goroutines of running Go programs do\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -i INTERVAL, --interval INTERVAL\n"
		"                        summary interval, in seconds, or as 500ms\n"
		"  -d DURATION, --duration DURATION\n"
		"                        total duration of trace, in seconds, or as 1m30s\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -j, --json            print JSON, one object a line\n"
		"  -p PID, --pid PID     the process to read; it is not stopped\n"
		"  -n NAME, --name NAME  the Go programs that run and whose name contains NAME\n"
		"  --all                 all Go programs that run\n"
		"  -r, --regexp          use regular expressions. Default is \"*\" wildcards "
		"only.\n"
		"  -a, --each            print each goroutine with its whole stack, as Go's\n"
		"                        tracebacks do\n"
		"  --full                the same with the words that arguments are made of\n"
		"  -g GOID, --goid GOID  print this goroutine only, with its whole stack\n"
		"  -s STATE, --state STATE\n"
		"                        only goroutines in this state, or waiting for this:\n"
		"                        \"select\"\n"
		"  -f, --folded          print folded stacks, one line a stack, for flame graphs\n"
		"  --system              include goroutines of the runtime itself\n"
		"  --stop                stop the process for a moment (ptrace): all at one\n"
		"                        instant, running ones too\n"
		"  --core FILE           read this core file, which the program BINARY has left\n"
		"  --pprof FILE          write what is counted to FILE as well, for go tool\n"
		"                        pprof\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gostacks 181               # what the goroutines of process 181 do\n"
		"    gostacks -a 181            # each with its whole stack\n"
		"    gostacks --full 181        # and the words of arguments, in hexadecimal\n"
		"    gostacks -g 17 181         # goroutine 17 alone\n"
		"    gostacks -s 'chan send' 181\n"
		"    gostacks 181 'main.(*Store).*'  # those in a method of main.Store\n"
		"    gostacks -n etcd           # of the programs whose name contains etcd\n"
		"    gostacks --all             # of all Go programs\n"
		"    gostacks -i 10 181         # and every 10 seconds, what has changed\n"
		"    gostacks -f 181 > stacks   # for a flame graph\n"
		"    gostacks --pprof stacks.pb.gz 181  # for go tool pprof\n"
		"    gostacks -j 181            # one JSON object a goroutine\n"
		"    gostacks --core core ./app # of a program that has crashed\n");
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
