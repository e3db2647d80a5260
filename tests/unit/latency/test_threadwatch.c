// SPDX-License-Identifier: Apache-2.0
/* --threads: what is defined for the kernel side, where it is attached, and what is said of it. The
 * kernel is the test's. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "faketool.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/btf.h"
#include "latency/threadwatch_internal.h"
#include "selection/target.h"
#include "steps.h"
#include "tracing/tracer.h"

enum { MAP = 9, PID = 181, SWITCHES = 1250 };

static pid_t pid;
static bool follows, in_namespace;
static uint64_t now_ns;
static int opened[2];
static const char *hint;

uint64_t clock_ns(void)
{
	now_ns += 2500000000;
	return now_ns;
}

int btf_task_ids(struct btf_ids *out, struct errmsg *err)
{
	*out = (struct btf_ids){.tid = 31, .tgid = 32};
	if (!steps_answer(err, "ids"))
		return 0;
	if (hint)
		errmsg_hint(err, "%s", hint);
	return -1;
}

pid_t tracer_pid(const struct tracer *tracer)
{
	(void)tracer;
	return pid;
}

bool tracer_follows(const struct tracer *tracer)
{
	(void)tracer;
	return follows;
}

bool target_pid_namespace(unsigned long *dev, unsigned long *ino)
{
	*dev = *ino = 1;
	return in_namespace;
}

uint32_t bpfmap_room(uint32_t room)
{
	return room;
}

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	assert_null(prog);
	assert_string_equal(name, "switches");
	return MAP;
}

int bpfprog_at_tracepoint(struct bpfprog *prog, const char *name, const char *tracepoint,
			  struct errmsg *err)
{
	static unsigned n;

	assert_null(prog);
	if (steps_answer(err, "%s at %s", name, tracepoint))
		return -1;
	opened[n++ % 2] = open("/dev/null", O_RDONLY);
	return opened[(n - 1) % 2];
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_int_equal(fd, MAP);
	assert_int_equal(entries, 1);
	memset(out, 0, words * sizeof(*out));
	out[0] = SWITCHES;
	return steps_are("sum %zu", words) ? -1 : 0;
}

static int setup(void **state)
{
	(void)state;
	steps = (struct steps){0};
	faketool_begin();
	pid = 0;
	follows = in_namespace = false;
	hint = NULL;
	return 0;
}

/* --- what is defined --- */

static void expect_plan(const char *fails, const char *defined)
{
	struct errmsg err = {0};

	assert_int_equal(threadwatch_plan(NULL, &err), fails ? -1 : 0);
	steps = (struct steps){0};
	assert_string_equal(err.text, fails ? fails : "");
	assert_string_equal(err.hint, hint ? hint : "");
	assert_string_equal(faketool.defined, defined);
	*faketool.defined = '\0';
}

#define DEFINED "THREADS_WANTED=1 THREADS=65536 TASK_TID=31 TASK_TGID=32 "

static void test_plan(void **state)
{
	(void)state;
	expect_plan(NULL, DEFINED);
	pid = PID;
	expect_plan(NULL, DEFINED "THREADS_TGID=181 ");
	in_namespace = true;
	expect_plan(NULL, DEFINED);
	in_namespace = false;
	follows = true;
	expect_plan(NULL, DEFINED);
	steps.fails = "ids";
	expect_plan("--threads: no ids", "");
	hint = "load BTF";
	steps.fails = "ids";
	expect_plan("--threads: no ids", "");
	hint = NULL;
	setenv("GOTOOLS_THREADS", "yes", 1);
	expect_plan(NULL, DEFINED);
	setenv("GOTOOLS_THREADS", "no", 1);
	expect_plan("--threads: this kernel does not report switches of threads", "");
	unsetenv("GOTOOLS_THREADS");
}

/* --- while it runs --- */

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void expect_said(const struct threadwatch *watch, const char *want)
{
	faketool_errors_begin();
	threadwatch_say(watch, "tool");
	faketool_errors_expect(want);
}

#define ATTACHED "on_thread_exit at sched_process_exit; on_switch at sched_switch; "

static void test_watch(void **state)
{
	struct errmsg err;
	struct threadwatch *watch = threadwatch_begin(NULL, &err);

	(void)state;
	steps_expect(ATTACHED);
	expect_said(watch, "");
	assert_true(is_open(opened[0]) && is_open(opened[1]));
	threadwatch_end(watch);
	assert_false(is_open(opened[0]) || is_open(opened[1]));
	expect_said(watch, "tool: 1250 switches of threads (500 a second), of the whole machine\n");
	threadwatch_end(watch); /* nothing happens again */
	threadwatch_free(watch);
	threadwatch_end(NULL);
	threadwatch_free(NULL);
	steps_expect("sum 2; ");
}

static void test_failures(void **state)
{
	struct errmsg err;

	(void)state;
	steps.fails = "on_switch";
	assert_null(threadwatch_begin(NULL, &err));
	assert_string_equal(err.text, "--threads: no on_switch");
	assert_false(is_open(opened[0]));
	steps.fails = "sum";
	steps.times = 0;
	struct threadwatch *watch = threadwatch_begin(NULL, &err);

	threadwatch_end(watch);
	expect_said(watch, "tool: 0 switches of threads (0 a second), of the whole machine\n");
	threadwatch_free(watch);
	steps_expect(ATTACHED "sum 2; " ATTACHED "sum 2; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_plan, setup),
		cmocka_unit_test_setup(test_watch, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
