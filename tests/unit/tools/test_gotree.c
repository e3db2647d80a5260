// SPDX-License-Identifier: Apache-2.0
/* gotree from its command line to its output: the trees are the test's. */
#include "fakerun.h"
#include "faketool.h"
#include "printed.h"

#define main tool_main
#include "tools/gotree.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include "unit.h" /* whose fail() and skip() may be names of the tool's */

enum { ROWS = 3, PID = FAKERUN_PID };

static struct selection_row rows[ROWS] = {{.name = "main.root", .funcs = 1},
					  {.name = "main.below", .funcs = 1},
					  {.name = "main.other", .funcs = 1}};
static struct selection_item items[ROWS];
static struct tree trees[2]; /* that the kernel side still has */
static struct goroutine_key keys[2];
static struct errmsg failure;

/* --- in place of what hits cost, and of a trial --- */

struct hitcost_trial *hitcost_start(void)
{
	return FAKETOOL_SOME(hitcost_trial);
}

struct hitcost hitcost_end(struct hitcost_trial *trial)
{
	assert_ptr_equal(trial, FAKETOOL_SOME(hitcost_trial));
	return (struct hitcost){.emulated = 500, .stepped = 2000};
}

int trial_run(const struct tracer_config *config, uint64_t ns, trial_fn *fn, void *ctx,
	      struct errmsg *err)
{
	static const uint64_t counts[ROWS] = {1, 2, 3};
	const struct selection_want *want = &config->want;

	faketool_note("trial of %s %s pid %d cpu %d%s%s%s%s %d ms\n", config->patterns[0],
		      config->bpf_file, config->pid, config->cpu, config->force ? " force" : "",
		      want->regex ? " regex" : "", want->inlined ? " inlined" : "",
		      want->fips ? " fips" : "", (int)(ns / 1000000));
	assert_int_equal(config->pattern_count, 1);
	if (config->plan(config->plan_ctx, NULL, err))
		return -1;
	fn(ctx, &faketool.selection, counts, 12345);
	faketool.selection.row_count = 1;
	return 0;
}

struct hotcalls *hotcalls_new(const struct selection *sel, size_t first, const uint64_t *counts,
			      uint64_t took_ns, uint64_t budget)
{
	assert_ptr_equal(sel, &faketool.selection);
	faketool_note("hot from %zu: %d in %d ns, budget %d\n", first, (int)counts[2], (int)took_ns,
		      (int)budget);
	return FAKETOOL_SOME(hotcalls);
}

void hotcalls_free(struct hotcalls *hot)
{
	assert_true(!hot || hot == FAKETOOL_SOME(hotcalls));
}

void hotcalls_skip(const struct hotcalls *hot, struct selection *sel, size_t first)
{
	assert_ptr_equal(hot, FAKETOOL_SOME(hotcalls));
	assert_ptr_equal(sel, &faketool.selection);
	faketool_note("skip from %zu\n", first);
}

void hotcalls_say(FILE *out, const struct hotcalls *hot, const char *tool)
{
	assert_ptr_equal(hot, FAKETOOL_SOME(hotcalls));
	fprintf(out, "%s: hot\n", tool);
}

int treescope_add_module(struct selection *sel, size_t roots, char **taken, struct errmsg *err)
{
	assert_ptr_equal(sel, &faketool.selection);
	assert_int_equal(roots, sel->row_count);
	assert_null(*taken);
	*taken = strdup("module app\x1b");
	sel->row_count = ROWS;
	return faketool_answer("module", err);
}

int treescope_add_patterns(struct selection *sel, size_t roots, char *const *patterns, size_t count,
			   const char *binary, struct errmsg *err)
{
	assert_ptr_equal(sel, &faketool.selection);
	assert_int_equal(roots, sel->row_count);
	sel->row_count = ROWS;
	for (size_t i = 0; i < count; i++)
		faketool_note("%s of %s\n", patterns[i], binary ? binary : "-");
	return faketool_answer("patterns", err);
}

static bool has_two_programs;

bool treescope_is_first(const struct selection *sel, size_t row)
{
	assert_ptr_equal(sel, &faketool.selection);
	assert_true(row > 0);
	return has_two_programs;
}

/* --- in place of goroutines that are followed, and of a file --- */

struct follow *follow_new(void)
{
	return FAKETOOL_SOME(follow);
}

static bool has_channels;

void follow_channels(struct follow *follow)
{
	has_channels = follow != NULL;
}

bool follow_has_channels(const struct follow *follow)
{
	return follow && has_channels;
}

void follow_free(struct follow *follow)
{
	assert_true(!follow || follow == FAKETOOL_SOME(follow));
}

int follow_plan(struct follow *follow, struct tracer *tracer, struct errmsg *err)
{
	assert_ptr_equal(follow, FAKETOOL_SOME(follow));
	assert_null(tracer);
	return faketool_answer("plan follow", err);
}

int follow_begin(struct follow *follow, const struct tracer *tracer, struct errmsg *err)
{
	assert_ptr_equal(follow, FAKETOOL_SOME(follow));
	assert_null(tracer);
	return faketool_answer("begin follow", err);
}

void follow_gather(struct follow *follow, struct calltree *tree)
{
	assert_ptr_equal(follow, FAKETOOL_SOME(follow));
	tree->followed = true;
	faketool_note("gather\n");
}

void follow_forget(struct follow *follow, const struct tree_head *head)
{
	assert_ptr_equal(follow, FAKETOOL_SOME(follow));
	faketool_note("forget %d\n", (int)head->who.id);
}

void follow_sweep(struct follow *follow)
{
	assert_ptr_equal(follow, FAKETOOL_SOME(follow));
	faketool_note("sweep\n");
}

void follow_sweep_gone(const struct follow *follow, const struct processes *gone)
{
	assert_ptr_equal(follow, FAKETOOL_SOME(follow));
	assert_ptr_equal(gone, FAKETOOL_SOME(processes));
	faketool_note("sweep gone\n");
}

struct tracefile *tracefile_open(const char *path, struct errmsg *err)
{
	return faketool_answer(path, err) ? NULL : FAKETOOL_SOME(tracefile);
}

void tracefile_close(struct tracefile *file)
{
	assert_true(!file || file == FAKETOOL_SOME(tracefile));
	faketool_note(file ? "close\n" : "");
}

void tracefile_add(struct tracefile *file, const struct calltree *tree)
{
	assert_ptr_equal(file, FAKETOOL_SOME(tracefile));
	faketool_note("add %d\n", (int)tree->head.who.id);
}

int tracefile_write(struct tracefile *file, struct errmsg *err)
{
	assert_ptr_equal(file, FAKETOOL_SOME(tracefile));
	return faketool_answer("write", err);
}

void tracefile_say_left_out(const struct tracefile *file, const char *tool)
{
	assert_ptr_equal(file, FAKETOOL_SOME(tracefile));
	fprintf(stderr, "%s: left out\n", tool);
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	faketool.selection = (struct selection){
		.rows = rows, .row_count = 1, .items = items, .item_count = ROWS};
	for (uint32_t i = 0; i < ROWS; i++)
		items[i] = (struct selection_item){.row = i};
	memset(trees, 0, sizeof(trees));
	fakerun_begin();
	fakerun.key_size = sizeof(*keys);
	fakerun.value_size = sizeof(*trees);
	for (size_t i = 0; i < 2; i++) {
		fakerun.entries[i].key = &keys[i];
		fakerun.entries[i].value = &trees[i];
	}
	return 0;
}

/* ROOT's call by goroutine 18, from 1000 ns on, and one below it */
static struct tree_event event_of(uint64_t latency_ns)
{
	return (struct tree_event){.time_ns = 1000 + latency_ns,
				   .head = {.who = {.id = 18, .process.tgid = PID},
					    .pid = PID,
					    .comm = "app",
					    .count = 2},
				   .calls = {{.start_ns = 1000,
					      .latency_ns = latency_ns,
					      .parent = TREE_NONE,
					      .how = TREE_RETURNED},
					     {.start_ns = 1100,
					      .latency_ns = 200,
					      .row = 1,
					      .depth = 9,
					      .how = TREE_PANICKED}}};
}

static void begin_it(struct toolrun *run, const char *want)
{
	*faketool.said = '\0';
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_noted(want);
}

static void expect_started(struct toolrun *run, const char *out, const char *said)
{
	faketool_errors_begin();
	printed_begin();
	run->started(run->ctx);
	printed_expect(out);
	faketool_errors_expect(said);
}

/* What begins anew has what it had begun with before. */
static int begin_anew(struct toolrun *run)
{
	struct gotree *tool = run->ctx;

	calltree_pieces_free(tool->pieces);
	tool->pieces = NULL;
	return run->begin(run->ctx, NULL, &failure);
}

static void expect_failure(int status, const char *text)
{
	assert_int_equal(status, -1);
	assert_string_equal(failure.text, text);
}

static void plan_it(struct toolrun *run)
{
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
}

#define LOST                                                                                       \
	"gotree: 0 calls took less than --slower: not shown\n"                                     \
	"gotree: 1 calls have no tree: more at a time than there is room for\n"                    \
	"gotree: 2 calls have no tree: the kernel had no memory\n"                                 \
	"gotree: 3 calls have no tree: they were on a system stack\n"                              \
	"gotree: 4 calls are missing: the goroutine could not be read\n"                           \
	"gotree: 5 trees lost: the ring buffer was full\n"                                         \
	"gotree: 6 goroutines were not followed: more than there is room for\n"                    \
	"gotree: 7 goroutines were not followed: they could not be read\n"                         \
	"gotree: 8 values in channels were not followed: more than there is room for\n"            \
	"gotree: 9 values in channels were not followed: they could not be read\n"

static void as_text(struct toolrun *run)
{
	struct tree_event event = event_of(600);

	faketool_noted(
		"trial of app:main.root gofunccount.bpf.c pid 181 cpu -1 force regex inlined "
		"1000 ms\n"
		"module\n"
		"hot from 1: 3 in 12345 ns, budget 25000\n");
	faketool_expect_config(
		run, "gotree.bpf.c cpu -1 returns tails endless goroutines sleepable plan "
		     "app:main.root\n"
		     "TREES=256 SLOWER_NS=0 RING_PAGES=2048\n"
		     "gotree: begin show sweep lost stop events started\n");
	plan_it(run);
	faketool_noted("module\n"
		       "skip from 1\n");
	assert_string_equal(faketool.defined, "ROOT_ROWS=1 ");
	begin_it(run, "events\n"
		      "on\n");
	expect_started(run,
		       "Tracing calls of app:main.root, with 3 functions of module app\\x1b... Hit "
		       "Ctrl-C to end.\n",
		       "");
	printed_begin();
	assert_true(fakerun_send(&event, sizeof(event)));
	assert_true(fakerun_send(&event, sizeof(event) - 1));
	printed_expect("\n"
		       "main.root took 600ns: goroutine 18 of app, PID 181\n"
		       "    TOTAL      SELF  SHARE  FUNC\n"
		       "    600ns     400ns   100%  main.root\n"
		       "    200ns     200ns    33%    main.below (panicked)\n");
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect(LOST);
	*faketool.said = '\0';
	run->sweep(run->ctx);
	assert_int_equal(run->stop(run->ctx), 0);
	faketool_noted("off\n");
}

static void test_text(void **state)
{
	(void)state;
	faketool_errors_begin();
	int got = faketool_main(tool_main, "-p 181 -r --inlined --force app:main.root", as_text);

	faketool_errors_expect("gotree: hot\n");
	assert_int_equal(got, FAKETOOL_STATUS);
}

/* --- PATTERNs, JSON, -M --- */

static void followed(struct toolrun *run)
{
	struct tree_event event = event_of(600);

	faketool_expect_config(
		run, "gotree.bpf.c cpu -1 returns tails endless goroutines sleepable plan "
		     "app:main.root\n"
		     "TREES=1024 SLOWER_NS=500 RING_PAGES=2048\n"
		     "gotree: begin show sweep lost stop events started\n");
	plan_it(run);
	faketool_noted("main.* of app\n"
		       "x* of app\n"
		       "patterns\n"
		       "plan follow\n");
	begin_it(run, "events\n"
		      "begin follow\n"
		      "on\n");
	expect_started(
		run, "",
		"Tracing calls of app:main.root slower than 500ns and its goroutines, through "
		"channels, with 3 functions... Hit Ctrl-C to end.\n");
	printed_begin();
	assert_true(fakerun_send(&event, sizeof(event)));
	event.head.count = 0;
	assert_true(fakerun_send(&event, sizeof(event)));
	event = event_of(700);
	assert_false(fakerun_send(&event, sizeof(event)));
	assert_false(fakerun_send(&event, sizeof(event)));
	printed_expect(
		"{\"type\":\"call_tree\",\"time\":\"12:00:00\",\"pid\":181,\"goid\":18,"
		"\"comm\":\"app\",\"func\":\"main.root\",\"latency\":600,\"how\":\"return\","
		"\"calls\":[{\"func\":\"main.below\",\"depth\":1,\"start\":100,\"latency\":200,"
		"\"how\":\"panic\"}],\"cut\":0,\"cut_funcs\":[],\"cut_goroutines\":0,"
		"\"goroutines\":[]}\n"
		"{\"type\":\"call_tree\",\"time\":\"12:00:00\",\"pid\":181,\"goid\":18,"
		"\"comm\":\"app\",\"func\":\"main.root\",\"latency\":700,\"how\":\"return\","
		"\"calls\":[{\"func\":\"main.below\",\"depth\":1,\"start\":100,\"latency\":200,"
		"\"how\":\"panic\"}],\"cut\":0,\"cut_funcs\":[],\"cut_goroutines\":0,"
		"\"goroutines\":[]}\n");
	faketool_noted("gather\n"
		       "add 18\n"
		       "forget 18\n"
		       "gather\n"
		       "add 18\n");
}

static void swept(struct toolrun *run)
{
	fakerun.is_due = true;
	run->sweep(run->ctx);
	fakerun.has_gone = true;
	run->sweep(run->ctx);
	faketool_noted("look at processes\n"
		       "sweep\n"
		       "look at processes\n"
		       "sweep\n"
		       "read all\n"
		       "sweep trees\n"
		       "sweep gone\n"
		       "forget processes\n");
	printed_begin();
	assert_int_equal(run->show(run->ctx, true, &failure), 0);
	printed_expect("");
	faketool_noted("look at processes\n"
		       "trees\n"
		       "write\n");
	faketool.failing = "write";
	expect_failure(run->show(run->ctx, true, &failure), "write fails");
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect(LOST "gotree: left out\n");
}

static void as_json(struct toolrun *run)
{
	followed(run);
	swept(run);
	faketool.failing = "plan follow";
	expect_failure(run->config.plan(run->config.plan_ctx, NULL, &failure), "plan follow fails");
	faketool.failing = "patterns";
	expect_failure(run->config.plan(run->config.plan_ctx, NULL, &failure), "patterns fails");
}

static void test_json(void **state)
{
	(void)state;
	assert_int_equal(faketool_main(tool_main,
				       "-jT --slower 500ns -M 2 --follow-channels --perfetto out "
				       "app:main.root main.* x*",
				       as_json),
			 FAKETOOL_STATUS);
	faketool_noted("look at processes\n"
		       "trees\n"
		       "write\n"
		       "main.* of app\n"
		       "x* of app\n"
		       "patterns\n"
		       "plan follow\n"
		       "main.* of app\n"
		       "x* of app\n"
		       "patterns\n"
		       "close\n");
}

/* --- calls that go on --- */

static void set_tree(size_t i, uint64_t goroutine, uint64_t start_ns)
{
	const struct tree_event event = event_of(0);

	keys[i] = (struct goroutine_key){.id = goroutine, .process.tgid = PID};
	trees[i] = (struct tree){.head = event.head};
	trees[i].head.who.id = goroutine;
	trees[i].head.count = 1;
	trees[i].calls[0] = (struct tree_call){.start_ns = start_ns, .parent = TREE_NONE};
}

static void going_on(struct toolrun *run)
{
	set_tree(0, 18, 1000);
	set_tree(1, GOROUTINE_STARTED | 19, 1000);
	fakerun.entry_count = 2;
	plan_it(run);
	begin_it(run, "events\non\n");
	printed_begin();
	run->started(run->ctx);
	assert_int_equal(run->show(run->ctx, true, &failure), 0);
	set_tree(0, 20, 1000);
	fakerun.ended_ns = 4000;
	fakerun.is_due = fakerun.has_gone = true;
	run->sweep(run->ctx);
	set_tree(0, 21, 1000);
	fakerun.ended_ns = 3999;
	run->sweep(run->ctx);
	fakerun.ended_ns = 0;
	fakerun.now_ns = 6000;
	run->stop(run->ctx);
	fakerun.now_ns = 9000;
	set_tree(0, 22, 1000);
	assert_int_equal(run->show(run->ctx, true, &failure), 0);
	printed_expect("Tracing calls of main.root slower than 0.000003s, with 3 functions of "
		       "module app\\x1b... Hit Ctrl-C to end.\n\n12:00:00\n"
		       "main.root is running, for 4.00us so far: goroutine 18 of app, PID 181\n"
		       "    TOTAL      SELF  SHARE  FUNC\n"
		       "   4.00us    4.00us   100%  main.root (running)\n"
		       "\n12:00:00\n"
		       "main.root is running, for 3.00us so far: goroutine 20 of app, PID 181\n"
		       "    TOTAL      SELF  SHARE  FUNC\n"
		       "   3.00us    3.00us   100%  main.root (running)\n"
		       "\n12:00:00\n"
		       "main.root is running, for 5.00us so far: goroutine 22 of app, PID 181\n"
		       "    TOTAL      SELF  SHARE  FUNC\n"
		       "   5.00us    5.00us   100%  main.root (running)\n");
	faketool_noted("look at processes\n"
		       "trees\n"
		       "look at processes\n"
		       "sweep trees\n"
		       "kept 0\n"
		       "kept 1\n"
		       "forget processes\n"
		       "look at processes\n"
		       "sweep trees\n"
		       "kept 0\n"
		       "kept 1\n"
		       "forget processes\n"
		       "off\n"
		       "look at processes\n"
		       "trees\n");
	faketool.failing = "trees";
	fakerun.entry_count = 0;
	expect_failure(run->show(run->ctx, true, &failure),
		       "cannot read the trees: Operation not permitted");
}

static void test_running(void **state)
{
	(void)state;
	faketool_main(tool_main, "-T --slower 0.000003 main.root -- app", going_on);
}

/* --- what fails --- */

static void failures(struct toolrun *run)
{
	plan_it(run);
	faketool.failing = "events";
	expect_failure(begin_anew(run), "events fails");
	faketool.failing = "begin follow";
	expect_failure(begin_anew(run), "begin follow fails");
	faketool.failing = "on";
	expect_failure(begin_anew(run),
		       "cannot switch the BPF program on: Operation not permitted");
	faketool.failing = NULL;
	faketool.selection.row_count = 2;
	has_two_programs = true;
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), -1);
	assert_string_equal(failure.text, "--follow: in one program only");
	has_two_programs = false;
	faketool.selection.row_count = 1;
	faketool.failing = "module";
	expect_failure(run->config.plan(run->config.plan_ctx, NULL, &failure), "module fails");
	faketool.failing = NULL;
	faketool.runtime.split_stack = true;
	expect_failure(run->config.plan(run->config.plan_ctx, NULL, &failure),
		       "programs of gccgo have their stacks in pieces: no tree of calls is made of "
		       "these");
	assert_string_equal(failure.hint, "gofunclatency --summary times the same functions");
}

static void no_root(struct toolrun *run)
{
	plan_it(run);
	items[0].skipped = "no place";
	expect_failure(begin_anew(run), "main.root cannot be traced: no place");
	items[0].row = 1;
	expect_failure(begin_anew(run), "main.root cannot be traced: it has no code");
}

static void expect_refused(const char *words, int status, const char *want)
{
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, words, faketool_never), status);
	faketool_errors_expect(want);
}

static void test_failures(void **state)
{
	faketool_main(tool_main, "--follow main.root -- app", failures);
	setup(state);
	faketool_main(tool_main, "main.root -- app", no_root);
	expect_refused("-M 0 app:f", 2, "gotree: -M: \"0\" is not a number of trees\nusage: g...");
	expect_refused("-M x app:f", 2, "gotree: -M: \"x\" is not a number of trees\nusage: g...");
	expect_refused("--slower x app:f", 2,
		       "gotree: --slower: \"x\" is not a time, such as 10ms\nusage: gotree...");
	expect_refused("--slower 0 app:f", 2,
		       "gotree: --slower: \"0\" is not a time, such as 10ms\nusage: gotree...");
	faketool.failing = "out";
	expect_refused("--perfetto out app:f", 1, "gotree: out fails\n");
	expect_refused("f", 1,
		       "gotree: no BINARY in \"f\"\n"
		       "hint: give BINARY:PATTERN, or a process with -p PID or -- COMMAND\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_text, setup),
		cmocka_unit_test_setup(test_json, setup),
		cmocka_unit_test_setup(test_running, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
