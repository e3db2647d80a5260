// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>

#include "faketool.h"
#include "files/cpucgroup.h"
#include "files/process.h"
#include "files/process_usage.h"
#include "latency/cpu_waits.h"
#include "latency/cpu_waits_internal.h"
#include "unit.h"

enum { PID = 181 };

static struct process_turns turns;
static bool runs, known;
static unsigned held;

/* --- in place of the process --- */

struct process *process_hold(pid_t pid, struct errmsg *err)
{
	(void)err;
	assert_int_equal(pid, PID);
	held += runs;
	return runs ? (struct process *)&turns : NULL;
}

void process_close(struct process *proc)
{
	held -= proc != NULL;
}

bool process_turns(const struct process *proc, struct process_turns *out)
{
	assert_ptr_equal(proc, &turns);
	*out = turns;
	return known;
}

/* --- in place of its cgroup --- */

static struct cpucgroup_quota quota;
static bool limited;

struct cpucgroup *cpucgroup_find(const char *proc, pid_t pid)
{
	assert_string_equal(proc, "/proc");
	assert_int_equal(pid, PID);
	held += limited;
	return limited ? (struct cpucgroup *)&quota : NULL;
}

void cpucgroup_free(struct cpucgroup *group)
{
	held -= group != NULL;
}

bool cpucgroup_quota(const struct cpucgroup *group, struct cpucgroup_quota *out)
{
	assert_ptr_equal(group, &quota);
	*out = quota;
	return limited;
}

static void test_percent(void **state)
{
	static const struct {
		struct process_turns before, after;
		unsigned percent;
	} rows[] = {
		{{1000, 500}, {1000, 500}, 0},
		{{1000, 500}, {1280, 1220}, 72},
		{{0, 0}, {0, 7}, 100},
		{{0, 0}, {7, 0}, 0},
		{{1000, 500}, {999, 900}, 0},
		{{1000, 500}, {1100, 499}, 0},
		{{0, 0}, {UINT64_MAX, UINT64_MAX}, 50},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (cpu_waits_percent(&rows[i].before, &rows[i].after) != rows[i].percent)
			fail_msg("row %zu: %u", i,
				 cpu_waits_percent(&rows[i].before, &rows[i].after));
}

static void expect_said(struct cpu_waits *waits, uint64_t ran, uint64_t waited, const char *want)
{
	turns.ran_ns += ran;
	turns.waited_ns += waited;
	faketool_errors_begin();
	cpu_waits_say(waits, "tool", "it is slower");
	faketool_errors_expect(want);
}

#define SAID_MORE(percent, more)                                                                   \
	"tool: the process's threads waited for a CPU for " percent                                \
	" % of the time that they wanted one" more "\nhint: it is slower\n"
#define SAID(percent) SAID_MORE(percent, "")

/* Of the time since it was asked before */
static void test_said(void **state)
{
	(void)state;
	turns = (struct process_turns){.ran_ns = 500, .waited_ns = 900};
	runs = known = true;
	struct cpu_waits *waits = cpu_waits_begin(PID);

	expect_said(waits, 90, 10, SAID("10"));
	expect_said(waits, 91, 9, "");
	expect_said(waits, 0, 5, SAID("100"));
	known = false; /* it has ended */
	expect_said(waits, 0, 5, "");
	cpu_waits_free(waits);
	cpu_waits_free(NULL);
	assert_int_equal(held, 0);
	waits = cpu_waits_begin(PID); /* had ended */
	assert_int_equal(held, 0);
	expect_said(waits, 0, 5, "");
	cpu_waits_free(waits);
	runs = false;
	waits = cpu_waits_begin(PID);
	expect_said(waits, 0, 5, "");
	cpu_waits_free(waits);
	waits = cpu_waits_begin(0);
	expect_said(waits, 0, 5, "");
	cpu_waits_free(waits);
}

/* The quota is named where it was used up meanwhile. */
static void test_quota(void **state)
{
	(void)state;
	turns = (struct process_turns){0};
	quota = (struct cpucgroup_quota){25000, 100000, 50, 40, 0};
	runs = known = limited = true;
	struct cpu_waits *waits = cpu_waits_begin(PID);

	quota.periods += 10;
	expect_said(waits, 10, 10, SAID("50"));
	quota.periods += 10;
	quota.throttled += 9;
	expect_said(waits, 10, 30,
		    SAID_MORE("75", ": its cgroup may use 0.25 CPUs, used up in 9 of "
				    "10 periods of 100 ms"));
	quota.throttled++;
	expect_said(waits, 10, 10, SAID("50"));
	quota.throttled++;
	quota.periods++;
	expect_said(waits, 100, 1, "");
	limited = false; /* the quota was taken away */
	quota.throttled++;
	quota.periods++;
	expect_said(waits, 10, 10, SAID("50"));
	cpu_waits_free(waits);
	assert_int_equal(held, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_said),
		cmocka_unit_test(test_quota),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
