// SPDX-License-Identifier: Apache-2.0
/* gowakeups's kernel side, run on this side: how long goroutines are blocked, where, for what, and
 * who ends it. gooffcputime's is the same without the latter. */
#include "fakegoroutine.h"
#include "unit.h"

#define WAITS 3
#define SUMS 3
#define MIN_NS 20
#define MAX_NS 1000
#define REASONS (1ULL << 7 | 1ULL << 20)
#define STACKS 16

#include "bpf-src/gowakeups.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { SYSTEM = 5, SYSCALL = 3 }; /* a thread without a goroutine of its own */

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(6);
	control.lookup(&zero)->active = 1;
	for (unsigned n = 1; n <= 6; n++) {
		u64 hi = fakegoroutine_hi(n);

		fakemem_put(fakegoroutine_g(n) + G_WAITREASON, 7);
		fakemem_put(fakegoroutine_g(n) + G_SCHED_SP + 8, 0x1000 * n); /* where it waits */
		fakemem_put(hi - 96, 0x2000 * n); /* where it runs: who has called casgstatus */
	}
	return 0;
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

static void expect_loss(u32 which, u64 count)
{
	for (u32 i = 0; i < WAIT_LOSSES; i++)
		if (loss(i) != (i == which ? count : 0))
			fail_msg("loss %u: %llu", i, loss(i));
}

/* On a goroutine's own stack; frame pointers end at once. */
static void change_at(u64 ns, unsigned on, unsigned n, u32 from, u32 to)
{
	fakekernel.ns = ns;
	fakegoroutine_runs(on, 96);
	regs.bp = 0;
	regs.ip = 0x7000;
	regs.ax = fakegoroutine_g(n);
	regs.bx = from;
	regs.cx = to;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

static u64 first_frame(u64 hash)
{
	struct stack *stack = stacks.lookup(&hash);

	return stack ? stack->frames[0] : 0;
}

static void check_sum(size_t i, u64 stack, u32 reason, u32 by, u64 waker, u64 waits_, u64 total,
		      u64 max)
{
	const struct wait_key *key = fakemap_key(&sums_map, i);
	const struct wait_sum *sum = sums.lookup(key);

	assert_int_equal(first_frame(key->stack), stack);
	assert_int_equal(key->probe, 0x7000);
	assert_int_equal(key->pid, FAKEGOROUTINE_PID);
	assert_int_equal(key->reason, reason);
	assert_int_equal(key->by, by);
	assert_int_equal(first_frame(key->waker), waker);
	assert_int_equal(sum->waits, waits_);
	assert_int_equal(sum->total_ns, total);
	assert_int_equal(sum->max_ns, max);
}

static void test_waits(void **state)
{
	(void)state;
	change_at(1000, 1, 1, RUNNING, WAITING);
	change_at(1100, 2, 1, WAITING, RUNNABLE);
	change_at(2000, 1, 1, RUNNING, WAITING);
	change_at(2300, 2, 1, WAITING, RUNNABLE);
	change_at(3000, 1, 1, RUNNING, WAITING);
	change_at(3020, 2, 1, WAITING, RUNNABLE);
	fakemem_put(fakegoroutine_g(1) + G_WAITREASON, 20);
	change_at(4000, 1, 1, RUNNING, WAITING);
	change_at(5000, 3, 1, WAITING, RUNNABLE);
	assert_int_equal(sums_map.count, 2);
	check_sum(0, 0x1000, 7, WAKER_GOROUTINE, 0x4000, 3, 420, 300);
	check_sum(1, 0x1000, 20, WAKER_GOROUTINE, 0x6000, 1, 1000, 1000);
	assert_int_equal(waits_map.count, 0);
	expect_loss(WAIT_LOSSES, 0);
}

/* The scheduler ends it on a system stack, for a goroutine or by itself. */
static void test_scheduler(void **state)
{
	u64 g = fakegoroutine_g(SYSTEM), hi = fakegoroutine_hi(SYSTEM);

	(void)state;
	/* for goroutine 2, which has called systemstack */
	fakemem_put(fakegoroutine_m(SYSTEM) + M_CURG, fakegoroutine_g(2));
	fakemem_put(fakegoroutine_g(2) + G_SCHED_SP, fakegoroutine_hi(2) - 40);
	fakemem_put(fakegoroutine_hi(2) - 40, 0x2222);
	change_at(1000, 1, 1, RUNNING, WAITING);
	change_at(1100, SYSTEM, 1, WAITING, RUNNABLE);
	check_sum(0, 0x1000, 7, WAKER_GOROUTINE, 0x2222, 1, 100, 100);
	/* by itself: its frames end where its stack does */
	fakemem_put(fakegoroutine_m(SYSTEM) + M_CURG, 0);
	change_at(2000, 1, 1, RUNNING, WAITING);
	change_at(2100, SYSTEM, 1, WAITING, RUNNABLE);
	check_sum(1, 0x1000, 7, WAKER_SCHEDULER, 0x2000 * SYSTEM, 1, 100, 100);
	fakemem_put(g + G_M, 0x10);
	change_at(3000, 1, 1, RUNNING, WAITING);
	change_at(3100, SYSTEM, 1, WAITING, RUNNABLE);
	expect_loss(WAIT_LOSS_UNREADABLE, 1);
	fakemem_put(g + 8, hi);
}

/* Those that are no waits, or not of the wanted length or kind */
static void test_others(void **state)
{
	(void)state;
	change_at(1000, 1, 1, RUNNING, WAITING);
	change_at(1019, 2, 1, WAITING, RUNNABLE);
	change_at(2000, 1, 1, RUNNING, WAITING);
	change_at(3001, 2, 1, WAITING, RUNNABLE);
	change_at(4000, 1, 1, RUNNING, WAITING);
	change_at(4100, 2, 1, WAITING, RUNNING); /* work of the runtime */
	change_at(4200, 2, 1, WAITING, RUNNABLE);
	change_at(5000, 1, 1, SYSCALL, WAITING);
	change_at(5100, 2, 1, WAITING, RUNNABLE);
	change_at(6000, 1, 1, RUNNING, RUNNABLE);
	change_at(6100, 2, 1, WAITING, RUNNABLE);
	for (unsigned reason = 0; reason < 70; reason++) {
		fakemem_put(fakegoroutine_g(1) + G_WAITREASON, reason);
		change_at(7000, 1, 1, RUNNING, WAITING);
		assert_int_equal(waits.lookup(fakemap_key(&waits_map, 0))->reason, reason);
		change_at(7100, 2, 1, WAITING, RUNNABLE);
		assert_int_equal(sums_map.count, (reason >= 7) + (reason >= 20));
	}
	expect_loss(WAIT_LOSSES, 0);
}

static void test_lost(void **state)
{
	u32 zero = 0;

	(void)state;
	for (unsigned n = 1; n <= 4; n++)
		change_at(1000, n, n, RUNNING, WAITING);
	expect_loss(WAIT_LOSS_WAITS, 1);
	fakekernel.refuses = "stacks";
	for (unsigned n = 1; n <= 3; n++)
		change_at(1100, 6, n, WAITING, RUNNABLE);
	assert_int_equal(loss(WAIT_LOSS_STACKS), 3); /* the waker's */
	fakekernel.refuses = NULL;
	change_at(2000, 4, 4, RUNNING, WAITING);
	change_at(2100, 6, 4, WAITING, RUNNABLE);
	assert_int_equal(loss(WAIT_LOSS_SUMS), 1);
	begin(state);
	fakekernel.refuses = "stacks";
	change_at(1000, 1, 1, RUNNING, WAITING);
	fakekernel.refuses = NULL;
	change_at(1100, 2, 1, WAITING, RUNNABLE);
	expect_loss(WAIT_LOSS_STACKS, 1);
	check_sum(0, 0, 7, WAKER_GOROUTINE, 0x4000, 1, 100, 100);
	begin(state);
	fakekernel.refuses = "processes";
	change_at(1000, 1, 1, RUNNING, WAITING);
	expect_loss(WAIT_LOSS_WAITS, 1);
	assert_int_equal(waits_map.count, 0);
	control.lookup(&zero)->active = 0;
	change_at(1000, 1, 1, RUNNING, WAITING);
	expect_loss(WAIT_LOSS_WAITS, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_waits, begin),
		cmocka_unit_test_setup(test_scheduler, begin),
		cmocka_unit_test_setup(test_others, begin),
		cmocka_unit_test_setup(test_lost, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
