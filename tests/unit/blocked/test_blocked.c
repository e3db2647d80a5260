// SPDX-License-Identifier: Apache-2.0
/* The life of a tool that adds up blocked time: its options, what it defines, and what it makes of
 * its maps. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "blocked/blocked_internal.h"
#include "blockedrun.h"
#include "faketool.h"
#include "printed.h"
#include "selection/runtime_func.h"
#include "tracing/options.h"

/* --- a tool --- */

static void above(const struct blocked *blocked, const struct wait_key *key, bool folded)
{
	(void)blocked;
	printf(folded ? "stack%llu;" : "    stack%llu\n", key->stack);
}

static void add_members(const struct blocked *blocked, const struct wait_key *key,
			struct json *json)
{
	(void)blocked;
	(void)key;
	(void)json;
}

static struct blocked_tool tool = {.name = "test",
				   .about = "about",
				   .examples = "",
				   .bpf_file = "test.bpf.c",
				   .by = "stack",
				   .type = "waited",
				   .wait = "wait",
				   .waits = "waits",
				   .above = above,
				   .json = add_members};

static int begin(void **state)
{
	(void)state;
	tool.open_rows = false;
	tool.settle = NULL;
	blockedrun_begin();
	return 0;
}

static int tool_main(int argc, char **argv)
{
	return blocked_main(&tool, argc, argv);
}

static void main_expect(void (*run)(struct toolrun *), const char *words)
{
	assert_int_equal(faketool_main(tool_main, words, run), FAKETOOL_STATUS);
}

static struct errmsg err;

static int plan(struct toolrun *run)
{
	*faketool.defined = '\0';
	return run->config.plan(run->config.plan_ctx, NULL, &err);
}

static void start(struct toolrun *run)
{
	assert_int_equal(plan(run), 0);
	assert_int_equal(run->begin(run->ctx, NULL, &err), 0);
	assert_int_equal(blockedrun.control, 1);
}

/* --- what it is run with --- */

static void look_at_run(struct toolrun *run)
{
	assert_string_equal(run->tool->name, "test");
	assert_int_equal(run->config.cpu, -1);
	assert_int_equal(run->config.runtime_func_count, 1);
	assert_string_equal(run->config.runtime_funcs[0].names[0], "runtime.casgstatus");
	assert_string_equal(run->config.bpf_file, "test.bpf.c");
	assert_true(run->config.goroutines && run->config.sleepable && !run->quiet_end);
	assert_int_equal(run->config.def_count, 5);
	for (size_t i = 0; i < 5; i++)
		sprintf(faketool.defined + strlen(faketool.defined), "%s=%lld ",
			run->config.defs[i].name, (long long)run->config.defs[i].value);
	assert_string_equal(faketool.defined, "WAITS=1048576 STACKS=16384 SUMS=65536 MIN_NS=7000 "
					      "MAX_NS=9000000 ");
	assert_true(run->folded);
	assert_int_equal(plan(run), 0);
	assert_string_equal(faketool.defined, "STACKS_OF=1 REASONS=8 G_WAITREASON=176 ");
}

static void look_at_defaults(struct toolrun *run)
{
	assert_int_equal(run->config.defs[3].value, 0);
	assert_int_equal(run->config.defs[4].value, INT64_MAX);
	assert_false(run->folded);
	assert_int_equal(plan(run), 0);
	assert_string_equal(faketool.defined, "STACKS_OF=1 REASONS=-1 G_WAITREASON=176 ");
	faketool.runtime.g_waitreason = 0;
	assert_int_equal(plan(run), -1);
	assert_string_equal(err.text, "\"/bin/bank\": what goroutines wait for is not found in the "
				      "code of runtime.waitReason.String");
}

static void test_options(void **state)
{
	(void)state;
	main_expect(look_at_run, "-f -m 7 -M 9000 --state chan?r* x");
	main_expect(look_at_defaults, "x");
}

static void test_bad_options(void **state)
{
	(void)state;
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, "-m x y", faketool_never), 2);
	faketool_errors_expect("test: \"x\" is not a number of microseconds\n...");
}

static void look_at_state(struct toolrun *run)
{
	assert_int_equal(plan(run), -1);
	assert_string_equal(err.text, "\"/bin/bank\": its goroutines have no state \"sync.Foo\"");
	assert_string_equal(err.hint, "without --state, test shows which they have");
}

/* A number for which the program has no words is none of its states. */
static void look_at_number(struct toolrun *run)
{
	assert_int_equal(plan(run), -1);
	assert_string_equal(err.text,
			    "\"/bin/bank\": its goroutines have no state \"wait?reason?5\"");
}

static void look_at_known_state(struct toolrun *run)
{
	assert_int_equal(plan(run), 0);
	assert_string_equal(faketool.defined, "STACKS_OF=1 REASONS=520 G_WAITREASON=176 ");
}

static void test_states(void **state)
{
	(void)state;
	main_expect(look_at_state, "--state sync.Foo x");
	main_expect(look_at_number, "--state wait?reason?5 x");
	main_expect(look_at_known_state, "--state *[ek] x");
}

/* --- what it shows --- */

static const char *shown;

static void show_all(struct toolrun *run)
{
	start(run);
	printed_begin();
	run->started(run->ctx);
	run->stop(run->ctx);
	assert_int_equal(blockedrun.control, 0);
	assert_int_equal(run->show(run->ctx, true, &err), 0);
	printed_expect(shown);
}

#define ROW(stack, state, us, count, max)                                                          \
	"    stack" stack "\n    -                - (2147483647): " state "\n        " us          \
	" in " count ", at most " max "\n\n"
#define TITLE "Tracing blocked time (us) of goroutines by stack... Hit Ctrl-C to end.\n\n"

/* Of which the same is shown, rows become one; the largest is last. */
static void test_rows(void **state)
{
	(void)state;
	blockedrun_add_sum(21, 3, 1, 700, 700);
	blockedrun_add_sum(11, 3, 2, 300, 200);
	blockedrun_add_sum(12, 3, 3, 500, 250);
	blockedrun_add_sum(15, 3, 1, 10, 10);
	blockedrun_add_sum(11, 9, 1, 700, 700);
	shown = TITLE ROW("11", "sync.Mutex.Lock", "700", "1 wait", "700")
		ROW("21", "chan receive", "700", "1 wait", "700")
			ROW("11", "chan receive", "810", "6 waits", "250");
	main_expect(show_all, "x");
	blockedrun.sum_count = 0;
	shown = TITLE;
	main_expect(show_all, "x");
}

static void show_folded(struct toolrun *run)
{
	start(run);
	faketool_errors_begin();
	run->started(run->ctx);
	faketool_errors_expect(
		"Tracing blocked time (us) of goroutines by stack... Hit Ctrl-C to end.\n");
	run->stop(run->ctx);
	printed_begin();
	assert_int_equal(run->show(run->ctx, true, &err), 0);
	printed_expect("stack11;[sync.Mutex.Lock] 7\nstack11;[chan receive] 8\n");
}

static void settle(const struct blocked *blocked, struct wait_key *key)
{
	(void)blocked;
	key->stack = 11;
}

static void test_folded(void **state)
{
	(void)state;
	tool.settle = settle;
	blockedrun_add_sum(21, 3, 1, 5, 5);
	blockedrun_add_sum(11, 3, 2, 3, 2);
	blockedrun_add_sum(12, 9, 2, 7, 2);
	main_expect(show_folded, "-f x");
}

/* --- waits that have not ended --- */

static void show_open(struct toolrun *run)
{
	struct blocked *blocked = run->ctx;

	start(run);
	run->sweep(run->ctx);
	assert_int_equal(blockedrun.looks, blockedrun.is_due);
	uint64_t now = clock_ns();

	run->stop(run->ctx);
	assert_true(blocked->stopped_ns >= now && blocked->stopped_ns <= clock_ns());
	blocked->stopped_ns = 9000 * BLOCKEDRUN_US;
	printed_begin();
	assert_int_equal(run->show(run->ctx, true, &err), 0);
	printed_expect(shown);
}

static void make_open(void)
{
	blockedrun_add_open(11, 3, 1000, false, false); /* 8000 us */
	blockedrun_add_open(12, 3, 8500, false, false); /* 500 us: too short */
	blockedrun_add_open(13, 3, 2000, false, false); /* 7000 us */
	blockedrun_add_open(11, 3, 3000, true, false);  /* 2000 us */
	blockedrun_add_open(11, 3, 1500, true, false);  /* 3500 us */
	blockedrun_add_open(11, 9, 1500, true, false);
	blockedrun_add_open(11, 5, 1000, false, false); /* another reason */
}

static void test_open(void **state)
{
	(void)state;
	make_open();
	blockedrun.is_due = true;
	shown = "\nnot in the sums: 2 in processes that ended, 2 still waiting\n\n";
	main_expect(show_open, "-m 1000 --state chan?* x");
	begin(NULL);
	make_open();
	shown = "\nnot in the sums: 2 in processes that ended, 1 still waiting\n\n";
	main_expect(show_open, "-m 1000 -M 7000 --state chan?* x");
	begin(NULL);
	blockedrun_add_open(11, 3, 9500, false, false); /* it began when tracing had ended */
	shown = "\nnot in the sums: 1 still waiting\n\n";
	main_expect(show_open, "x");
	begin(NULL);
	make_open();
	shown = "\nnot in the sums: 1 in processes that ended, 2 still waiting\n\n";
	main_expect(show_open, "-m 3000 --state chan?* x");
}

/* JSON has rows of them */
static void test_open_rows(void **state)
{
#define OBJECT(waits, total, waiting, ended, open)                                                 \
	"{\"type\":\"waited\",\"pid\":2147483647,\"comm\":\"-\",\"state\":\"chan receive\","       \
	"\"waits\":" waits ",\"total_ns\":" total ",\"max_ns\":" total ",\"waiting\":" waiting     \
	",\"process_ended\":" ended ",\"open_ns\":" open "}\n"
	(void)state;
	tool.open_rows = true;
	blockedrun_add_sum(21, 3, 1, 700, 700);
	make_open();
	blockedrun.is_due = true;
	shown = OBJECT("0", "0", "2", "2", "20500000") OBJECT("1", "700000", "0", "0", "0");
	faketool_errors_begin();
	main_expect(show_open, "-j -m 1000 --state chan?* x");
	faketool_errors_expect("not in the sums: 2 in processes that ended, 2 still waiting\n");
}

/* --- what fails, and what is lost --- */

static void fail_each(struct toolrun *run)
{
	static const char *const maps[] = {"sums", "waits"};

	assert_int_equal(plan(run), 0);
	blockedrun.failing = "control";
	assert_int_equal(run->begin(run->ctx, NULL, &err), -1);
	assert_string_equal(err.text, "cannot switch the BPF program on: Operation not permitted");
	for (size_t i = 0; i < 2; i++) {
		blockedrun.failing = maps[i];
		assert_int_equal(run->show(run->ctx, true, &err), -1);
		assert_string_equal(err.text, "cannot read the sums: Operation not permitted");
	}
	blockedrun.failing = "losses";
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect("test: cannot read what was lost: Operation not permitted\n");
	blockedrun.failing = NULL;
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect("");
	for (size_t i = 0; i < WAIT_LOSSES; i++)
		blockedrun.lost[i] = 5 + i;
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect("test: 5 waits were lost: more goroutines than there is room for\n"
			       "test: 6 waits were lost: more stacks and states than there is room "
			       "for\n"
			       "test: 7 waits have no stack: more of them than there is room for\n"
			       "test: 8 waits were lost: the goroutine could not be read\n"
			       "test: 9 waits have no labels: more sets of these than there is "
			       "room for\n");
}

static void test_failures(void **state)
{
	(void)state;
	main_expect(fail_each, "x");
}

/* --- beside another measurement --- */

static char told[512];

static int beside_begin(void *ctx, struct profile *written, struct errmsg *unused)
{
	(void)unused;
	assert_ptr_equal(ctx, told);
	assert_null(written);
	assert_int_equal(blockedrun.control, 1);
	assert_int_equal(blockedrun.notes, 0);
	return faketool.status == 5 ? -1 : 0;
}

static void beside_started(void *ctx)
{
	strcat(ctx, "started ");
}

static void beside_stop(void *ctx)
{
	assert_int_equal(blockedrun.control, 1);
	strcat(ctx, "stop ");
}

static void beside_row(void *ctx, const struct blocked *blocked, const struct wait_key *key,
		       const char *reason, uint64_t ns)
{
	(void)blocked;
	sprintf((char *)ctx + strlen(ctx), "%llu %s %llu, ", key->stack, reason,
		(unsigned long long)ns / BLOCKEDRUN_US);
}

static void beside_show(void *ctx)
{
	strcat(ctx, "show ");
}

static void beside_lost(void *ctx)
{
	strcat(ctx, "lost");
}

static const struct blocked_beside beside = {.begin = beside_begin,
					     .started = beside_started,
					     .stop = beside_stop,
					     .row = beside_row,
					     .show = beside_show,
					     .lost = beside_lost,
					     .ctx = told};

static void run_beside(struct toolrun *run)
{
	struct blocked *blocked = run->ctx;

	assert_int_equal(run->config.def_count, 6);
	assert_string_equal(run->config.defs[5].name, "PARKED");
	assert_int_equal(run->config.defs[5].value, 1 << 20);
	assert_true(run->quiet_end);
	assert_int_equal(plan(run), 0);
	assert_int_equal(run->begin(run->ctx, NULL, &err), faketool.status == 5 ? -1 : 0);
	assert_int_equal(blockedrun.notes, faketool.status != 5);
	if (faketool.status == 5)
		return;
	run->started(run->ctx);
	run->stop(run->ctx);
	blocked->stopped_ns = 9000 * BLOCKEDRUN_US;
	printed_begin();
	assert_int_equal(run->show(run->ctx, true, &err), 0);
	run->lost(run->ctx);
	printed_expect("");
	blockedrun.failing = "parked";
	assert_int_equal(run->show(run->ctx, true, &err), -1);
}

static void test_beside(void **state)
{
	struct options opts = {0};
	const struct options_tool other = {.name = "other"};

	(void)state;
	tool.open_rows = true;
	faketool.run = run_beside;
	blockedrun_add_sum(11, 3, 2, 300, 200);
	blockedrun_add_sum(12, 9, 3, 500, 250);
	blockedrun_add_open(21, 3, 1000, false, false);
	blockedrun_add_open(22, WAIT_RUNNABLE, 2000, false, true);
	assert_int_equal(blocked_run_beside(&tool, &beside, &other, &opts), 7);
	assert_string_equal(told, "started stop 11 chan receive 300, 12 sync.Mutex.Lock 500, "
				  "21 chan receive 8000, 22 runnable 7000, show lost");
	assert_int_equal(blockedrun.deleted, 1 + 1); /* what was seen to wait again */
	begin(NULL);
	faketool.run = run_beside;
	faketool.status = 5;
	assert_int_equal(blocked_run_beside(&tool, &beside, &other, &opts), 5);
}

/* What they wait for now, where the kernel side could not know it: in the memory of the process, in
 * g.waitreason. */
static void run_of_memory(struct toolrun *run)
{
	struct blocked *blocked = run->ctx;

	assert_int_equal(plan(run), 0);
	assert_int_equal(run->begin(run->ctx, NULL, &err), 0);
	run->stop(run->ctx);
	blocked->stopped_ns = 9000 * BLOCKEDRUN_US;
	assert_int_equal(run->show(run->ctx, true, &err), 0);
}

static void run_without_memory(struct toolrun *run)
{
	assert_int_equal(plan(run), 0);
	assert_int_equal(run->begin(run->ctx, NULL, &err), -1);
	assert_string_equal(err.text, "no process with PID 2147483647");
}

static void test_memory(void **state)
{
	const struct options_tool other = {.name = "other"};
	struct options opts = {.pid = getpid()};
	unsigned char g[2][200] = {{0}};

	(void)state;
	for (int release = 19; release <= 20; release++) {
		begin(NULL);
		tool.open_rows = true;
		*told = '\0';
		faketool.program.release = release;
		faketool.run = run_of_memory;
		g[0][176] = g[1][176] = 9;
		blockedrun_add_open(21, 3, 1000, false, false);
		blockedrun_add_open(22, WAIT_RUNNABLE, 2000, false, true);
		blockedrun_add_open(23, 3, 4000, false, true); /* whose memory is gone */
		for (int i = 0; i < 2; i++)
			blockedrun.open_waits[i].key.id = (uintptr_t)g[i];
		assert_int_equal(blocked_run_beside(&tool, &beside, &other, &opts), 7);
		assert_string_equal(told, release == 19 ? "stop 21 sync.Mutex.Lock 8000, 22 "
							  "runnable 7000, 23 chan receive 5000, "
							  "show "
							: "stop 21 chan receive 8000, 22 runnable "
							  "7000, 23 chan receive 5000, show ");
	}
	faketool.program.release = 19;
	opts.pid = BLOCKEDRUN_PID;
	faketool.run = run_without_memory;
	assert_int_equal(blocked_run_beside(&tool, &beside, &other, &opts), 7);
}

static const struct blocked_beside with_labels = {
	.begin = beside_begin, .started = beside_started, .labels = true, .ctx = told};

static void run_labels(struct toolrun *run)
{
	struct wait_labels set;

	assert_int_equal(plan(run), 0);
	assert_non_null(strstr(faketool.defined, "G_LABELS="));
	assert_non_null(strstr(faketool.defined, "LABEL_SETS=4096 "));
	assert_int_equal(strstr(faketool.defined, "LABEL_MAP=1 ") != NULL,
			 faketool.program.release < 24);
	assert_int_equal(run->begin(run->ctx, NULL, &err), 0);
	assert_false(blocked_labels(run->ctx, &(struct wait_key){0}, &set));
	assert_true(blocked_labels(run->ctx, &(struct wait_key){.labels = 5}, &set));
	assert_true(set.sample.labels == 2 && !set.sample.labels_cut);
	assert_true(blocked_labels(run->ctx, &(struct wait_key){.labels = WAIT_LABELS_LOST}, &set));
	assert_true(!set.sample.labels && set.sample.labels_cut);
}

static void test_labels(void **state)
{
	struct options opts = {0};
	const struct options_tool other = {.name = "other"};

	(void)state;
	faketool.run = run_labels;
	assert_int_equal(blocked_run_beside(&tool, &with_labels, &other, &opts), 7);
	begin(NULL);
	faketool.program.release = 23;
	faketool.run = run_labels;
	assert_int_equal(blocked_run_beside(&tool, &with_labels, &other, &opts), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_options, begin),
		cmocka_unit_test_setup(test_bad_options, begin),
		cmocka_unit_test_setup(test_states, begin),
		cmocka_unit_test_setup(test_rows, begin),
		cmocka_unit_test_setup(test_folded, begin),
		cmocka_unit_test_setup(test_open, begin),
		cmocka_unit_test_setup(test_open_rows, begin),
		cmocka_unit_test_setup(test_failures, begin),
		cmocka_unit_test_setup(test_beside, begin),
		cmocka_unit_test_setup(test_memory, begin),
		cmocka_unit_test_setup(test_labels, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
