// SPDX-License-Identifier: Apache-2.0
/* gooffcputime from its command line to its output: sums, stacks and processes are made up. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "blockedrun.h"
#include "faketool.h"
#include "printed.h"
#include "profile/profile_show.h"
#include "tracing/options.h"

#define main tool_main
#include "tools/gooffcputime.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

static struct errmsg failure;

/* --- in place of stacks --- */

void stacks_print(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out)
{
	(void)stacks;
	assert_int_equal(bias, BLOCKEDRUN_BIAS);
	fprintf(out, "    main.f%d\n", (int)hash);
}

void stacks_print_folded(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out)
{
	(void)stacks;
	assert_int_equal(bias, BLOCKEDRUN_BIAS);
	fprintf(out, "main.main;main.f%d;", (int)hash);
}

void stacks_json(const struct stacks *stacks, uint64_t hash, uint64_t bias, struct json *json)
{
	(void)stacks;
	assert_int_equal(bias, BLOCKEDRUN_BIAS);
	json_u64(json, hash);
}

void stacks_profile(const struct stacks *stacks, uint64_t hash, uint64_t bias,
		    struct profile *profile)
{
	(void)stacks;
	assert_int_equal(bias, BLOCKEDRUN_BIAS);
	profile_word(profile, hash == 11 ? "main.f11" : "main.f21");
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	blockedrun_begin();
	blockedrun.tool = "gooffcputime";
	blockedrun_add_sum(21, 3, 1, 700, 600);
	blockedrun_add_sum(11, 9, 2, 300, 200);
	blockedrun_add_open(21, 3, 1000, false, false);
	return 0;
}

static void start(struct toolrun *run)
{
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_errors_begin();
	printed_begin();
	run->started(run->ctx);
	assert_int_equal(run->stop(run->ctx), 0);
}

static void as_text(struct toolrun *run)
{
	faketool_expect_config(run, "gooffcputime.bpf.c cpu -1 goroutines sleepable plan "
				    "runtime.casgstatus\n"
				    "WAITS=1048576 STACKS=16384 SUMS=65536 MIN_NS=0 "
				    "MAX_NS=9223372036854775807\n"
				    "gooffcputime: begin show sweep lost stop started profile\n");
	start(run);
	run->show(run->ctx, true, &failure);
	printed_expect("Tracing blocked time (us) of goroutines by stack... Hit Ctrl-C to end.\n"
		       "\n"
		       "    main.f11\n"
		       "    -                - (2147483647): sync.Mutex.Lock\n"
		       "        300 in 2 waits, at most 200\n"
		       "\n"
		       "    main.f21\n"
		       "    -                - (2147483647): chan receive\n"
		       "        700 in 1 wait, at most 600\n"
		       "\n"
		       "not in the sums: 1 still waiting\n\n");
	faketool_errors_expect("");
}

static void as_folded(struct toolrun *run)
{
	start(run);
	run->show(run->ctx, true, &failure);
	printed_expect("main.main;main.f11;[sync.Mutex.Lock] 300\n"
		       "main.main;main.f21;[chan receive] 700\n");
	faketool_errors_expect(
		"Tracing blocked time (us) of goroutines by stack... Hit Ctrl-C to end.\n"
		"not in the sums: 1 still waiting\n");
}

/* Waits that have not ended are told by stack. */
static void as_json(struct toolrun *run)
{
	const char *rest;

	start(run);
	run->show(run->ctx, true, &failure);
	char *text = printed_end();

	rest = strstr(text, "\"open_ns\":");
	assert_non_null(rest);
	assert_int_equal(strncmp(rest, "\"open_ns\":0,\"stack\":11}\n", 24), 0);
	assert_non_null(rest = strstr(rest + 24, "\"open_ns\":"));
	assert_true(strtoull(rest + 10, NULL, 10) > 0);
	*strstr(rest, ",\"stack\"") = '\0';
	assert_int_equal(rest - text, (long)strlen(text) - (long)strlen(rest));
	assert_string_equal(rest + strlen(rest) + 1, "\"stack\":21}\n");
	((char *)rest)[10] = '\0';
	assert_string_equal(
		text,
		"{\"type\":\"offcpu\",\"pid\":2147483647,\"comm\":\"-\",\"state\":\"sync.Mutex."
		"Lock\",\"waits\":2,\"total_ns\":300000,\"max_ns\":200000,\"waiting\":0,"
		"\"process_ended\":0,\"open_ns\":0,\"stack\":11}\n"
		"{\"type\":\"offcpu\",\"pid\":2147483647,\"comm\":\"-\",\"state\":\"chan "
		"receive\",\"waits\":1,\"total_ns\":700000,\"max_ns\":600000,\"waiting\":1,"
		"\"process_ended\":0,\"open_ns\":");
	free(text);
	faketool_errors_expect(
		"Tracing blocked time (us) of goroutines by stack... Hit Ctrl-C to end.\n"
		"not in the sums: 1 still waiting\n");
}

static void as_profile(struct toolrun *run)
{
	const struct profile_style style = {.type = "row", .json = true};

	run->profile = profile_new(run->profile_spec);
	start(run);
	run->show(run->ctx, true, &failure);
	free(printed_end());
	faketool_errors_expect("");
	printed_begin();
	profile_show(stdout, run->profile, &style);
	printed_expect(
		"{\"type\":\"row\",\"pid\":2147483647,\"comm\":\"-\",\"state\":\"sync.Mutex."
		"Lock\",\"waits\":2,\"delay\":300000,\"stack\":[{\"func\":\"main.f11\",\"file\":"
		"null,\"line\":null}]}\n"
		"{\"type\":\"row\",\"pid\":2147483647,\"comm\":\"-\",\"state\":\"chan "
		"receive\",\"waits\":1,\"delay\":700000,\"stack\":[{\"func\":\"main.f21\","
		"\"file\":null,\"line\":null}]}\n");
	assert_string_equal(run->profile_spec->tool, "gooffcputime");
	assert_string_equal(run->profile_spec->types[run->profile_spec->shown].unit, "nanoseconds");
	assert_string_equal(run->profile_spec->types[0].unit, "count");
	profile_free(run->profile);
	run->profile = NULL;
}

static void test_output(void **state)
{
	(void)state;
	faketool_main(tool_main, ":main", as_text);
	faketool_main(tool_main, "-f :main", as_folded);
	faketool_main(tool_main, "-j :main", as_json);
	faketool_main(tool_main, "--pprof f :main", as_profile);
}

static void losses(struct toolrun *run)
{
	static const uint64_t lost[WAIT_LOSSES] = {3, 4, 5, 6};

	memcpy(blockedrun.lost, lost, sizeof(lost));
	start(run);
	free(printed_end());
	run->lost(run->ctx);
	faketool_errors_expect(
		"gooffcputime: 3 waits were lost: more goroutines than there is room for\n"
		"gooffcputime: 4 waits were lost: more stacks and states than there is room for\n"
		"gooffcputime: 5 waits have no stack: more of them than there is room for\n"
		"gooffcputime: 6 waits were lost: the goroutine could not be read\n");
}

static void test_losses(void **state)
{
	(void)state;
	faketool_main(tool_main, ":main", losses);
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: gooffcputime [-h] [-p PID] [-d DURATION] [-v] [-j] [-f] [-m US] [-M US]\n"
		"                    [--state STATE] [-n NAME] [--all] [--force]\n"
		"                    [--max-cost PERCENT] [--pprof FILE] [--version] [BINARY]\n"
		"                    [-- COMMAND [ARG...]]\n"
		"\n"
		"Sum up blocked time of goroutines by stack and state\n"
		"\n"
		"examples:\n"
		"    gooffcputime -p 181                      # where do goroutines of 181 block?\n"
		"    gooffcputime -d 5 -p 181                 # for 5 seconds\n"
		"    gooffcputime -m 1000 -p 181              # waits of a millisecond and longer\n"
		"    gooffcputime --state 'sync.*' -p 181     # for locks only\n"
		"    gooffcputime -f -d 30 -p 181 > out.stacks\n"
		"                                             # for flamegraph.pl --countname us\n"
		"\n"
		"all options: gooffcputime --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: gooffcputime [-h] [-p PID] [-d DURATION] [-v] [-j] [-f] [-m US] [-M US]\n"
		"                    [--state STATE] [-n NAME] [--all] [--force]\n"
		"                    [--max-cost PERCENT] [--pprof FILE] [--version] [BINARY]\n"
		"                    [-- COMMAND [ARG...]]\n"
		"\n"
		"Sum up blocked time of goroutines by stack and state\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -p PID, --pid PID     trace this PID only\n"
		"  -d DURATION, --duration DURATION\n"
		"                        total duration of trace, in seconds, or as 1m30s\n"
		"  -v, --verbose         print the BPF program, and what is left out, with the\n"
		"                        reasons\n"
		"  -j, --json            print JSON, one object a line\n"
		"  -f, --folded          output folded format, for flame graphs\n"
		"  -m US, --min-block-time US\n"
		"                        shortest wait that counts, in microseconds\n"
		"  -M US, --max-block-time US\n"
		"                        longest wait that counts, in microseconds\n"
		"  --state STATE         this state only, such as 'chan receive'; * is any text\n"
		"  -n NAME, --name NAME  trace the Go programs that run and whose name contains\n"
		"                        NAME\n"
		"  --all                 trace all Go programs that run\n"
		"  --force               trace even if breakpoints take more memory than the\n"
		"                        process may use\n"
		"  --max-cost PERCENT    end when probes take more than PERCENT of a processor\n"
		"  --pprof FILE          write what is counted to FILE as well, for go tool\n"
		"                        pprof\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gooffcputime -p 181                      # where do goroutines of 181 block?\n"
		"    gooffcputime -d 5 -p 181                 # for 5 seconds\n"
		"    gooffcputime -m 1000 -p 181              # waits of a millisecond and longer\n"
		"    gooffcputime --state 'sync.*' -p 181     # for locks only\n"
		"    gooffcputime -f -d 30 -p 181 > out.stacks\n"
		"                                             # for flamegraph.pl --countname us\n"
		"    gooffcputime --pprof out.pb.gz -d 30 -p 181\n"
		"                                             # for go tool pprof\n"
		"    gooffcputime -- ./app arg                # run a program\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_output, setup),
		cmocka_unit_test_setup(test_losses, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
