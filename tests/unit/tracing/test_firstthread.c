// SPDX-License-Identifier: Apache-2.0
/* When it is said that a process goes on unseen, as its first thread has ended. */
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "files/process.h"
#include "kernel/attach.h"
#include "tracing/firstthread_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

#define NS 1000000000ull

static uint64_t now;
static bool first_runs, runs;
static enum attach_how how;
static int some; /* for what nobody looks into */

uint64_t clock_ns(void)
{
	return now;
}

bool process_first_runs(const struct process *proc)
{
	assert_ptr_equal(proc, &some);
	return first_runs;
}

bool process_runs(const struct process *proc)
{
	assert_ptr_equal(proc, &some);
	return runs;
}

enum attach_how attach_how(void)
{
	return how;
}

static void check(const struct tracer *tracer, uint64_t *since, uint64_t at, int wanted)
{
	struct errmsg err = {0};

	now = at;
	assert_int_equal(firstthread_check(tracer, since, &err), wanted);
	assert_string_equal(err.text, wanted ? "the first thread of process 7 has ended: this "
					       "kernel shows no calls of the others since"
					     : "");
	assert_string_equal(err.hint, wanted ? "trace it again" : "");
}

static void test_ended(void **state)
{
	struct tracer tracer = {
		.pid = 7, .process = (struct process *)&some, .execs = (struct execwatch *)&some};
	uint64_t since = 0;

	(void)state;
	how = ATTACH_PERF_COOKIE;
	runs = true;
	check(&tracer, &since, NS, 0);
	assert_int_equal(since, NS);
	check(&tracer, &since, NS + NS / 2 - 1, 0);
	first_runs = true; /* it was an execve */
	check(&tracer, &since, NS + NS / 2, 0);
	assert_int_equal(since, 0);
	first_runs = false;
	check(&tracer, &since, 2 * NS, 0);
	check(&tracer, &since, 2 * NS + NS / 2 - 1, 0);
	check(&tracer, &since, 2 * NS + NS / 2, -1);
	/* all of it has ended */
	runs = false;
	check(&tracer, &since, 3 * NS, 0);
	assert_int_equal(since, 0);
	/* it does not matter */
	runs = true;
	since = 1;
	how = ATTACH_MULTI;
	check(&tracer, &since, 4 * NS, 0);
	how = ATTACH_PERF_COOKIE;
	tracer.execs = NULL;
	check(&tracer, &since, 4 * NS, 0);
	tracer.execs = (struct execwatch *)&some;
	tracer.process = NULL;
	check(&tracer, &since, 4 * NS, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
