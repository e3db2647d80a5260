// SPDX-License-Identifier: Apache-2.0
/* gotrace from its command line to what it asks of its plan, its run and who prints. */
#include "fakerun.h"
#include "faketool.h"
#include "planrun.h"
#include "printed.h"

#define main tool_main
#include "tools/gotrace.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include <sys/stat.h>

#include "profile/profile.h"
#include "unit.h"

static struct errmsg failure;
static bool lacks_kernel;

/* --- in place of gotrace/traceprint.h --- */

const struct profile_spec traceprint_profile_spec = {.tool = "gotrace"};

static void note_flag(bool is, const char *name)
{
	faketool_note("%s", is ? name : "");
}

static void note_text(const char *name, const char *text)
{
	if (text)
		faketool_note(" %s=%s", name, text);
}

struct traceprint *traceprint_new(const struct traceprint_config *config,
				  const struct traceplan *plan, const struct tracer *tracer)
{
	assert_ptr_equal(plan, FAKETOOL_SOME(traceplan));
	assert_null(tracer);
	faketool_note("print");
	note_flag(config->time, " time");
	note_flag(config->timestamp, " timestamp");
	note_flag(config->unix_time, " unix");
	note_flag(config->cpu, " cpu");
	note_flag(config->roots, " roots");
	note_text("comm", config->comm);
	note_text("message", config->message);
	for (size_t i = 0; config->not_under && config->not_under[i]; i++)
		note_text("not", config->not_under[i]);
	note_flag(config->user_stack, " user");
	note_flag(config->kernel_stack, " kernel");
	note_flag(config->addresses, " addresses");
	note_flag(config->no_runtime, " no_runtime");
	note_flag(config->full_names, " full_names");
	note_flag(config->by_func, " by_func");
	note_flag(config->aggregate, " aggregate");
	note_flag(config->fold_numbers, " fold");
	note_flag(config->origins, " origins");
	note_flag(config->json, " json");
	note_flag(config->profile, " profile");
	note_text("header", config->header);
	faketool_note(" top %zu max %lld\n", config->top, (long long)config->max);
	return FAKETOOL_SOME(traceprint);
}

void traceprint_free(struct traceprint *print)
{
	assert_true(!print || print == FAKETOOL_SOME(traceprint));
}

bool traceprint_lacks_kernel(const struct traceprint *print)
{
	assert_ptr_equal(print, FAKETOOL_SOME(traceprint));
	return lacks_kernel;
}

void traceprint_header(const struct traceprint *print)
{
	assert_ptr_equal(print, FAKETOOL_SOME(traceprint));
	puts("HEADER");
}

bool traceprint_event(const void *data, size_t len, void *print)
{
	assert_ptr_equal(print, FAKETOOL_SOME(traceprint));
	faketool_note("event %s\n", (const char *)data);
	return len;
}

void traceprint_aggregated(struct traceprint *print)
{
	assert_ptr_equal(print, FAKETOOL_SOME(traceprint));
	puts("aggregated");
}

void tracer_print_start(const struct tracer *tracer, FILE *out)
{
	assert_null(tracer);
	fputs("Tracing\n", out);
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	fakerun_begin();
	planrun_begin();
	lacks_kernel = false;
	return 0;
}

static void begin_it(struct toolrun *run, const char *want)
{
	*faketool.said = '\0';
	assert_int_equal(run->config.loaded(run->config.plan_ctx, NULL, &failure), 0);
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_noted(want);
}

static void expect_started(struct toolrun *run, const char *want)
{
	faketool_errors_begin();
	printed_begin();
	run->started(run->ctx);
	printed_expect("HEADER\n");
	faketool_errors_expect(want);
}

static void show_it(struct toolrun *run, bool final, const char *want)
{
	printed_begin();
	assert_int_equal(run->show(run->ctx, final, &failure), 0);
	printed_expect(want);
}

static void expect_lost(struct toolrun *run, const char *want)
{
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect(want);
}

static void plain(struct toolrun *run)
{
	faketool_noted("gotrace [a] [b x] typed strings 80\nplan\n");
	faketool_expect_config(
		run, "gotrace.bpf.c cpu -1 args places tails goroutines sleepable plan loaded "
		     "app:main.a app:main.b entered timed\n"
		     "\n"
		     "gotrace: begin show sweep lost stop events started profile quiet_end\n");
	assert_null(run->config.named);
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
	faketool_noted("make\n");
	begin_it(run, "losses: gotrace, printed, the results that the predicate needs\n"
		      "loaded\n"
		      "attached\n"
		      "print top 0 max 0\n"
		      "events\n");
	expect_started(run, "");
	assert_true(fakerun_send("x", 2));
	show_it(run, false, "");
	show_it(run, true, "aggregated\n");
	run->sweep(run->ctx);
	run->stop(run->ctx);
	expect_lost(run, "");
	faketool_noted("event x\n"
		       "sweep\n"
		       "time\n"
		       "ended[0] = 1\n"
		       "update\n"
		       "say all losses \"\"\n");
}

static void test_plain(void **state)
{
	(void)state;
	assert_int_equal(faketool_main(tool_main, "a b_x", plain), FAKETOOL_STATUS);
}

static void many_options(struct toolrun *run)
{
	faketool_noted("below root\n"
		       "check\n"
		       "gotrace [a] regex user kernel callers strings 4096 tid 5 goid 6 below\n"
		       "plan\n");
	assert_string_equal(run->config.named, "app");
	assert_true(run->config.named_by_command);
	run->profile = FAKETOOL_SOME(profile);
	begin_it(run,
		 "losses: gotrace, printed, the results that the predicate needs\n"
		 "loaded\n"
		 "attached\n"
		 "roots\n"
		 "print timestamp cpu roots comm=app message=text not=f not=g kernel addresses "
		 "no_runtime full_names by_func aggregate fold origins profile top 2147483647 "
		 "max 7\n"
		 "events\n"
		 "served\n");
	planrun.unknown = 1;
	planrun.no_results = 1;
	planrun.missing = "main.T\x1b";
	expect_started(
		run, "gotrace: nothing is known of the arguments of main.f\\x1b: no debug "
		     "information, or none that is certain\n"
		     "hint: give a SIGNATURE, as in 'main.add(x int, y string)'\n"
		     "gotrace: the results of main.h\\x1b are not known: the program has no debug "
		     "information\n"
		     "hint: give a SIGNATURE, as in 'r:main.add(x int) (n int, err error)'\n"
		     "gotrace: type \"main.T\\x1b\" is not in the program: its pointers are shown "
		     "as addresses\n"
		     "Tracing\n");
	show_it(run, false, "aggregated\n");
	lacks_kernel = true;
	expect_lost(run, "gotrace: roots lost\n"
			 "gotrace: no kernel stacks: at a uprobe this kernel has none to show\n");
	faketool_noted("say losses\n"
		       "say all losses \"in total \"\n");
}

static void as_json(struct toolrun *run)
{
	faketool_noted("gotrace [a] user strings 1\n"
		       "plan\n");
	begin_it(run, "losses: gotrace, printed, the results that the predicate needs\n"
		      "loaded\n"
		      "attached\n"
		      "print time timestamp unix user json top 0 max 0\n"
		      "events\n");
	planrun.unknown = 3;
	planrun.no_results = 2;
	planrun.unknown_copy = "main.g\x1b";
	expect_started(
		run,
		"gotrace: main.g\\x1b is inlined: the arguments of its copies are not known\n"
		"gotrace: nothing is known of the arguments of main.f\\x1b and 2 more: no "
		"debug information, or none that is certain\n"
		"hint: give a SIGNATURE, as in 'main.add(x int, y string)'\n"
		"gotrace: the results of main.h\\x1b and 1 more are not known: the program has no "
		"debug information\n"
		"hint: give a SIGNATURE, as in 'r:main.add(x int) (n int, err error)'\n"
		"Tracing\n");
}

static void a_recipe(struct toolrun *run)
{
	faketool_expect_config(
		run, "gotrace.bpf.c cpu -1 args places tails goroutines sleepable plan loaded "
		     "app:main.a entered\n"
		     "\n"
		     "gotrace: begin show sweep lost stop events started profile quiet_end "
		     "quiet_cost\n");
	begin_it(run, "losses: gotrace, printed, the results that the predicate needs\n"
		      "loaded\n"
		      "attached\n"
		      "print header=HEAD top 0 max 0\n"
		      "events\n");
	expect_started(run, "Tracing\n");
}

static void test_options(void **state)
{
	faketool_main(tool_main,
		      "-AtCaKr -L 5 -G 6 -M 7 -n app -f text -i 2 -v --by-func --fold-numbers "
		      "--origins --top 2147483647 --no-runtime --full-names --not-under f "
		      "--not-under g --follow root --pprof out -Z 4096 a",
		      many_options);
	setup(state);
	faketool_main(tool_main, "-juTU -Z 1 a", as_json);
	setup(state);
	faketool_main(tool_main, "--header HEAD a", a_recipe);
}

/* --- -o --- */

static char path[] = "/tmp/gotrace-output-XXXXXX";

static void to_file(struct toolrun *run)
{
	struct stat st;

	printed_begin();
	FILE *before = stdout;

	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	puts("text");
	fclose(stdout);
	stdout = before;
	printed_expect("");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, 5);
	assert_int_equal(run->begin(run->ctx, NULL, &failure), -1);
	assert_non_null(strstr(failure.text, "-o: cannot make \"/tmp/gotrace-output-"));
	assert_non_null(strstr(failure.text, "\": File exists"));
	assert_string_equal(failure.hint, "name a file that is not there yet");
}

static void to_nowhere(struct toolrun *run)
{
	failure = (struct errmsg){0};
	assert_int_equal(run->begin(run->ctx, NULL, &failure), -1);
	assert_string_equal(failure.text,
			    "-o: cannot make \"/no/file\": No such file or directory");
	assert_string_equal(failure.hint, "");
}

static void test_output(void **state)
{
	char words[64];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	snprintf(words, sizeof(words), "-o %s a", path);
	faketool_main(tool_main, words, to_file);
	unlink(path);
	setup(state);
	faketool_main(tool_main, "-o /no/file a", to_nowhere);
}

/* --- what fails --- */

static void expect_failure(int status, const char *want)
{
	assert_int_equal(status, -1);
	assert_string_equal(failure.text, want);
}

static void failures(struct toolrun *run)
{
	faketool.failing = "make";
	expect_failure(run->config.plan(run->config.plan_ctx, NULL, &failure), "make fails");
	faketool.failing = "loaded";
	expect_failure(run->config.loaded(run->config.plan_ctx, NULL, &failure), "loaded fails");
	faketool.failing = "attached";
	expect_failure(run->begin(run->ctx, NULL, &failure), "attached fails");
	faketool.failing = "roots";
	expect_failure(run->begin(run->ctx, NULL, &failure), "roots fails");
	faketool.failing = "events";
	expect_failure(run->begin(run->ctx, NULL, &failure), "events fails");
}

static void expect_refused(const char *words, int status, const char *want)
{
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, words, faketool_never), status);
	faketool_errors_expect(want);
}

#define NUMBER(letter, text, max)                                                                  \
	"gotrace: -" letter ": \"" text "\" is not a number from 1 to " max "\nusage: gotrac..."
#define NEED_A "gotrace: --top, --origins and --fold-numbers need -A, which counts\n"

static void test_refused(void **state)
{
	(void)state;
	faketool_main(tool_main, "--follow root a", failures);
	faketool.failing = "check";
	expect_refused("--follow-channels a", 2, "gotrace: check fails\nusage: ...");
	faketool.failing = NULL;
	expect_refused("-L 0 a", 2, NUMBER("L", "0", "2147483647"));
	expect_refused("-G x a", 2, NUMBER("G", "x", "9223372036854775807"));
	expect_refused("-M 0 a", 2, NUMBER("M", "0", "9223372036854775807"));
	expect_refused("-Z 4097 a", 2, NUMBER("Z", "4097", "4096"));
	expect_refused("-z 0 a", 2, NUMBER("Z", "0", "4096"));
	expect_refused("--top 0 a", 2,
		       "gotrace: --top: \"0\" is not a number from 1 to 2147483647\nusage: ...");
	expect_refused("--top x a", 2,
		       "gotrace: --top: \"x\" is not a number from 1 to 2147483647\nusage: ...");
	expect_refused("--follow a --follow b c", 2, "gotrace: two roots\nusage: ...");
	expect_refused("-A -j a", 1, "gotrace: -A and -j exclude each other\n");
	expect_refused("--top 1 a", 1, NEED_A);
	expect_refused("--origins a", 1, NEED_A);
	expect_refused("--fold-numbers a", 1, NEED_A);
	faketool.failing = "plan";
	expect_refused("a", 1, "gotrace: plan fails\n");
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: gotrace [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-r] [-v] [-j]\n"
		"               [-L TID] [-G GOID] [-Z SIZE] [-z SIZE] [-M N] [-t] [-u] [-T]\n"
		"               [-C] [-n NAME] [-f TEXT] [-U] [-K] [-a] [--no-runtime] [-A]\n"
		"               [-o FILE] [--by-func] [--fold-numbers] [--origins] [--top N]\n"
		"               [--full-names] [--not-under FUNCTION] [--follow ROOT]\n"
		"               [--follow-channels] [--header TEXT] [--all] [--inlined] [--fips]\n"
		"               [--force] [--max-cost PERCENT] [--cost] [--no-emulate]\n"
		"               [--pprof FILE] [--version] PROBE... [-- COMMAND [ARG...]]\n"
		"\n"
		"Print calls of Go functions, with their arguments\n"
		"\n"
		"examples:\n"
		"    gotrace app:main.greet                 # every argument of every call\n"
		"    gotrace 'app:net/http.serverHandler.ServeHTTP \"%s\", req.URL.Path'\n"
		"                                           # chosen ones, along fields\n"
		"    gotrace 'r:app:main.(*Store).Get (err != nil) \"%s: %v\", key, err'\n"
		"                                           # results, and a predicate\n"
		"    gotrace -A -i 5 -p 181 'main.get \"%s\", key'\n"
		"                                           # every 5 seconds, how often each\n"
		"    gotrace main.main -- ./app arg         # run a program from its start\n"
		"\n"
		"all options: gotrace --help all\n");
}

static const char help_all[] =
	"usage: gotrace [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-r] [-v] [-j]\n"
	"               [-L TID] [-G GOID] [-Z SIZE] [-z SIZE] [-M N] [-t] [-u] [-T]\n"
	"               [-C] [-n NAME] [-f TEXT] [-U] [-K] [-a] [--no-runtime] [-A]\n"
	"               [-o FILE] [--by-func] [--fold-numbers] [--origins] [--top N]\n"
	"               [--full-names] [--not-under FUNCTION] [--follow ROOT]\n"
	"               [--follow-channels] [--header TEXT] [--all] [--inlined] [--fips]\n"
	"               [--force] [--max-cost PERCENT] [--cost] [--no-emulate]\n"
	"               [--pprof FILE] [--version] PROBE... [-- COMMAND [ARG...]]\n"
	"\n"
	"Print calls of Go functions, with their arguments\n"
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
	"  -L TID, --tid TID     trace this thread only\n"
	"  -G GOID, --goid GOID  trace this goroutine only\n"
	"  -Z SIZE, --string-size SIZE\n"
	"                        bytes to read of each string (default 80)\n"
	"  -z SIZE, --string_size SIZE\n"
	"                        the same, as bcc's trace calls it\n"
	"  -M N, --max-events N  end after N events\n"
	"  -t, --timestamp       print a column with the seconds since the start\n"
	"  -u, --unix-timestamp  seconds since 1970, with -t\n"
	"  -T, --time            print a column with the time of day\n"
	"  -C, --print_cpu       print the CPU\n"
	"  -n NAME, --name NAME  print only calls of commands whose name contains NAME\n"
	"  -f TEXT, --msg-filter TEXT\n"
	"                        print only calls whose message contains TEXT\n"
	"  -U, --user-stack      print the user stack\n"
	"  -K, --kernel-stack    print the kernel stack\n"
	"  -a, --address         print addresses, files and lines in stacks\n"
	"  --no-runtime          leave frames of package runtime out of stacks\n"
	"  -A, --aggregate       print each distinct line once, with its count, at the\n"
	"                        end\n"
	"  -o FILE, --output FILE\n"
	"                        print to FILE, a new one that only this user can read\n"
	"  --by-func             group what -A prints by function, with sums\n"
	"  --fold-numbers        with -A, count lines that differ by numbers together\n"
	"  --origins             with -A, count an error once that callers pass on\n"
	"  --top N               with -A, print the N most frequent lines\n"
	"  --full-names          print names with the path of their package\n"
	"  --not-under FUNCTION  leave out calls made by FUNCTION, directly or not\n"
	"  --follow ROOT         print only calls below calls of ROOT, also in\n"
	"                        goroutines that these start\n"
	"  --follow-channels     with --follow, also in goroutines that receive what\n"
	"                        these send\n"
	"  --header TEXT         print only messages, with the header TEXT, without\n"
	"                        columns\n"
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
	"  --pprof FILE          write what is counted to FILE as well, for go tool\n"
	"                        pprof\n"
	"  --version             show the version and exit\n"
	"\n"
	"examples:\n"
	"    gotrace app:main.greet                 # every argument of every call\n"
	"    gotrace 'app:net/http.serverHandler.ServeHTTP \"%s\", req.URL.Path'\n"
	"                                           # chosen ones, along fields\n"
	"    gotrace 'r:app:main.(*Store).Get (err != nil) \"%s: %v\", key, err'\n"
	"                                           # results, and a predicate\n"
	"    gotrace -A -i 5 -p 181 'main.get \"%s\", key'\n"
	"                                           # every 5 seconds, how often each\n"
	"    gotrace main.main -- ./app arg         # run a program from its start\n"
	"    gotrace 'app:main.add \"%d %d\", goarg1, goarg2'\n"
	"                                           # by place, as printf does\n"
	"    gotrace 'r:app:main.get ($blocked > 10ms) \"%d ns\", $blocked'\n"
	"                                           # calls that waited, whatever for\n"
	"    gotrace 'app:main.add(x int, y int) (x > 10) \"%d\", y'\n"
	"                                           # a stripped program: give the "
	"signature\n"
	"    gotrace --follow main.handle 'app:main.*'  # below handle, in its goroutines "
	"too\n"
	"    gotrace 'app:@server.go:42 \"%d\", $goid'  # a line, each time that it is "
	"passed\n"
	"    gotrace -U -M 1 app:main.add           # one call, with its stack\n"
	"    gotrace -p 181 'r:main.*'              # results of all of package main\n";

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
		cmocka_unit_test_setup(test_plain, setup),
		cmocka_unit_test_setup(test_options, setup),
		cmocka_unit_test_setup(test_output, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
