// SPDX-License-Identifier: Apache-2.0
/* goargdist from its command line to what it asks of its plan, its run and who prints. */
#include "fakerun.h"
#include "faketool.h"
#include "planrun.h"
#include "printed.h"

#define main tool_main
#include "tools/goargdist.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include <string.h>

#include "unit.h"

static struct errmsg failure;

/* --- in place of gotrace/argdist.h --- */

struct argdist *argdist_new(const struct argdist_config *config, const struct traceplan *plan,
			    const struct tracer *tracer)
{
	assert_ptr_equal(plan, FAKETOOL_SOME(traceplan));
	assert_null(tracer);
	faketool_note("dist of %zu", config->probe_count);
	for (size_t i = 0; i < config->probe_count; i++)
		faketool_note(" [%s]%s", config->probes[i], config->histograms[i] ? "H" : "C");
	faketool_note(" top %d strings %u%s%s\n", (int)config->top, config->string_max,
		      config->cumulative ? " cumulative" : "", config->json ? " json" : "");
	return FAKETOOL_SOME(argdist);
}

void argdist_free(struct argdist *dist)
{
	assert_true(!dist || dist == FAKETOOL_SOME(argdist));
}

int argdist_show(struct argdist *dist, struct errmsg *err)
{
	assert_ptr_equal(dist, FAKETOOL_SOME(argdist));
	puts("shown");
	return faketool_answer("show", err);
}

void argdist_say_lost(const struct argdist *dist)
{
	assert_ptr_equal(dist, FAKETOOL_SOME(argdist));
	faketool_result("say lost");
}

void clock_text(char text[CLOCK_TEXT])
{
	strcpy(text, "12:00:00");
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	fakerun_begin();
	planrun_begin();
	return 0;
}

static void expect_times(const struct toolrun *run, double every, double whole)
{
	assert_int_equal(run->opts->interval_ns, (uint64_t)(every * 1e9));
	assert_int_equal(run->opts->duration_ns, (uint64_t)(whole * 1e9));
}

static void show_it(struct toolrun *run, const char *want)
{
	printed_begin();
	assert_int_equal(run->show(run->ctx, false, &failure), 0);
	printed_expect(want);
}

static void expect_failure(int status, const char *want)
{
	assert_int_equal(status, -1);
	assert_string_equal(failure.text, want);
}

static void counts(struct toolrun *run)
{
	faketool_noted("goargdist [main.a x]C [main.b y]C strings 80\nplan\n");
	faketool_expect_config(
		run, "gotrace.bpf.c cpu -1 args places tails goroutines sleepable plan loaded "
		     "app:main.a app:main.b entered timed\n"
		     "\n"
		     "goargdist: begin show sweep lost stop\n");
	expect_times(run, 0, 0);
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
	assert_int_equal(run->config.loaded(run->config.plan_ctx, NULL, &failure), 0);
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_noted("make\n"
		       "losses: goargdist, counted, results\n"
		       "loaded\n"
		       "attached\n"
		       "dist of 2 [main.a x]C [main.b y]C top 0 strings 80\n");
	show_it(run, "\n[12:00:00]\nshown\n");
	run->sweep(run->ctx);
	run->stop(run->ctx);
	run->lost(run->ctx);
	faketool_noted("show\n"
		       "sweep\n"
		       "time\n"
		       "ended[0] = 1\n"
		       "update\n"
		       "say lost\n"
		       "say all losses \"\"\n");
	faketool.failing = "update";
	assert_int_equal(run->stop(run->ctx), -1);
	faketool.failing = "make";
	expect_failure(run->config.plan(run->config.plan_ctx, NULL, &failure), "make fails");
	faketool.failing = "loaded";
	expect_failure(run->config.loaded(run->config.plan_ctx, NULL, &failure), "loaded fails");
	faketool.failing = "attached";
	expect_failure(run->begin(run->ctx, NULL, &failure), "attached fails");
	faketool.failing = "show";
	printed_begin();
	expect_failure(run->show(run->ctx, true, &failure), "show fails");
	printed_expect("\n[12:00:00]\nshown\n");
}

static void test_counts(void **state)
{
	(void)state;
	assert_int_equal(faketool_main(tool_main, "-C main.a_x main.b_y", counts), FAKETOOL_STATUS);
}

static void histograms(struct toolrun *run)
{
	faketool_noted("goargdist [a]H [b]C regex strings 4096 tid 2147483647 goid 7\nplan\n");
	expect_times(run, 5, 10);
	assert_int_equal(run->config.loaded(run->config.plan_ctx, NULL, &failure), 0);
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_noted("losses: goargdist, counted, results\n"
		       "loaded\n"
		       "attached\n"
		       "dist of 2 [a]H [b]C top 9 strings 4096 cumulative json\n");
	show_it(run, "shown\n");
	run->lost(run->ctx);
	faketool_noted("show\n"
		       "say losses\n"
		       "say lost\n"
		       "say all losses \"in total \"\n");
}

static void all_of_one_kind(struct toolrun *run)
{
	faketool_noted("goargdist [a]H [b]H strings 1 tid 3\nplan\n");
	expect_times(run, 1, 3);
}

static void sized(struct toolrun *run)
{
	faketool_noted("goargdist [a]H [b]H [c]H strings 1024\nplan\n");
	expect_times(run, 0, 0);
}

static void below(struct toolrun *run)
{
	faketool_noted("below root\nchannels\ncheck\ngoargdist [a]C strings 80 below\nplan\n");
	assert_int_equal(run->config.loaded(run->config.plan_ctx, NULL, &failure), 0);
	*faketool.said = '\0';
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_noted("attached\nroots\ndist of 1 [a]C top 0 strings 80\n");
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect("goargdist: roots lost\n");
	faketool.failing = "roots";
	expect_failure(run->begin(run->ctx, NULL, &failure), "roots fails");
}

static void shorter(struct toolrun *run)
{
	faketool_noted("goargdist [a]C strings 80\nplan\n");
	expect_times(run, 1, 2);
}

static void test_options(void **state)
{
	planrun.spec.arg_count = 1;
	faketool_main(tool_main, "-H a -C b -jrcT 9 -t 2147483647 -G 7 -z 4096 -i 5 -n 2",
		      histograms);
	setup(state);
	planrun.spec.arg_count = 1;
	faketool_main(tool_main, "-H a b -L 3 -Z 1 -n 3", all_of_one_kind);
	setup(state);
	faketool_main(tool_main, "-C a -n 3 -d 2", shorter);
	setup(state);
	planrun.spec.arg_count = 1;
	faketool_main(tool_main, "-H a -H b -Z 1KiB c", sized);
	setup(state);
	faketool_main(tool_main, "-C a --follow root --follow-channels", below);
}

static void expect_refused(const char *words, int status, const char *want)
{
	setup(NULL);
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, words, faketool_never), status);
	faketool_errors_expect(want);
}

#define NUMBER(letter, text, max)                                                                  \
	"goargdist: -" letter ": \"" text "\" is not a number from 1 to " max "\nusage: "          \
	"goargdis..."

static void test_refused(void **state)
{
	(void)state;
	expect_refused("", 2, "goargdist: no -C PROBE or -H PROBE given\nusage: goargdist...");
	expect_refused("-C a -H b c", 2,
		       "goargdist: \"c\" has neither -C nor -H before it\nusage: goargdist...");
	expect_refused("-C -d 5 a", 2,
		       "goargdist: -C: a PROBE stands after it, and \"-d\" is an "
		       "option\nusage: goargdist...");
	expect_refused("-C a -T 0", 2, NUMBER("T", "0", "2147483647"));
	expect_refused("-C a -n 1000001", 2, NUMBER("n", "1000001", "1000000"));
	expect_refused("-C a -L 1KiB", 2, NUMBER("L", "1KiB", "2147483647"));
	expect_refused("-C a -L x", 2, NUMBER("L", "x", "2147483647"));
	expect_refused("-C a -t 0", 2, NUMBER("t", "0", "2147483647"));
	expect_refused("-C a -G 0", 2, NUMBER("G", "0", "9223372036854775807"));
	expect_refused("-C a -Z 4097", 2, NUMBER("Z", "4097", "4096"));
	expect_refused("-C a -n 1000000 -i 1000000000", 2,
		       "goargdist: -n: \"1000000\" intervals are too long\nusage: goargdist...");
	expect_refused("-H a_b", 1,
		       "goargdist: -H \"a b\": a histogram is of one EXPR, there are 0\n"
		       "hint: name one: 'main.f x', or 'r:main.f $latency'\n");
	setup(NULL);
	planrun.spec.arg_count = 2;
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, "-H a", faketool_never), 1);
	faketool_errors_expect("goargdist: -H \"a\": a histogram is of one EXPR, there are 2\n"
			       "hint: give each a PROBE of its own\n");
	setup(NULL);
	faketool.failing = "plan";
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, "-C a", faketool_never), 1);
	faketool_errors_expect("goargdist: plan fails\n");
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: goargdist [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-r] [-v] [-j]\n"
		"                 [-C PROBE] [-H PROBE] [-T N] [-c] [-n COUNT] [-t TID] [-L TID]\n"
		"                 [-G GOID] [-Z SIZE] [-z SIZE] [--follow ROOT]\n"
		"                 [--follow-channels] [--name NAME] [--all] [--inlined] [--fips]\n"
		"                 [--force] [--max-cost PERCENT] [--no-emulate] [--version]\n"
		"                 [PROBE...] [-- COMMAND [ARG...]]\n"
		"\n"
		"Count calls of Go functions by values of their arguments and results\n"
		"\n"
		"examples:\n"
		"    goargdist -C 'app:main.get key'        # which keys, how often?\n"
		"    goargdist -C 'r:app:main.(*Store).Get err != nil, $err'\n"
		"                                           # how many calls fail, and why?\n"
		"    goargdist -C 'r:app:main.Put (goret2 != nil) k.Name, len(s)'\n"
		"                                           # several values as one, of some\n"
		"    goargdist -H 'app:net.(*conn).Write len(b)'\n"
		"                                           # how large are writes?\n"
		"    goargdist -H 'r:app:main.get $latency' -i 5\n"
		"                                           # how long calls take, every 5 s\n"
		"\n"
		"all options: goargdist --help all\n");
}

static const char help_all[] =
	"usage: goargdist [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-r] [-v] [-j]\n"
	"                 [-C PROBE] [-H PROBE] [-T N] [-c] [-n COUNT] [-t TID] [-L TID]\n"
	"                 [-G GOID] [-Z SIZE] [-z SIZE] [--follow ROOT]\n"
	"                 [--follow-channels] [--name NAME] [--all] [--inlined] [--fips]\n"
	"                 [--force] [--max-cost PERCENT] [--no-emulate] [--version]\n"
	"                 [PROBE...] [-- COMMAND [ARG...]]\n"
	"\n"
	"Count calls of Go functions by values of their arguments and results\n"
	"\n"
	"options:\n"
	"  -h, --help            show usage and examples; --help all: these options, too\n"
	"  -p PID, --pid PID     trace this PID only\n"
	"  -i INTERVAL, --interval INTERVAL\n"
	"                        summary interval, in seconds, or as 500ms\n"
	"  -d DURATION, --duration DURATION\n"
	"                        total duration of trace, in seconds, or as 1m30s\n"
	"  -r, --regexp          use regular expressions. Default is \"*\" wildcards "
	"only.\n"
	"  -v, --verbose         print the BPF program, and what is left out, with the\n"
	"                        reasons\n"
	"  -j, --json            print JSON, one object a line\n"
	"  -C PROBE, --count PROBE\n"
	"                        count calls by the values of PROBE's EXPRs\n"
	"  -H PROBE, --histogram PROBE\n"
	"                        print a histogram of PROBE's EXPR, a number\n"
	"  -T N, --top N         print the N values of a PROBE that were counted most\n"
	"  -c, --cumulative      count from the start at each interval, not from zero\n"
	"  -n COUNT, --number COUNT\n"
	"                        end after COUNT times of printing, a second each\n"
	"                        without -i\n"
	"  -t TID, --tid TID     trace this thread only\n"
	"  -L TID, --thread TID  the same, as gotrace calls it\n"
	"  -G GOID, --goid GOID  trace this goroutine only\n"
	"  -Z SIZE, --string-size SIZE\n"
	"                        bytes to read of each string (default 80)\n"
	"  -z SIZE, --string_size SIZE\n"
	"                        the same, as bcc's argdist calls it\n"
	"  --follow ROOT         count only calls below calls of ROOT, also in\n"
	"                        goroutines that these start\n"
	"  --follow-channels     with --follow, also in goroutines that receive what\n"
	"                        these send\n"
	"  --name NAME           trace the Go programs that run and whose name contains\n"
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
	"    goargdist -C 'app:main.get key'        # which keys, how often?\n"
	"    goargdist -C 'r:app:main.(*Store).Get err != nil, $err'\n"
	"                                           # how many calls fail, and why?\n"
	"    goargdist -C 'r:app:main.Put (goret2 != nil) k.Name, len(s)'\n"
	"                                           # several values as one, of some\n"
	"    goargdist -H 'app:net.(*conn).Write len(b)'\n"
	"                                           # how large are writes?\n"
	"    goargdist -H 'r:app:main.get $latency' -i 5\n"
	"                                           # how long calls take, every 5 s\n"
	"    goargdist -T 10 -p 181 -C 'main.get key'\n"
	"                                           # the ten most frequent keys\n"
	"    goargdist -C 'app:main.get key' --follow main.handle # below handle alone\n"
	"    goargdist -C 'main.* $func' -- ./app arg\n"
	"                                           # run a program\n";

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(tool_main, "--help all", help_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_counts, setup),
		cmocka_unit_test_setup(test_options, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
