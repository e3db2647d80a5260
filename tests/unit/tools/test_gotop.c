// SPDX-License-Identifier: Apache-2.0
/* gotop by what is typed: its screen, the processes and the time are the test's. */
#include "faketool.h"

/* other modules need what these stand in for */
#define signals_came typed_signals_came
#define signals_hold typed_signals_hold
#define process_runs typed_process_runs
#define main tool_main
#include "tools/gotop.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include "unit.h"

enum { PIDS = 4, PAGE = 2 };
#define SECOND_NS UINT64_C(1000000000)

static struct goprocesses_one all[PIDS];
static const int *keys; /* ends with 0: the end */
static uint64_t now_ns;
static bool opens, gone, runs;
static int failing_pid;
static size_t looks;

/* --- in place of time, signals and processes --- */

uint64_t clock_ns(void)
{
	return now_ns;
}

int signals_hold(void)
{
	return -1;
}

bool signals_came(void)
{
	return gone;
}

bool process_runs(const struct process *proc)
{
	assert_ptr_equal(proc, FAKETOOL_SOME(process));
	return runs;
}

static void fill(struct goprocesses *procs)
{
	for (int i = 0; i < 3; i++)
		all[i] = (struct goprocesses_one){.pid = 100 + i,
						  .proc = FAKETOOL_SOME(process),
						  .name = (char *)(i == 1 ? "etcd" : "app")};
	procs->all = all;
	procs->count = 3;
}

void goprocesses_more(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		      struct goprocesses *procs)
{
	assert_ptr_equal(work->ctx, &top);
	faketool_note("more of %s%s\n", wanted->name ? wanted->name : "-",
		      wanted->all ? " all" : "");
	if (!procs->count)
		fill(procs);
}

int goprocesses_open(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		     struct goprocesses *out, void (*failed)(void *ctx, const struct errmsg *err),
		     void *ctx, struct errmsg *err)
{
	const struct errmsg why = {.text = "not Go"};

	assert_ptr_equal(work->ctx, &top);
	assert_ptr_equal(work->result, &top.found);
	faketool_note("open %zu from %d\n", wanted->pid_count, wanted->pids[0]);
	fill(out);
	if (wanted->pids[0] == 7)
		failed(ctx, &why);
	return faketool_answer("open", err);
}

int goprocesses_look(struct goprocesses *procs, size_t i, int what, const void *more, size_t len,
		     uint64_t *count, struct errmsg *err)
{
	assert_int_equal(what, 0);
	assert_null(more);
	assert_int_equal(len, 0);
	*count = 1;
	looks++;
	if (procs->all[i].pid == failing_pid)
		return errmsg_set(err, "lost\x1b");
	top.found = (struct found){0};
	top.found.now.when_ns = now_ns;
	snprintf(top.found.name, sizeof(top.found.name), "%s", procs->all[i].name);
	return 0;
}

void statlook(struct stats_reader **reader, const struct goprocesses_one *one, struct stats *out)
{
	assert_ptr_equal(reader, &top.reader);
	out->when_ns = one->pid;
	faketool_note("statlook\n");
}

int goprocess_check(const struct goprocess *gp, struct errmsg *err)
{
	assert_ptr_equal(gp, FAKETOOL_SOME(goprocess));
	return faketool_answer("check", err);
}

const struct program *goprocess_program(const struct goprocess *gp)
{
	assert_ptr_equal(gp, FAKETOOL_SOME(goprocess));
	return NULL;
}

void goprocesses_drop(struct goprocesses *procs, size_t i)
{
	faketool_note("drop %d\n", procs->all[i].pid);
	procs->all[i] = procs->all[--procs->count];
}

bool goprocesses_close(struct goprocesses *procs)
{
	assert_ptr_equal(procs, &top.procs);
	return true;
}

/* what is done in the process that reads another: in place of its own */
static void test_look(void **state)
{
	const struct goprocesses_one one = {
		.pid = 42, .name = (char *)"etcd", .gp = FAKETOOL_SOME(goprocess)};
	struct errmsg err = {0};
	uint64_t count = 0;

	(void)state;
	assert_int_equal(look_at(&top, &one, 0, NULL, 0, &count, &err), 0);
	assert_int_equal(count, 1);
	assert_int_equal(top.found.now.when_ns, 42);
	assert_string_equal(top.found.name, "etcd");
	faketool.failing = "check";
	assert_int_equal(look_at(&top, &one, 0, NULL, 0, &count, &err), -1);
	assert_string_equal(err.text, "check fails");
	faketool.failing = NULL;
	faketool_noted("statlook\ncheck\nstatlook\ncheck\n");
}

/* --- in place of the screen --- */

int topscreen_open(struct errmsg *err)
{
	return opens ? 0 : errmsg_set(err, "no terminal");
}

void topscreen_close(void)
{
	faketool_note("closed\n");
}

/* What is typed; 'w': nothing, until it is time to look again */
int topscreen_key(void)
{
	if (!*keys) {
		gone = true;
		return -1;
	}
	if (*keys == 'w') {
		now_ns += 3 * SECOND_NS;
		keys++;
		return -1;
	}
	return *keys++;
}

size_t topscreen_page(void)
{
	return PAGE;
}

void topscreen_rows(const struct toptable *table, size_t first, size_t chosen, const char *below)
{
	faketool_note("%d%s", table->sort, table->reverse ? "r" : "");
	for (size_t i = 0; i < table->shown_count; i++)
		faketool_note("%s%s%d", i == first ? " |" : " ", i == chosen ? "*" : "",
			      table->shown[i]->pid);
	faketool_note(*below ? " \"%s\"\n" : "\n", below);
}

void topscreen_text(const char *title, const struct toptext *text, size_t first, size_t column)
{
	faketool_note("%s: %zu lines from %zu, column %zu\n", title, text->count, first, column);
}

void toptext_run(const char *tool, const char *const args[], struct toptext *out)
{
	faketool_note("run %s %s\n", tool, args[0]);
	assert_null(args[1]);
	*out = (struct toptext){.count = 7};
}

void toptext_free(struct toptext *text)
{
	*text = (struct toptext){0};
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	top = (struct gotop){.table = {.sort = TOPTABLE_CPU}};
	now_ns = 1000 * SECOND_NS;
	opens = runs = true;
	gone = false;
	failing_pid = 0;
	looks = 0;
	return 0;
}

/* The tool leaves its list of PIDs to its end. */
static int run_tool(const char *words)
{
	int status = faketool_main(tool_main, words, faketool_never);

	free(top.rt.pids);
	top.rt.pids = NULL;
	return status;
}

static void run_it(const char *words, const int *typed, const char *want)
{
	static const int none[] = {0};

	keys = typed ? typed : none;
	assert_int_equal(run_tool(words), 0);
	faketool_noted(want);
}

#define TYPED(...) ((const int[]){__VA_ARGS__, 0})

static void test_move(void **state)
{
	(void)state;
	run_it("1 2 3",
	       TYPED('>', '>', TOPSCREEN_DOWN, TOPSCREEN_DOWN, TOPSCREEN_DOWN, TOPSCREEN_UP,
		     TOPSCREEN_HOME, TOPSCREEN_END, TOPSCREEN_PAGE_UP, TOPSCREEN_PAGE_DOWN,
		     TOPSCREEN_LEFT, '<', TOPSCREEN_RIGHT, 'r', 'x', 'q'),
	       "open 3 from 1\n"
	       "open\n"
	       "12 |*100 101 102\n"
	       "0 |*100 101 102\n"
	       "1 |*100 102 101\n"
	       "1 |100 *102 101\n"
	       "1 100 |102 *101\n"
	       "1 100 |102 *101\n"
	       "1 100 |*102 101\n"
	       "1 |*100 102 101\n"
	       "1 100 |102 *101\n"
	       "1 |*100 102 101\n"
	       "1 100 |102 *101\n"
	       "0 100 |*101 102\n"
	       "12 100 |*101 102\n"
	       "0 100 |*101 102\n"
	       "0r 102 |*101 100\n"
	       "0r 102 |*101 100\n"
	       "0r 102 |*101 100\n"
	       "closed\n");
}

static void test_filter(void **state)
{
	(void)state;
	run_it("1",
	       TYPED('>', '>', '/', 'e', 't', ' ', 0x7f, 'x', TOPSCREEN_BACKSPACE, TOPSCREEN_ENTER,
		     '/', TOPSCREEN_ESCAPE, '/', 'z', TOPSCREEN_ENTER, TOPSCREEN_DOWN, 'h',
		     TOPSCREEN_ESCAPE),
	       "open 1 from 1\n"
	       "open\n"
	       "12 |*100 101 102\n"
	       "0 |*100 101 102\n"
	       "1 |*100 102 101\n"
	       "1 |*100 102 101 \"filter: _\"\n"
	       "1 |*101 \"filter: e_\"\n"
	       "1 |*101 \"filter: et_\"\n"
	       "1 |*101 \"filter: et_\"\n"
	       "1 |*101 \"filter: et_\"\n"
	       "1 \"filter: etx_\"\n"
	       "1 |*101 \"filter: et_\"\n"
	       "1 |*101 \"filter: et\"\n"
	       "1 |*101 \"filter: et_\"\n"
	       "1 |100 *102 101\n"
	       "1 |100 *102 101 \"filter: _\"\n"
	       "1 \"filter: z_\"\n"
	       "1 \"filter: z\"\n"
	       "1 \"filter: z\"\n"
	       "1 \"filter: z\"\n"
	       "1 |*100 102 101\n"
	       "closed\n");
	assert_int_equal(strlen(top.table.filter), 0);
}

static void test_text(void **state)
{
	(void)state;
	run_it("1",
	       TYPED('>', '>', TOPSCREEN_DOWN, TOPSCREEN_ENTER, TOPSCREEN_UP, TOPSCREEN_DOWN,
		     TOPSCREEN_PAGE_DOWN, TOPSCREEN_PAGE_UP, TOPSCREEN_END, TOPSCREEN_DOWN,
		     TOPSCREEN_HOME, TOPSCREEN_RIGHT, TOPSCREEN_RIGHT, TOPSCREEN_LEFT,
		     TOPSCREEN_LEFT, TOPSCREEN_LEFT, 'r', 'q', 'h', TOPSCREEN_ESCAPE, 'q'),
	       "open 1 from 1\n"
	       "open\n"
	       "12 |*100 101 102\n"
	       "0 |*100 101 102\n"
	       "1 |*100 102 101\n"
	       "1 |100 *102 101\n"
	       "run gostacks 102\n"
	       "process 102: goroutines by stack: 7 lines from 0, column 0\n"
	       "process 102: goroutines by stack: 7 lines from 0, column 0\n"
	       "process 102: goroutines by stack: 7 lines from 1, column 0\n"
	       "process 102: goroutines by stack: 7 lines from 3, column 0\n"
	       "process 102: goroutines by stack: 7 lines from 1, column 0\n"
	       "process 102: goroutines by stack: 7 lines from 5, column 0\n"
	       "process 102: goroutines by stack: 7 lines from 5, column 0\n"
	       "process 102: goroutines by stack: 7 lines from 0, column 0\n"
	       "process 102: goroutines by stack: 7 lines from 0, column 16\n"
	       "process 102: goroutines by stack: 7 lines from 0, column 32\n"
	       "process 102: goroutines by stack: 7 lines from 0, column 16\n"
	       "process 102: goroutines by stack: 7 lines from 0, column 0\n"
	       "process 102: goroutines by stack: 7 lines from 0, column 0\n"
	       "run gostacks 102\n"
	       "process 102: goroutines by stack: 7 lines from 0, column 0\n"
	       "1 |100 *102 101\n"
	       "run goheap 102\n"
	       "process 102: heap by stack: 7 lines from 0, column 0\n"
	       "1 |100 *102 101\n"
	       "1 |100 *102 101\n"
	       "closed\n");
}

/* Those that have come are looked for at each third look. */
static void test_rounds(void **state)
{
	run_it("-n app -i 3", TYPED('w', 'w', 'w'),
	       "more of app\n"
	       "12 |*100 101 102\n"
	       "12 |*100 101 102\n"
	       "12 |*100 101 102\n"
	       "more of app\n"
	       "12 |*100 101 102\n"
	       "closed\n");
	assert_int_equal(looks, 12);
	setup(state);
	run_it("-i 2 -d 5", TYPED('w', 'w', 'w'),
	       "more of - all\n"
	       "12 |*100 101 102\n"
	       "12 |*100 101 102\n"
	       "closed\n");
	assert_true(keys[0] == 'w');
}

static void test_lost(void **state)
{
	failing_pid = 100;
	run_it("1 2 3", TYPED('<'),
	       "open 3 from 1\n"
	       "open\n"
	       "drop 100\n"
	       "12 |*101 102 \"lost\\x1b\"\n"
	       "11 |*101 102\n"
	       "closed\n");
	setup(state);
	failing_pid = 100;
	runs = false;
	run_it("1 2 3", NULL,
	       "open 3 from 1\n"
	       "open\n"
	       "drop 100\n"
	       "12 |*101 102\n"
	       "closed\n");
	setup(state);
	top.procs.refused = 2;
	top.procs.why = (struct errmsg){.text = "not\x1b"};
	char *text = message_of(&top);

	assert_string_equal(text, "2 more could not be read: not\\x1b");
	free(text);
	text = message_of(&(struct gotop){0});
	assert_string_equal(text, "");
	free(text);
}

static void test_failures(void **state)
{
	faketool_errors_begin();
	opens = false;
	assert_int_equal(run_tool("1"), 1);
	faketool.failing = "open";
	assert_int_equal(run_tool("1"), 1);
	faketool.failing = NULL;
	assert_int_equal(run_tool("7"), 1);
	faketool_errors_expect("gotop: no terminal\ngotop: open fails\ngotop: not Go\n");
	faketool_noted("open 1 from 1\nopen\nclosed\nopen 1 from 1\nopen\nopen 1 from 7\nopen\n"
		       "closed\n");
	setup(state);
	faketool_errors_begin();
	assert_int_equal(run_tool("x"), 2);
	faketool_errors_expect("gotop: \"x\" is not a process ID\nhint: ...");
	faketool_errors_begin();
	assert_int_equal(faketool_main(tool_main, "--metrics :9437", faketool_never), 2);
	faketool_errors_expect("gotop: gotop is a screen, and publishes no metrics\n"
			       "hint: gostat --metrics :9437\n...");
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(tool_main, "-h",
		      "usage: gotop [-h] [-p PID] [-n NAME] [--all] [-i INTERVAL] [-d DURATION]\n"
		      "             [--version] [PID...]\n"
		      "\n"
		      "Show the Go programs that run on a live screen\n"
		      "\n"
		      "examples:\n"
		      "    gotop             # all Go programs, most processor time first\n"
		      "    gotop -n etcd     # whose name contains etcd\n"
		      "    gotop -i 5 181    # process 181, every 5 seconds\n"
		      "\n"
		      "all options: gotop --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: gotop [-h] [-p PID] [-n NAME] [--all] [-i INTERVAL] [-d DURATION]\n"
		"             [--version] [PID...]\n"
		"\n"
		"Show the Go programs that run on a live screen\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -p PID, --pid PID     the process to read; it is not stopped\n"
		"  -n NAME, --name NAME  the Go programs that run and whose name contains NAME\n"
		"  --all                 all Go programs that run\n"
		"  -i INTERVAL, --interval INTERVAL\n"
		"                        time between looks, in seconds, or as 500ms (default 1)\n"
		"  -d DURATION, --duration DURATION\n"
		"                        end after so long, in seconds, or as 1h30m\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gotop             # all Go programs, most processor time first\n"
		"    gotop -n etcd     # whose name contains etcd\n"
		"    gotop -i 5 181    # process 181, every 5 seconds\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_look, setup),
		cmocka_unit_test_setup(test_move, setup),
		cmocka_unit_test_setup(test_filter, setup),
		cmocka_unit_test_setup(test_text, setup),
		cmocka_unit_test_setup(test_rounds, setup),
		cmocka_unit_test_setup(test_lost, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
