// SPDX-License-Identifier: Apache-2.0
/* gocancels from its command line to its output: what was cancelled is the test's. */
#include "fakerun.h"
#include "faketool.h"
#include "gofile_open.h"
#include "printed.h"

#define main tool_main
#include "tools/gocancels.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include "unit.h"

enum { ENTRY = 0x401000 };

static struct selection_row rows[1] = {{.name = "context.cancel"}};
static struct selection_item items[CANCEL_FUNCS];
static struct cancellation next; /* that an event is */
static struct opened program;
static struct errmsg failure;

/* --- in place of stacks, types, and what is made of an event --- */

int stacks_define(struct tracer *tracer, const char *tool, struct errmsg *err)
{
	assert_null(tracer);
	return faketool_answer(tool, err);
}

struct stacks *stacks_new(const struct tracer *tracer)
{
	assert_null(tracer);
	return FAKETOOL_SOME(stacks);
}

void stacks_free(struct stacks *stacks)
{
	assert_true(!stacks || stacks == FAKETOOL_SOME(stacks));
}

struct alloc_types *alloc_types_new(const struct program *prog)
{
	assert_ptr_equal(prog, &faketool.program);
	return FAKETOOL_SOME(alloc_types);
}

void alloc_types_free(struct alloc_types *types)
{
	assert_true(!types || types == FAKETOOL_SOME(alloc_types));
}

void cancellation_read(const struct cancel_event *event, uint64_t cancel,
		       const struct stacks *stacks, struct alloc_types *types,
		       struct cancellation *out)
{
	assert_ptr_equal(stacks, FAKETOOL_SOME(stacks));
	assert_ptr_equal(types, FAKETOOL_SOME(alloc_types));
	assert_int_equal(cancel, ENTRY + CANCEL_FUNC_CALL);
	assert_int_equal(event->time_ns, 77);
	*out = next;
}

static void check_view(const struct cancels_view *view)
{
	assert_ptr_equal(view->stacks, FAKETOOL_SOME(stacks));
	assert_ptr_equal(view->types, FAKETOOL_SOME(alloc_types));
	if (view->timestamp != (view->time == toolrun_json_time))
		fail_msg("only one of the lines and JSON has a time");
	fputs(view->timestamp ? "time " : "", stdout);
}

void cancels_print_head(const struct cancels_view *view)
{
	check_view(view);
	puts("HEAD");
}

void cancels_print(const struct cancels_view *view, const struct cancellation *of)
{
	check_view(view);
	printf("text %d\n", of->how);
}

void cancels_json(const struct cancels_view *view, const struct cancellation *of)
{
	check_view(view);
	printf("JSON %d\n", of->how);
}

void cancels_count(const struct cancellation *of, struct tally *tally)
{
	tally_add(tally, of->how == CANCELLATION_CALL ? "call" : "deadline");
}

static void print_count(const char *text, uint64_t count, void *ctx)
{
	(void)ctx;
	printf("%d %s\n", (int)count, text);
}

void cancels_print_counts(const struct tally *tally)
{
	tally_each(tally, print_count, NULL);
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	fakerun_begin();
	gofile_make(&program.g, 27, EM_X86_64);
	open_it(&program);
	for (size_t i = 0; i < CANCEL_FUNCS; i++) {
		items[i] = (struct selection_item){.group = i};
		items[i].sites.entry.addr = ENTRY + i;
	}
	faketool.selection = (struct selection){
		.rows = rows, .row_count = 1, .items = items, .item_count = CANCEL_FUNCS};
	faketool.program = (struct program){
		.path = "/bin/app", .release = 27, .release_told = true, .img = program.img};
	faketool.runtime = (struct goruntime){.g_status = 144};
	next = (struct cancellation){.waited = true};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close_it(&program);
	return 0;
}

/* What is told of one that nobody waits for, and of all kinds that somebody does */
static void send_all(void)
{
	struct cancel_event event = {.time_ns = 77};

	assert_true(fakerun_send(&event, sizeof(event) - 1));
	for (int how = CANCELLATION_CALL; how <= CANCELLATION_STOP; how++) {
		next.how = how;
		next.waited = how != CANCELLATION_PARENT;
		assert_true(fakerun_send(&event, sizeof(event)));
	}
}

static void begin_it(struct toolrun *run)
{
	*faketool.said = '\0';
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_noted("events\non\n");
}

static void expect_run(struct toolrun *run, const char *said, const char *want)
{
	begin_it(run);
	faketool_errors_begin();
	printed_begin();
	run->started(run->ctx);
	send_all();
	assert_int_equal(run->show(run->ctx, false, &failure), 0);
	assert_int_equal(run->show(run->ctx, true, &failure), 0);
	printed_expect(want);
	faketool_errors_expect(said);
}

#define TITLE "Tracing cancelled contexts that somebody waits for... Hit Ctrl-C to end.\n"
#define TITLE_ALL "Tracing cancelled contexts... Hit Ctrl-C to end.\n"

static void plain(struct toolrun *run)
{
	faketool_expect_config(run,
			       "gocancels.bpf.c cpu -1 goroutines sleepable plan "
			       "context.(*cancelCtx).propagateCancel context.(*cancelCtx).cancel "
			       "runtime.ready\n"
			       "CONTEXTS=65536 CALLS=16384 STACKS=16384 RING_PAGES=1024\n"
			       "gocancels: begin show sweep lost stop events started\n");
	expect_run(run, "", TITLE "HEAD\ntext 0\ntext 1\n");
	fakerun.is_due = true;
	run->sweep(run->ctx);
	fakerun.has_gone = true;
	run->sweep(run->ctx);
	run->stop(run->ctx);
	faketool_noted("look at processes\n"
		       "look at processes\n"
		       "sweep contexts\n"
		       "sweep frames\n"
		       "sweep calls\n"
		       "forget processes\n"
		       "off\n");
	fakerun.is_due = false;
	run->sweep(run->ctx);
	faketool_noted("");
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect(
		"gocancels: 0 cancellations were lost: the ring buffer was full\n"
		"gocancels: 1 cancellations were lost: more at a time than there is room for\n"
		"gocancels: 2 calls were lost: the goroutine or its arguments could not be "
		"read\n"
		"gocancels: 3 cancellations were lost: a panic has ended the call\n"
		"gocancels: 4 stacks are not known: unreadable, or more than there is room "
		"for\n");
}

static void of_all(struct toolrun *run)
{
	faketool_expect_config(run,
			       "gocancels.bpf.c cpu -1 goroutines sleepable plan "
			       "context.(*cancelCtx).propagateCancel context.(*cancelCtx).cancel "
			       "runtime.ready\n"
			       "CONTEXTS=65536 CALLS=16384 STACKS=16384 RING_PAGES=1024 ALL=1\n"
			       "gocancels: begin show sweep lost stop events started\n");
	expect_run(run, "", TITLE_ALL "time HEAD\ntime text 0\ntime text 1\ntime text 2\n");
}

static void as_json(struct toolrun *run)
{
	expect_run(run, TITLE, "JSON 0\nJSON 1\n");
}

static void timed_json(struct toolrun *run)
{
	expect_run(run, TITLE_ALL, "time JSON 0\ntime JSON 1\ntime JSON 2\n");
}

static void counted(struct toolrun *run)
{
	expect_run(run, "", TITLE "\n1 call\n1 deadline\n\n");
}

static void test_output(void **state)
{
	(void)state;
	assert_int_equal(faketool_main(tool_main, "-p 181", plain), FAKETOOL_STATUS);
	faketool_main(tool_main, "-aT app", of_all);
	faketool_main(tool_main, "-j app", as_json);
	faketool_main(tool_main, "-jaAT app", timed_json);
	faketool_main(tool_main, "-A app", counted);
}

/* --- where things are --- */

static void expect_plan(struct toolrun *run, int release, const char *want)
{
	faketool.program.release = release;
	*faketool.defined = '\0';
	int ret = run->config.plan(run->config.plan_ctx, NULL, &failure);

	assert_string_equal(ret ? failure.text : faketool.defined, want);
}

static void plans(struct toolrun *run)
{
	expect_plan(run, 15,
		    "CONTEXT_DONE=24 CONTEXT_ERR=40 G_PARAM=136 SUDOG_CHANNEL=80 G_WAITING=32 ");
	expect_plan(run, 18,
		    "CONTEXT_DONE=32 CONTEXT_ERR=48 G_PARAM=136 SUDOG_CHANNEL=80 G_WAITING=32 ");
	expect_plan(run, 20,
		    "CONTEXT_DONE=32 CONTEXT_ERR=48 CONTEXT_CAUSE=64 G_PARAM=136 SUDOG_CHANNEL=80 "
		    "G_WAITING=32 ");
	expect_plan(run, 21,
		    "CONTEXT_DONE=32 CONTEXT_ERR=48 CONTEXT_CAUSE=64 JOIN_METHOD=1 G_PARAM=136 "
		    "SUDOG_CHANNEL=80 G_WAITING=32 ");
	expect_plan(run, 25,
		    "CONTEXT_DONE=32 CONTEXT_ERR=48 ERR_IS_VALUE=1 CONTEXT_CAUSE=64 JOIN_METHOD=1 "
		    "G_PARAM=136 SUDOG_CHANNEL=80 G_WAITING=32 ");
	expect_plan(run, 27,
		    "CONTEXT_DONE=32 CONTEXT_ERR=48 ERR_IS_VALUE=1 CONTEXT_CAUSE=64 JOIN_METHOD=1 "
		    "G_PARAM=136 SUDOG_CHANNEL=96 ");
	faketool.runtime.g_status = 0;
	expect_plan(run, 27, "\"/bin/app\": which release of Go has built it is not told");
	faketool.runtime.g_status = 144;
	faketool.program.release_told = false;
	expect_plan(run, 27, "\"/bin/app\": which release of Go has built it is not told");
	items[0].group = CANCEL_FUNC_READY;
	expect_plan(run, 27,
		    "\"/bin/app\" has no contexts that can be cancelled: it has no function "
		    "context.(*cancelCtx).cancel");
	items[0].group = CANCEL_FUNC_JOIN;
	items[1].group = CANCEL_FUNC_READY;
	expect_plan(run, 27,
		    "\"/bin/app\" has no contexts that can be cancelled: it has no function "
		    "context.(*cancelCtx).cancel");
	faketool.failing = "gocancels";
	expect_plan(run, 27, "gocancels fails");
}

static void expect_failure(struct toolrun *run, const char *want)
{
	struct gocancels *tool = run->ctx;

	tally_free(tool->tally);
	tool->tally = NULL;
	assert_int_equal(run->begin(run->ctx, NULL, &failure), -1);
	assert_string_equal(failure.text, want);
}

static void failures(struct toolrun *run)
{
	faketool.failing = "events";
	expect_failure(run, "events fails");
	faketool.failing = "on";
	expect_failure(run, "cannot switch the BPF program on: Operation not permitted");
	items[2].skipped = "no place";
	expect_failure(run, "context.cancel cannot be probed: no place");
}

static void test_plan(void **state)
{
	(void)state;
	faketool_main(tool_main, "app", plans);
	faketool_main(tool_main, "app", failures);
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, "", faketool_never), 2);
	faketool_errors_expect("gocancels: no BINARY, -p PID or -- COMMAND given\nusage: ...");
}

/* where fields of contexts are, by the release */
static void test_layouts(void **state)
{
	static const int some[] = {15, 16, 17, 19, 20, 21, 24, 25, 26, 27};

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		faketool.program.release = some[i];
		*faketool.defined = '\0';
		define_layout(FAKETOOL_SOME(tracer), &faketool.program);
		faketool_note("%d %s\n", some[i], faketool.defined);
	}
	faketool_noted(
		"15 CONTEXT_DONE=24 CONTEXT_ERR=40 G_PARAM=136 SUDOG_CHANNEL=80 G_WAITING=32 \n"
		"16 CONTEXT_DONE=24 CONTEXT_ERR=40 G_PARAM=136 SUDOG_CHANNEL=80 G_WAITING=32 \n"
		"17 CONTEXT_DONE=32 CONTEXT_ERR=48 G_PARAM=136 SUDOG_CHANNEL=80 G_WAITING=32 \n"
		"19 CONTEXT_DONE=32 CONTEXT_ERR=48 G_PARAM=136 SUDOG_CHANNEL=80 G_WAITING=32 \n"
		"20 CONTEXT_DONE=32 CONTEXT_ERR=48 CONTEXT_CAUSE=64 G_PARAM=136 SUDOG_CHANNEL=80 "
		"G_WAITING=32 \n"
		"21 CONTEXT_DONE=32 CONTEXT_ERR=48 CONTEXT_CAUSE=64 JOIN_METHOD=1 G_PARAM=136 "
		"SUDOG_CHANNEL=80 G_WAITING=32 \n"
		"24 CONTEXT_DONE=32 CONTEXT_ERR=48 CONTEXT_CAUSE=64 JOIN_METHOD=1 G_PARAM=136 "
		"SUDOG_CHANNEL=80 G_WAITING=32 \n"
		"25 CONTEXT_DONE=32 CONTEXT_ERR=48 ERR_IS_VALUE=1 CONTEXT_CAUSE=64 JOIN_METHOD=1 "
		"G_PARAM=136 SUDOG_CHANNEL=80 G_WAITING=32 \n"
		"26 CONTEXT_DONE=32 CONTEXT_ERR=48 ERR_IS_VALUE=1 CONTEXT_CAUSE=64 JOIN_METHOD=1 "
		"G_PARAM=136 SUDOG_CHANNEL=96 \n"
		"27 CONTEXT_DONE=32 CONTEXT_ERR=48 ERR_IS_VALUE=1 CONTEXT_CAUSE=64 JOIN_METHOD=1 "
		"G_PARAM=136 SUDOG_CHANNEL=96 \n");
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: gocancels [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-v] [-j] [-a]\n"
		"                 [-A] [--force] [--max-cost PERCENT] [--no-emulate] [--version]\n"
		"                 [BINARY] [-- COMMAND [ARG...]]\n"
		"\n"
		"Print contexts that are cancelled while somebody waits, and by whom\n"
		"\n"
		"examples:\n"
		"    gocancels -p 181           # who cancels what somebody waits for?\n"
		"    gocancels etcd             # in all processes of this program\n"
		"    gocancels -a -T -p 181     # all contexts, with the time of day\n"
		"    gocancels -A -i 10 -p 181  # counts by place, every 10 seconds\n"
		"    gocancels -jp 181          # JSON, with whole stacks\n"
		"\n"
		"all options: gocancels --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: gocancels [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-v] [-j] [-a]\n"
		"                 [-A] [--force] [--max-cost PERCENT] [--no-emulate] [--version]\n"
		"                 [BINARY] [-- COMMAND [ARG...]]\n"
		"\n"
		"Print contexts that are cancelled while somebody waits, and by whom\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -p PID, --pid PID     trace this PID only\n"
		"  -i INTERVAL, --interval INTERVAL\n"
		"                        summary interval, in seconds, or as 500ms\n"
		"  -d DURATION, --duration DURATION\n"
		"                        total duration of trace, in seconds, or as 1m30s\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -v, --verbose         print the BPF program, and what is left out, with the\n"
		"                        reasons\n"
		"  -j, --json            print JSON, one object a line\n"
		"  -a, --all             those that nobody waits for, too\n"
		"  -A, --aggregate       count them by who cancels and who creates the context,\n"
		"                        not with -j\n"
		"  --force               trace even if breakpoints take more memory than the\n"
		"                        process may use\n"
		"  --max-cost PERCENT    end when probes take more than PERCENT of a processor\n"
		"  --no-emulate          have the kernel execute returns, even if BPF could\n"
		"                        carry them out\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gocancels -p 181           # who cancels what somebody waits for?\n"
		"    gocancels etcd             # in all processes of this program\n"
		"    gocancels -a -T -p 181     # all contexts, with the time of day\n"
		"    gocancels -A -i 10 -p 181  # counts by place, every 10 seconds\n"
		"    gocancels -jp 181          # JSON, with whole stacks\n"
		"    gocancels -- ./app arg     # run a program from its start\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup_teardown(test_output, setup, teardown),
		cmocka_unit_test_setup_teardown(test_plan, setup, teardown),
		cmocka_unit_test_setup_teardown(test_layouts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
