// SPDX-License-Identifier: Apache-2.0
/* --metrics of a tool that reads memory: whom it looks at, when, and what becomes of those that
 * cannot be read. Processes, their numbers, the time and who asks are the test's. */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "files/process.h"
#include "gostacks/goprocesses.h"
#include "metrics/publisher.h"
#include "printed.h"
#include "readers/ending_internal.h"
#include "readers/readmetrics_internal.h"
#include "steps.h"
#include "tracing/options.h"
#include "tracing/session.h"

enum { PROCESSES = 3, PUBLISHER_FD = 17 };

static const struct goprocesses_work *looker; /* that the processes are opened with */
static const struct session_spec *running;    /* of the session that runs */
static const struct publisher_source *rows;   /* that are published */
static struct goprocesses *opened;
static void *rows_ctx, *result;
static size_t found, coming;            /* processes: at first, and those that come */
static const char *failures[PROCESSES]; /* of a look, by PID */
static bool all_closed;
static uint64_t now_ns;
static size_t refused;
static struct process *living, *dead;
static void (*during)(void); /* the session */

uint64_t clock_ns(void)
{
	return now_ns;
}

bool ending_runs_on(const struct process *proc)
{
	return proc == living;
}

/* --- in place of gostacks/ --- */

static void add_process(struct goprocesses *procs, struct process *proc)
{
	procs->all[procs->count] =
		(struct goprocesses_one){.pid = (pid_t)procs->count, .proc = proc};
	procs->count++;
}

int goprocesses_open(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		     struct goprocesses *out, void (*failed)(void *ctx, const struct errmsg *err),
		     void *ctx, struct errmsg *err)
{
	struct errmsg why;

	looker = work;
	if (steps_answer(err, "open %zu", wanted->pid_count))
		return -1;
	opened = out;
	out->all = calloc(PROCESSES, sizeof(*out->all));
	for (size_t i = 0; i < found; i++)
		add_process(out, living);
	if (found < wanted->pid_count) {
		errmsg_set(&why, "it is no Go program");
		failed(ctx, &why);
	}
	return 0;
}

void goprocesses_more(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		      struct goprocesses *procs)
{
	assert_int_equal(wanted->pid_count, 0);
	steps_are("more");
	looker = work;
	if (!procs->all)
		procs->all = calloc(PROCESSES, sizeof(*procs->all));
	for (; coming; coming--)
		add_process(procs, living);
	procs->refused = refused;
	snprintf(procs->why.text, sizeof(procs->why.text), "the first reason");
}

int goprocesses_look(struct goprocesses *procs, size_t i, int what, const void *more, size_t len,
		     uint64_t *count, struct errmsg *err)
{
	pid_t pid = procs->all[i].pid;

	assert_true(procs->result == result && procs->result_len == 4);
	steps_are("look %d", pid);
	if (failures[pid])
		return errmsg_set(err, "%s", failures[pid]);
	assert_true(!what && !more && !len);
	*count = 0;
	int ret = looker->look(looker->ctx, &procs->all[i], what, more, len, count, err);

	assert_int_equal(*count, 1);
	return ret;
}

void goprocesses_drop(struct goprocesses *procs, size_t i)
{
	steps_are("drop %d", procs->all[i].pid);
	procs->all[i] = procs->all[--procs->count];
}

bool goprocesses_close(struct goprocesses *procs)
{
	steps_are("close %zu", procs->count);
	free(procs->all);
	return all_closed;
}

int goprocess_check(const struct goprocess *gp, struct errmsg *err)
{
	(void)gp;
	return steps_answer(err, "check");
}

/* --- in place of metrics/ and of the session --- */

struct publisher *publisher_open(const struct publisher_spec *spec, struct errmsg *err)
{
	return steps_answer(err, "port %s of %s each %d", spec->where, spec->tool,
			    (int)spec->interval_ns)
		       ? NULL
		       : (struct publisher *)&rows;
}

void publisher_close(struct publisher *pub)
{
	assert_ptr_equal(pub, &rows);
	steps_are("shut");
}

int publisher_begin(struct publisher *pub, const struct publisher_source *source, void *ctx,
		    struct errmsg *err)
{
	assert_ptr_equal(pub, &rows);
	rows = source;
	rows_ctx = ctx;
	return steps_answer(err, "begin");
}

int publisher_fd(const struct publisher *pub)
{
	assert_ptr_equal(pub, &rows);
	return PUBLISHER_FD;
}

void publisher_run(struct publisher *pub)
{
	assert_ptr_equal(pub, &rows);
	steps_are("run");
}

void publisher_tick(struct publisher *pub)
{
	assert_ptr_equal(pub, &rows);
	steps_are("tick");
}

int publisher_end(struct publisher *pub, struct errmsg *err)
{
	assert_ptr_equal(pub, &rows);
	return steps_answer(err, "end");
}

struct session *session_new(struct errmsg *err)
{
	return steps_answer(err, "session") ? NULL : (struct session *)&running;
}

int session_run(struct session *ses, const struct session_spec *spec, enum session_end *end,
		struct errmsg *err)
{
	assert_ptr_equal(ses, &running);
	running = spec;
	*end = SESSION_SIGNAL;
	if (steps_answer(err, "runs each %d for %d; turns each %d ms", (int)spec->interval_ns,
			 (int)spec->duration_ns, (int)(spec->stream_ns / 1000000)))
		return -1;
	assert_int_equal(spec->event_fd, PUBLISHER_FD);
	assert_true(spec->process_fd == -1 && spec->stream_fd == -1);
	during();
	return 0;
}

void session_free(struct session *ses)
{
	assert_true(!ses || ses == (struct session *)&running);
	steps_are(ses ? "freed" : "none freed");
}

/* --- a tool --- */

static int numbers_look(void *ctx, const struct goprocesses_one *one, struct errmsg *err)
{
	assert_ptr_equal(ctx, &result);
	assert_ptr_equal(one->proc, living);
	return steps_answer(err, "numbers %d", one->pid);
}

static void numbers_end(void *ctx)
{
	assert_ptr_equal(ctx, &result);
	steps_are("forgotten");
}

static void numbers_begin(void *ctx)
{
	assert_ptr_equal(ctx, &result);
	steps_are("anew");
}

static void numbers_found(void *ctx)
{
	assert_ptr_equal(ctx, &result);
	steps_are("found");
}

static void numbers_write(void *ctx, FILE *out, bool openmetrics)
{
	assert_ptr_equal(ctx, &result);
	fprintf(out, "numbers %d\n", openmetrics);
}

static struct readmetrics_source source = {.look = numbers_look,
					   .end = numbers_end,
					   .result_len = 4,
					   .begin = numbers_begin,
					   .found = numbers_found,
					   .write = numbers_write,
					   .ctx = &result};
static const struct options_tool tool = {.name = "tool"};
static const struct options opts = {.metrics = ":9", .interval_ns = 3, .duration_ns = 7};
static const pid_t pids[PROCESSES];
static struct goprocesses_wanted wanted;
static struct readmetrics metrics;

static void nothing(void)
{
}

static int setup(void **state)
{
	(void)state;
	result = source.result = &now_ns;
	wanted = (struct goprocesses_wanted){.pids = pids, .pid_count = 2};
	metrics = (struct readmetrics){
		.source = &source, .tool = &tool, .opts = &opts, .wanted = &wanted};
	memset(failures, 0, sizeof(failures));
	found = 2;
	coming = refused = 0;
	now_ns = 1000000000;
	all_closed = true;
	during = nothing;
	steps = (struct steps){0};
	return 0;
}

/* What it does, whether it fails, and what is said of single processes on stderr. */
static void expect_run(const char *did, const char *fails, bool has_failed, const char *said)
{
	FILE *theirs = stderr;
	struct errmsg err = {0};
	char *text;
	size_t len;

	stderr = open_memstream(&text, &len);
	int ret = readmetrics_run(&metrics, &err);

	fclose(stderr);
	stderr = theirs;
	steps_expect(did);
	assert_int_equal(ret, fails ? -1 : 0);
	assert_string_equal(err.text, fails ? fails : "");
	assert_int_equal(metrics.has_failed, has_failed);
	assert_string_equal(text, said);
	free(text);
}

#define OPENED "port :9 of tool each 3; session; "
#define RUNS "runs each 3 for 7; turns each 250 ms; "
#define ENDS "end; freed; shut; close 2; "

/* --- asked for by PID --- */

static void read_numbers(void)
{
	struct errmsg err = {0};

	assert_int_equal(rows->read(rows_ctx, true, &err), 0);
	printed_begin();
	rows->write(rows_ctx, stdout, true);
	rows->write(rows_ctx, stdout, false);
	printed_expect("numbers 1\nnumbers 0\n");
}

static void scrape(void)
{
	steps_expect(OPENED "open 2; begin; " RUNS);
	running->tick(running->ctx);
	assert_true(running->event(running->ctx));
	assert_true(running->stream(running->ctx));
	steps_expect("tick; run; run; ");
	read_numbers();
	steps_expect("anew; look 0; numbers 0; check; found; look 1; numbers 1; check; found; ");
	looker->end(looker->ctx);
}

static void test_given(void **state)
{
	(void)state;
	during = scrape;
	expect_run("forgotten; " ENDS, NULL, false, "");
}

/* One that cannot be read is named, each time, and not asked again; the last takes its place. */
static void scrape_failing(void)
{
	steps_expect(OPENED "open 3; begin; " RUNS);
	read_numbers();
	steps_expect("anew; look 0; drop 0; look 2; numbers 2; check; found; look 1; drop 1; ");
	failures[2] = "later";
	read_numbers();
	steps_expect("anew; look 2; drop 2; ");
	assert_false(running->stream(running->ctx)); /* none is left */
	steps_expect("run; ");
}

static void test_failing(void **state)
{
	(void)state;
	wanted.pid_count = found = 3;
	failures[0] = "it lies";
	failures[1] = "so does it";
	during = scrape_failing;
	expect_run("end; freed; shut; close 0; ", NULL, true,
		   "tool: it lies\ntool: so does it\ntool: later\n");
}

static void numbers_fail(void)
{
	steps_expect(OPENED "open 2; begin; " RUNS);
	steps.fails = "numbers";
	read_numbers();
	steps_expect("anew; look 0; numbers 0; drop 0; look 1; numbers 1; check; found; ");
	steps.fails = "check";
	steps.times = 0;
	read_numbers();
	steps_expect("anew; look 1; numbers 1; check; drop 1; ");
}

static void test_numbers_fail(void **state)
{
	(void)state;
	during = numbers_fail;
	expect_run("end; freed; shut; close 0; ", NULL, true, "tool: no numbers\ntool: no check\n");
}

static void test_none_given(void **state)
{
	(void)state;
	found = 0;
	expect_run(OPENED "open 2; freed; shut; close 0; ", NULL, true,
		   "tool: it is no Go program\n");
}

static void test_work_fails(void **state)
{
	(void)state;
	all_closed = false;
	expect_run(OPENED "open 2; begin; " RUNS ENDS, NULL, true, "");
}

/* --- those that have ended --- */

/* Before they are looked at, and while they are: it is told of neither. */
static void some_end(void)
{
	steps_expect(OPENED "open 3; begin; " RUNS);
	opened->all[1].proc = dead;
	assert_true(running->stream(running->ctx));
	steps_expect("run; drop 1; ");
	opened->all[0].proc = dead;
	failures[0] = "it has ended";
	read_numbers();
	steps_expect("anew; look 0; drop 0; look 2; numbers 2; check; found; ");
	opened->all[0].proc = dead;
	assert_false(running->stream(running->ctx));
	steps_expect("run; drop 2; ");
}

static void test_ended(void **state)
{
	(void)state;
	wanted.pid_count = found = 3;
	during = some_end;
	expect_run("end; freed; shut; close 0; ", NULL, false, "");
}

/* --- all there are --- */

static void come_and_go(void)
{
	steps_expect(OPENED "more; begin; " RUNS);
	now_ns += 4999999999;
	assert_true(running->stream(running->ctx));
	steps_expect("run; ");
	now_ns++;
	coming = 2;
	assert_true(running->stream(running->ctx));
	steps_expect("run; more; ");
	failures[1] = "it lies";
	read_numbers();
	steps_expect("anew; look 0; numbers 0; check; found; look 1; drop 1; ");
	now_ns += 5000000000;
	coming = 1;
	assert_true(running->stream(running->ctx));
	read_numbers(); /* which is not said again */
	steps_expect("run; more; anew; look 0; numbers 0; check; found; look 1; drop 1; ");
	failures[0] = "so does it";
	read_numbers();
	assert_true(running->stream(running->ctx)); /* others may come */
	steps_expect("anew; look 0; drop 0; run; ");
}

static void test_all(void **state)
{
	(void)state;
	wanted = (struct goprocesses_wanted){.all = true};
	during = come_and_go;
	refused = 2;
	expect_run("end; freed; shut; close 0; ", NULL, false,
		   "tool: 2 more processes could not be read: the first reason\n"
		   "tool: it lies\n");
}

/* --- what fails as a whole --- */

static void test_failures(void **state)
{
	static const char *const all[][3] = {
		{"port", "no port", "port :9 of tool each 3; "},
		{"session", "no session", OPENED "none freed; shut; close 0; "},
		{"open", "no open", OPENED "open 2; freed; shut; close 0; "},
		{"begin", "no begin", OPENED "open 2; begin; freed; shut; close 2; "},
		{"runs", "no runs", OPENED "open 2; begin; " RUNS "freed; shut; close 2; "},
		{"end", "no end", OPENED "open 2; begin; " RUNS ENDS},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		setup(state);
		steps.fails = all[i][0];
		expect_run(all[i][2], all[i][1], false, "");
	}
}

/* This one, and a child that has ended */
static int hold(void **state)
{
	struct errmsg err;
	pid_t child = fork();

	(void)state;
	if (!child) {
		pause();
		_exit(0);
	}
	living = process_open(getpid(), &err);
	dead = process_open(child, &err);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return living && dead ? 0 : -1;
}

static int release(void **state)
{
	(void)state;
	process_close(living);
	process_close(dead);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_given, setup),
		cmocka_unit_test_setup(test_failing, setup),
		cmocka_unit_test_setup(test_numbers_fail, setup),
		cmocka_unit_test_setup(test_none_given, setup),
		cmocka_unit_test_setup(test_work_fails, setup),
		cmocka_unit_test_setup(test_ended, setup),
		cmocka_unit_test_setup(test_all, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, hold, release);
}
