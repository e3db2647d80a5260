// SPDX-License-Identifier: Apache-2.0
/* gostackcount from its command line to its output: counts and stacks are the test's. */
#include "faketool.h"
#include "printed.h"
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "blocked/stacks_internal.h"
#include "bpf-src/shared/stackcount.h"
#include "bpf-src/shared/trace.h"
#include "files/heldfile.h"
#include "kernel/bpfdelta.h"
#include "kernel/bpfmap.h"
#include "profile/profile_show.h"
#include "tracing/options.h"

#define main tool_main
#include "tools/gostackcount.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { COUNTS = 3, NOBODY = 0x7fffffff };

static const struct {
	struct stackcount_key key;
	uint64_t more;
} counts[COUNTS] = {
	{{.stack = 21, .place = 0, .pid = NOBODY - 1}, 4},
	{{.stack = 11, .place = 1, .pid = NOBODY}, 3},
	{{.stack = 11, .place = 1, .pid = 0}, 5},
};
static struct selection_row rows[] = {{.name = "main.f"}, {.name = "main.g"}};
static struct selection_item items[] = {{.row = 1}, {.row = 0}};
static bool fails;
static char told[256];
static struct errmsg failure;

/* --- in place of stacks --- */

struct stacks *stacks_new(const struct tracer *tracer)
{
	(void)tracer;
	return (struct stacks *)told;
}

void stacks_free(struct stacks *stacks)
{
	assert_true(!stacks || stacks == (struct stacks *)told);
}

int stacks_check(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	(void)ctx;
	(void)tracer;
	return errmsg_set(err, "no frame pointers");
}

void stacks_profile_at(const struct stacks *stacks, uint64_t hash, uint32_t place,
		       struct profile *profile)
{
	char word[32];

	assert_ptr_equal(stacks, told);
	assert_true(place < 2);
	sprintf(word, "main.h%d;%d", (int)hash, (int)place);
	profile_word(profile, word);
	profile_word(profile, "main.main");
}

/* --- in place of the tracer and its maps --- */

const struct trace_place *tracer_place(const struct tracer *tracer, uint32_t number)
{
	static const struct trace_place places[] = {{.item = 1}, {.item = 0}};

	assert_ptr_equal(tracer, &faketool);
	return &places[number];
}

struct bpfdelta *bpfdelta_new(int fd)
{
	assert_string_equal(faketool_map(fd), "counts");
	return (struct bpfdelta *)told;
}

void bpfdelta_free(struct bpfdelta *delta)
{
	assert_true(!delta || delta == (struct bpfdelta *)told);
}

int bpfdelta_each(struct bpfdelta *delta, void (*fn)(void *ctx, const void *key, uint64_t more),
		  void *ctx)
{
	assert_ptr_equal(delta, told);
	strcat(told, fn ? "read " : "skip ");
	errno = EPERM;
	for (size_t i = 0; fn && i < COUNTS; i++) {
		struct stackcount_key key = counts[i].key;

		key.pid = key.pid ? key.pid : (unsigned)getpid();
		fn(ctx, &key, counts[i].more);
	}
	return fails ? -1 : 0;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_string_equal(faketool_map(fd), "losses");
	assert_int_equal(entries * words, STACKCOUNT_LOSSES);
	for (size_t i = 0; i < entries; i++)
		out[i] = 3 + i;
	return 0;
}

uint32_t bpfmap_room(uint32_t room)
{
	return room;
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	faketool.selection =
		(struct selection){.rows = rows, .row_count = 2, .items = items, .item_count = 2};
	faketool.at_once = true;
	fails = false;
	*told = '\0';
	return 0;
}

static void expect_shown(struct toolrun *run, const char *want)
{
	assert_int_equal(run->begin(run->ctx, FAKETOOL_SOME(tracer), &failure), 0);
	printed_begin();
	assert_int_equal(run->show(run->ctx, true, &failure), 0);
	printed_expect(want);
	assert_string_equal(told, "read ");
	*told = '\0';
}

static void as_text(struct toolrun *run)
{
	faketool_expect_config(run, "gostackcount.bpf.c cpu -1 places goroutines sleepable "
				    "plan\n"
				    "STACKS=16384 COUNTS=262144\n"
				    "gostackcount: begin show lost profile\n");
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), -1);
	assert_string_equal(failure.text, "no frame pointers");
	expect_shown(run, "\n"
			  "    main.h21;0\n"
			  "    main.main\n"
			  "        4\n"
			  "\n"
			  "    main.h11;1\n"
			  "    main.main\n"
			  "        8\n"
			  "\n");
}

static void by_process(struct toolrun *run)
{
	char want[400];

	snprintf(want, sizeof(want),
		 "\n12:00:00\n"
		 "    main.h11;1\n"
		 "    main.main\n"
		 "    -                - (2147483647)\n"
		 "        3\n"
		 "\n"
		 "    main.h21;0\n"
		 "    main.main\n"
		 "    -                - (2147483646)\n"
		 "        4\n"
		 "\n"
		 "    main.h11;1\n"
		 "    main.main\n"
		 "    -                me\\x1b (%d)\n"
		 "        5\n"
		 "\n",
		 getpid());
	expect_shown(run, want);
}

static void as_folded(struct toolrun *run)
{
	expect_shown(run, "main.main;main.h21,0 4\nmain.main;main.h11,1 8\n");
}

#define STACK(inner)                                                                               \
	"\"stack\":[{\"func\":\"" inner "\",\"file\":null,\"line\":null},"                         \
	"{\"func\":\"main.main\",\"file\":null,\"line\":null}]}\n"

static void as_json(struct toolrun *run)
{
	expect_shown(run, "{\"type\":\"stackcount\",\"time\":\"12:00:00\",\"func\":\"main.f\","
			  "\"count\":4," STACK("main.h21;0") "{\"type\":\"stackcount\",\"time\":"
							     "\"12:00:00\",\"func\":\"main.g\","
							     "\"count\":8," STACK("main.h11;1"));
}

/* Of several programs each row tells whose function it is. */
static void of_several(struct toolrun *run)
{
	faketool.program.file = heldfile_open(NULL, "/etc/passwd", &failure);
	rows[0].prog = rows[1].prog = &faketool.program;
	faketool.selection.several = true;
	expect_shown(run, "{\"type\":\"stackcount\",\"func\":\"main.f\",\"binary\":\"/etc/"
			  "passwd\",\"count\":4," STACK(
				  "main.h21;0") "{\"type\":\"stackcount\","
						"\"func\":\"main.g\",\"binary\":\"/etc/"
						"passwd\",\"count\":8," STACK("main.h11;1"));
	faketool.selection.several = false;
	heldfile_close(faketool.program.file);
}

/* --pprof has all that is shown as well */
static void as_profile(struct toolrun *run)
{
	const struct profile_style style = {.type = "row", .json = true};

	run->profile = profile_new(run->profile_spec);
	expect_shown(run, "main.main;main.h21,0 4\nmain.main;main.h11,1 8\n");
	printed_begin();
	profile_show(stdout, run->profile, &style);
	printed_expect("{\"type\":\"row\",\"func\":\"main.f\",\"count\":4," STACK(
		"main.h21;0") "{\"type\":\"row\",\"func\":\"main.g\",\"count\":8," STACK("main.h11;"
											 "1"));
	assert_string_equal(run->profile_spec->tool, "gostackcount");
	assert_string_equal(run->profile_spec->types[0].unit, "count");
	profile_free(run->profile);
	run->profile = NULL;
}

static void test_output(void **state)
{
	(void)state;
	prctl(PR_SET_NAME, "me\x1b");
	faketool_main(tool_main, "-r main.*", as_text);
	faketool_main(tool_main, "-PT main.*", by_process);
	faketool_main(tool_main, "--folded main.*", as_folded);
	faketool_main(tool_main, "-jT main.*", as_json);
	faketool_main(tool_main, "-j main.*", of_several);
	faketool_main(tool_main, "-f --pprof f main.*", as_profile);
}

/* --- what fails, and what is lost --- */

static void failing(struct toolrun *run)
{
	assert_int_equal(run->begin(run->ctx, FAKETOOL_SOME(tracer), &failure),
			 0); /* reads nothing */
	faketool.at_once = false;
	assert_int_equal(run->begin(run->ctx, FAKETOOL_SOME(tracer), &failure), -1);
	assert_string_equal(told, "skip ");
	assert_string_equal(failure.text, "cannot read the counts: Operation not permitted");
	failure = (struct errmsg){0};
	printed_begin();
	assert_int_equal(run->show(run->ctx, false, &failure), -1);
	free(printed_end());
	assert_string_equal(failure.text, "cannot read the counts: Operation not permitted");
	fails = false;
	assert_int_equal(run->begin(run->ctx, FAKETOOL_SOME(tracer), &failure), 0);
	assert_string_equal(told, "skip read skip ");
}

static void losses(struct toolrun *run)
{
	assert_int_equal(run->begin(run->ctx, FAKETOOL_SOME(tracer), &failure), 0);
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect(
		"gostackcount: 3 calls have no stack: more of them than there is room for\n"
		"gostackcount: 4 calls were not counted: more stacks than there is room for\n");
}

static void test_failures(void **state)
{
	(void)state;
	fails = true;
	faketool_main(tool_main, "main.f", failing);
	faketool_main(tool_main, "main.f", losses);
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: gostackcount [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-r] [-D]\n"
		"                    [-j] [-P] [-f] [-n NAME] [--all] [--inlined] [--fips]\n"
		"                    [--force] [--max-cost PERCENT] [--pprof FILE] [--version]\n"
		"                    [BINARY:]PATTERN... [-- COMMAND [ARG...]]\n"
		"\n"
		"Count calls of Go functions by stack, exactly\n"
		"\n"
		"examples:\n"
		"    gostackcount 'etcd:*/wal.(*WAL).sync'    # who calls it?\n"
		"    gostackcount -p 181 runtime.mallocgc     # who allocates, in process 181?\n"
		"    gostackcount -d 10 -p 181 'net.(*conn).*'\n"
		"                                             # these methods, for ten seconds\n"
		"    gostackcount -P './server:main.handle'   # each process by itself\n"
		"    gostackcount -f -d 30 -p 181 'main.*' > out.stacks\n"
		"                                             # for flamegraph.pl\n"
		"\n"
		"all options: gostackcount --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: gostackcount [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-r] [-D]\n"
		"                    [-j] [-P] [-f] [-n NAME] [--all] [--inlined] [--fips]\n"
		"                    [--force] [--max-cost PERCENT] [--pprof FILE] [--version]\n"
		"                    [BINARY:]PATTERN... [-- COMMAND [ARG...]]\n"
		"\n"
		"Count calls of Go functions by stack, exactly\n"
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
		"  -P, --perpid          stacks of each process by themselves\n"
		"  -f, --folded          output folded format, for flame graphs\n"
		"  -n NAME, --name NAME  trace the Go programs that run and whose name contains\n"
		"                        NAME\n"
		"  --all                 trace all Go programs that run\n"
		"  --inlined             include inlined copies of the functions\n"
		"  --fips                include functions that FIPS mode checks, for processes\n"
		"                        that already run\n"
		"  --force               trace even if breakpoints take more memory than the\n"
		"                        process may use\n"
		"  --max-cost PERCENT    end when probes take more than PERCENT of a processor\n"
		"  --pprof FILE          write what is counted to FILE as well, for go tool\n"
		"                        pprof\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gostackcount 'etcd:*/wal.(*WAL).sync'    # who calls it?\n"
		"    gostackcount -p 181 runtime.mallocgc     # who allocates, in process 181?\n"
		"    gostackcount -d 10 -p 181 'net.(*conn).*'\n"
		"                                             # these methods, for ten seconds\n"
		"    gostackcount -P './server:main.handle'   # each process by itself\n"
		"    gostackcount -f -d 30 -p 181 'main.*' > out.stacks\n"
		"                                             # for flamegraph.pl\n"
		"    gostackcount --pprof out.pb.gz -p 181 'main.*'\n"
		"                                             # for go tool pprof\n"
		"    gostackcount 'main.*' -- ./app arg       # run a program\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_output, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
