// SPDX-License-Identifier: Apache-2.0
/* gorunqlat's kernel side, run on this side with a goroutine's arguments on the stack, as before Go
 * 1.17: waits for a processor, and what is not one. */
#define ARGS_ON_STACK
#include "fakegoroutine.h"
#include "unit.h"

#define GOROUTINES 2
#define ROWS 1
#define UNIT 10
#define PLACES 64

#include "bpf-src/gorunqlat.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { DEAD = 6, SYSCALL = 3 };

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(4);
	*control.lookup(&zero) = (struct control){.active = 1, .epoch = 1};
	return 0;
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

static void change_at(u64 ns, unsigned n, u32 from, u32 to)
{
	fakekernel.ns = ns;
	fakegoroutine_runs(1, 96);
	/* arguments above the return address, for which the stack pointer is adjusted */
	fakemem_put(regs.sp + 24, fakegoroutine_g(n));
	fakemem_put(regs.sp + 32, from | (u64)to << 32);
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 16, 0);
	assert_int_equal(on_probe(&regs), 0);
}

static const struct call_sums *sum(void)
{
	u32 zero = 0;

	return sums.lookup(&zero);
}

static void test_waits(void **state)
{
	u32 slot, one = 1, zero = 0;

	(void)state;
	change_at(1000, 1, WAITING, RUNNABLE);
	change_at(1100, 2, RUNNING, RUNNABLE);
	change_at(1250, 1, RUNNABLE, RUNNING);
	change_at(1350, 2, RUNNABLE, RUNNING);
	assert_int_equal(sum()->count, 2);
	assert_int_equal(sum()->total_ns, 500);
	slot = histogram_index(25);
	assert_int_equal(*histogram.lookup(&slot), 2);
	assert_int_equal(extremes.lookup(&one)->max_ns, 250);
	assert_int_equal(extremes.lookup(&one)->not_min_ns, ~250ULL);
	assert_int_equal(extremes.lookup(&zero)->max_ns, 0);
	assert_int_equal(goroutines_map.count, 0);
	change_at(2000, 1, RUNNABLE, RUNNING); /* its beginning was not seen */
	change_at(2000, 1, RUNNING, WAITING);
	change_at(2000, 1, WAITING, SYSCALL);
	assert_int_equal(sum()->count, 2);
	assert_int_equal(sum()->lost, 0);
}

/* Waits that end otherwise: of a coroutine none, and one whose end was not seen */
static void test_other_ends(void **state)
{
	(void)state;
	change_at(1000, 1, WAITING, RUNNABLE);
	change_at(1100, 1, RUNNABLE, WAITING);
	assert_int_equal(sum()->count, 0);
	assert_int_equal(sum()->lost, 0);
	assert_int_equal(goroutines_map.count, 0);
	change_at(1200, 1, WAITING, RUNNABLE);
	change_at(1300, 1, RUNNING, RUNNABLE);
	assert_int_equal(sum()->lost, 1);
	assert_int_equal(sum()->panicked, 0);
	change_at(1400, 1, RUNNABLE, RUNNING);
	assert_int_equal(sum()->count, 1);
	assert_int_equal(sum()->total_ns, 100);
}

static void test_lost(void **state)
{
	u32 zero = 0;

	(void)state;
	for (unsigned n = 1; n <= 4; n++)
		change_at(1000, n, WAITING, RUNNABLE);
	assert_int_equal(loss(LOSS_GOROUTINES), 2);
	fakekernel.refuses = "goroutines";
	change_at(1000, 1, WAITING, RUNNABLE);
	assert_int_equal(loss(LOSS_MEMORY), 1);
	begin(state);
	fakekernel.refuses = "processes";
	change_at(1000, 1, WAITING, RUNNABLE);
	assert_int_equal(loss(LOSS_MEMORY), 1);
	assert_int_equal(loss(LOSS_PROCESSES), 0);
	assert_int_equal(goroutines_map.count, 0);
	begin(state);
	regs.sp = 0x10;
	on_probe(&regs);
	assert_int_equal(loss(LOSS_UNREADABLE), 1);
	control.lookup(&zero)->active = 0;
	on_probe(&regs);
	change_at(1000, 1, WAITING, RUNNABLE);
	assert_int_equal(loss(LOSS_UNREADABLE), 1);
	control.lookup(&zero)->active = 1;
	regs.flags = 1;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL_IF_CHECKED, 16, 0);
	on_probe(&regs);
	assert_int_equal(goroutines_map.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_waits, begin),
		cmocka_unit_test_setup(test_other_ends, begin),
		cmocka_unit_test_setup(test_lost, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
