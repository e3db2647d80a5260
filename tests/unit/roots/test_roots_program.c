// SPDX-License-Identifier: Apache-2.0
/* Which goroutines are below a call of ROOT, as the kernel side knows it, run on this side; calls
 * that gofunclatency's kernel side times there. */
#include "fakegoroutine.h"
#include "unit.h"

#define GOROUTINES 8
#define ROWS 3
#define UNIT 1
#define PER_ROW
#define PLACES 200
#define DEEP_CALLS 200
#define ROOTS 4
#define CALLER_SECOND

#include "bpf-src/gofunclatency.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { NEWPROC = 0x5000, FN = FAKEGOROUTINE_FREE, CODE = FAKEGOROUTINE_FREE + 0x100 };

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(9);
	control.lookup(&zero)->active = 1;
	return 0;
}

static void root_at(unsigned n, unsigned depth, enum cookie_kind kind, u32 copy)
{
	fakegoroutine_runs(n, depth);
	fakekernel.cookie = cookie_make(0, kind, 0, copy);
	assert_int_equal(on_root(&regs), 0);
}

static void root(unsigned n, unsigned depth, enum cookie_kind kind)
{
	root_at(n, depth, kind, 0);
}

static void runtime_hit(u64 ax, u64 bx, enum cookie_kind kind, u32 copy)
{
	regs.ip = NEWPROC;
	regs.ax = ax;
	regs.bx = bx;
	fakekernel.cookie = cookie_make(9, kind, 0, copy);
	assert_int_equal(on_root_start(&regs), 0);
}

/* Goroutine `by` starts `n`. */
static void start(unsigned by, unsigned n)
{
	fakemem_put(FN, NEWPROC + 1600);
	runtime_hit(FN, fakegoroutine_g(by), COOKIE_CALL, FOLLOW_START);
	runtime_hit(fakegoroutine_g(n), 0, COOKIE_RETURN, FOLLOW_START);
}

static void end(unsigned n)
{
	runtime_hit(fakegoroutine_g(n), 0, COOKIE_CALL, FOLLOW_END);
}

/* The number of ROOT's call that it is below; 0: none */
static u32 below(unsigned n)
{
	struct goroutine_key who = {.id = n};

	goroutine_process(&who);
	u32 number = root_number(&who);

	assert_int_equal(who.id, n);
	return number;
}

static void expect_loss(u32 which, u64 count)
{
	for (u32 i = 0; i < ROOT_LOSSES; i++)
		if (FAKEGOROUTINE_COUNT(root_losses, i) != (i == which ? count : 0))
			fail_msg("loss %u: %llu", i, FAKEGOROUTINE_COUNT(root_losses, i));
}

static void test_started(void **state)
{
	(void)state;
	start(1, 2);
	assert_int_equal(below(2), 0);
	root(1, 64, COOKIE_CALL);
	root(5, 64, COOKIE_CALL);
	start(1, 3);
	start(3, 4);
	assert_int_equal(below(1), 1);
	assert_int_equal(below(2), 0);
	assert_int_equal(below(3), 1);
	assert_int_equal(below(4), 1);
	assert_int_equal(below(5), 2);
	end(4);
	assert_int_equal(root_members_map.count, 3);
	root(1, 64, COOKIE_RETURN);
	assert_int_equal(below(1), 0);
	assert_int_equal(below(3), 0);
	assert_int_equal(below(5), 2);
	assert_int_equal(root_members_map.count, 1);
	root(5, 64, COOKIE_RETURN);
	assert_int_equal(root_members_map.count, 0);
	assert_int_equal(starting_map.count, 0);
	expect_loss(ROOT_LOSSES, 0);
}

/* One that is left over belongs to no later call, of the same goroutine either; and may make one.
 */
static void test_left(void **state)
{
	(void)state;
	root(1, 64, COOKIE_CALL);
	start(1, 2);
	start(1, 3);
	root(1, 64, COOKIE_RETURN);
	root(1, 64, COOKIE_CALL);
	assert_int_equal(below(1), 2);
	assert_int_equal(below(2), 0);
	start(3, 4);
	assert_int_equal(below(4), 0);
	root(3, 64, COOKIE_CALL);
	assert_int_equal(below(3), 3);
	start(3, 4);
	root(3, 64, COOKIE_RETURN);
	assert_int_equal(below(3), 0);
	assert_int_equal(below(4), 0);
}

/* A call of ROOT below another one is a part of it. */
static void test_within(void **state)
{
	(void)state;
	root(1, 64, COOKIE_CALL);
	root(1, 128, COOKIE_CALL);
	assert_int_equal(below(1), 1);
	root(1, 128, COOKIE_RETURN);
	assert_int_equal(below(1), 1);
	start(1, 2);
	root(2, 64, COOKIE_CALL);
	assert_int_equal(below(2), 1);
	root(2, 64, COOKIE_RETURN);
	assert_int_equal(below(2), 1);
	root(1, 72, COOKIE_CALL_IF_CHECKED); /* its stack grows: no call yet */
	root(1, 64, COOKIE_RETURN);
	assert_int_equal(below(2), 0);
	assert_int_equal(below(1), 0);
}

static void test_ends(void **state)
{
	(void)state;
	root(1, 64, COOKIE_CALL);
	root(1, 64, COOKIE_JUMP);
	assert_int_equal(below(1), 0);
	root(1, 64, COOKIE_CALL);
	root(1, 128, COOKIE_GOEXIT);
	assert_int_equal(below(1), 0);
	root(1, 64, COOKIE_CALL);
	root(1, 128, COOKIE_FATAL);
	assert_int_equal(below(1), 0);
	/* ends that were not seen */
	root(1, 64, COOKIE_CALL);
	root(1, 64, COOKIE_CALL);
	assert_int_equal(below(1), 5);
	root(1, 48, COOKIE_CALL);
	assert_int_equal(below(1), 6);
	root(1, 32, COOKIE_RETURN);
	assert_int_equal(below(1), 0);
	expect_loss(ROOT_LOSSES, 0);
}

/* A panic is recovered by a frame above ROOT's, or below it. */
static void test_recovered(void **state)
{
	u64 hi = fakegoroutine_hi(1);

	(void)state;
	fakemem_put(fakegoroutine_m(0) + M_CURG, fakegoroutine_g(1));
	root(1, 64, COOKIE_CALL);
	fakemem_put(fakegoroutine_g(1) + G_SCHED_SP, hi - 128);
	root(0, 64, COOKIE_RECOVERED);
	assert_int_equal(below(1), 1);
	fakemem_put(fakegoroutine_g(1) + G_SCHED_SP, hi - 56);
	root(0, 64, COOKIE_RECOVERED);
	assert_int_equal(below(1), 0);
}

/* Inlined copies in the frame of a function, and functions that go on in others by a jump */
static void test_same_depth(void **state)
{
	u32 copy;

	(void)state;
	root(1, 64, COOKIE_CALL);
	root_at(1, 64, COOKIE_CALL, 3);
	root_at(1, 64, COOKIE_RETURN, 3);
	assert_int_equal(below(1), 1);
	root(1, 64, COOKIE_RETURN);
	root_at(1, 64, COOKIE_CALL, 3);
	root_at(1, 64, COOKIE_CALL, 4);
	assert_int_equal(below(1), 2);
	root_at(1, 64, COOKIE_CALL, 3); /* its end was not seen */
	assert_int_equal(below(1), 3);
	root_at(1, 64, COOKIE_RETURN, 3);
	assert_int_equal(below(1), 0);
	for (copy = 0; copy < 2; copy++) { /* returning to one place, then to another */
		fakemem_put(fakegoroutine_hi(1) - 64, CODE + copy);
		root_at(1, 64, COOKIE_CALL, COOKIE_TAIL);
		assert_int_equal(below(1), 4 + copy);
		root_at(1, 64, COOKIE_CALL, COOKIE_TAIL);
		assert_int_equal(below(1), 4 + copy);
	}
	root_at(1, 64, COOKIE_RETURN, COOKIE_TAIL);
	assert_int_equal(below(1), 0);
	root_at(1, 64, COOKIE_RETURN, COOKIE_TAIL);
}

static void test_lost(void **state)
{
	(void)state;
	root(0, 64, COOKIE_CALL);
	expect_loss(ROOT_LOSS_SYSTEM, 1);
	begin(state);
	regs.r14 = 0x10;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 0, 0);
	on_root(&regs);
	expect_loss(ROOT_LOSS_UNREADABLE, 1);
	begin(state);
	for (unsigned n = 1; n <= ROOTS + 1; n++)
		root(n, 64, COOKIE_CALL);
	expect_loss(ROOT_LOSS_CALLS, 1);
	assert_int_equal(below(ROOTS), ROOTS);
	assert_int_equal(below(ROOTS + 1), 0);
	begin(state);
	root(1, 64, COOKIE_CALL);
	for (unsigned n = 2; n <= ROOTS + 1; n++)
		start(1, n);
	expect_loss(ROOT_LOSS_STARTED, 1);
	begin(state);
	runtime_hit(0x10, 0, COOKIE_CALL, FOLLOW_END);
	expect_loss(ROOT_LOSS_NEWBORN, 1);
}

static u64 count_of(u32 row)
{
	return sums.lookup(&row)->count;
}

static void probe(unsigned n, unsigned depth, enum cookie_kind kind)
{
	fakegoroutine_runs(n, depth);
	fakekernel.cookie = cookie_make(1, kind, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

/* Calls that begin below are timed, whenever they return; others are not. */
static void test_timed(void **state)
{
	(void)state;
	probe(1, 32, COOKIE_CALL);
	root(1, 64, COOKIE_CALL);
	probe(1, 64, COOKIE_CALL); /* ROOT itself */
	probe(1, 128, COOKIE_CALL);
	probe(1, 128, COOKIE_RETURN);
	start(1, 2);
	probe(2, 64, COOKIE_CALL);
	probe(1, 64, COOKIE_RETURN);
	root(1, 64, COOKIE_RETURN);
	probe(2, 128, COOKIE_CALL);
	probe(2, 128, COOKIE_RETURN);
	assert_int_equal(count_of(1), 2);
	probe(2, 64, COOKIE_RETURN);
	assert_int_equal(count_of(1), 3);
	probe(1, 32, COOKIE_RETURN);
	assert_int_equal(count_of(1), 3);
	assert_int_equal(goroutines_map.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_started, begin),
		cmocka_unit_test_setup(test_left, begin),
		cmocka_unit_test_setup(test_within, begin),
		cmocka_unit_test_setup(test_ends, begin),
		cmocka_unit_test_setup(test_recovered, begin),
		cmocka_unit_test_setup(test_same_depth, begin),
		cmocka_unit_test_setup(test_lost, begin),
		cmocka_unit_test_setup(test_timed, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
