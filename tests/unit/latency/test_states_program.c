// SPDX-License-Identifier: Apache-2.0
/* The clocks of goroutines' states, run on this side: where the time of calls went, by what the
 * scheduler does, and how long threads were off their CPU. */
#include "fakegoroutine.h"
#include "unit.h"

#define GOROUTINES 2
#define ROWS 3
#define UNIT 1
#define PLACES 64
#define STATE_SUMS 64
#define DEEP_CALLS 64
#define NESTED 40
#define STATES_WANTED
#define THREADS_WANTED
#define THREADS 3
#define PER_ROW
#define LATE_REASONS (1ULL << 20)

#include "bpf-src/gofunclatency.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { DEAD = 6, SYSCALL = 3, REASON = 9 };

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(6);
	fakekernel.ns_step = 0;
	control.lookup(&zero)->active = 1;
	for (unsigned n = 0; n <= 6; n++) {
		fakemem_put(fakegoroutine_g(n) + G_STATUS, RUNNING | (u64)REASON << 32);
		fakemem_put(fakegoroutine_m(0) + M_CURG, fakegoroutine_g(1));
	}
	return 0;
}

/* The process's time goes on, while its threads have a CPU. */
static void wait(u64 ns)
{
	fakekernel.ns += ns;
}

static void hit_copy(unsigned n, unsigned depth, u32 row, enum cookie_kind kind, u32 copy)
{
	fakegoroutine_runs(n, depth);
	fakekernel.cookie = cookie_make(row, kind, 0, copy);
	assert_int_equal(on_probe(&regs), 0);
}

static void call(unsigned n, unsigned depth, u32 row)
{
	hit_copy(n, depth, row, COOKIE_CALL, 0);
}

static void ret(unsigned n, unsigned depth, u32 row)
{
	hit_copy(n, depth, row, COOKIE_RETURN, 0);
}

/* In the scheduler, on goroutine n's thread: */
static void change(unsigned n, enum state_change what, u64 ax, u64 bx, u64 cx)
{
	fakegoroutine_runs(n, 16);
	regs.ax = ax;
	regs.bx = bx;
	regs.cx = cx;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 0, what);
	assert_int_equal(on_probe_1(&regs), 0);
}

static void cas(unsigned n, u32 from, u32 to)
{
	change(0, CHANGE_CAS, fakegoroutine_g(n), from, to);
}

static void park(unsigned n)
{
	change(0, CHANGE_PARK, fakegoroutine_g(n), 0, 0);
}

static u64 ns_of(u32 row, u32 what)
{
	u64 key = latency_place(row, what);
	struct state_sum *sum = state_sums.lookup(&key);

	return sum ? sum->total_ns : 0;
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(state_losses, which);
}

static void expect_loss(u32 which, u64 count)
{
	for (u32 i = 0; i < STATE_LOSSES; i++)
		if (loss(i) != (i == which ? count : 0))
			fail_msg("loss %u: %llu", i, loss(i));
}

static void expect(u32 row, u64 running, u64 runnable, u64 syscall, u64 unknown, u64 waiting)
{
	const u64 wanted[] = {running, runnable, syscall, unknown};
	u64 waited = 0;

	for (u32 i = 0; i < 4; i++)
		if (ns_of(row, i) != wanted[i])
			fail_msg("row %u, state %u: %llu ns", row, i, ns_of(row, i));
	for (u32 i = STATE_WAITING; i < STATES; i++)
		waited += ns_of(row, i);
	assert_int_equal(waited, waiting);
}

static void test_all_states(void **state)
{
	(void)state;
	call(1, 64, 0);
	wait(1);
	call(1, 128, 1);
	wait(10);
	change(1, CHANGE_SYSCALL, 0, 0, 0);
	wait(100);
	change(1, CHANGE_RETURNED, 0, 0, 0);
	wait(20);
	cas(1, RUNNING, WAITING);
	wait(1000);
	cas(1, WAITING, RUNNABLE);
	wait(10000);
	cas(1, RUNNABLE, RUNNING);
	wait(3);
	ret(1, 128, 1);
	wait(4);
	ret(1, 64, 0);
	expect(1, 33, 10000, 100, 0, 1000);
	expect(0, 38, 10000, 100, 0, 1000);
	assert_int_equal(ns_of(1, STATE_WAITING + REASON), 1000);
	assert_int_equal(clocks_map.count, 0);
	assert_int_equal(clocks_then_map.count, 0);
	expect_loss(STATE_LOSSES, 0);
	u64 key = latency_place(1, STATE_RUNNING);

	assert_int_equal(state_sums.lookup(&key)->calls, 1);
}

/* Changes that come as two hits, of which the first is right; and those that are none */
static void test_early(void **state)
{
	(void)state;
	call(1, 64, 0);
	wait(5);
	park(1);
	wait(50);
	cas(1, RUNNING, WAITING); /* the runtime's slow path, for the same */
	wait(7);
	change(0, CHANGE_SWITCHED, 0, 0, 0);
	change(0, CHANGE_SWITCHED, 0, 0, 0);
	wait(9);
	cas(1, RUNNING, RUNNING);
	cas(1, RUNNING, 8); /* its stack is copied: it runs */
	wait(11);
	cas(2, RUNNING, WAITING); /* has no calls */
	cas(1, RUNNING, DEAD);
	cas(1, DEAD, RUNNING);
	ret(1, 64, 0);
	expect(0, 25, 0, 0, 0, 57);
	/* before Go 1.20 a wait that leads to no run queue is for work that has not been noted */
	assert_int_equal(ns_of(0, STATE_OTHER_WORK), 57);
	expect_loss(STATE_LOSSES, 0);
}

/* What the wait is for is told: by the runtime's function that does it, or its number */
static void test_work(void **state)
{
	static const struct {
		enum state_change what;
		u32 state;
	} rows[] = {{CHANGE_STOP_WORLD, STATE_STOP_WORLD},
		    {CHANGE_MARK_DONE, STATE_MARK_DONE},
		    {CHANGE_DUMP_HEAP, STATE_DUMP_HEAP}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(state);
		call(1, 64, 0);
		change(1, rows[i].what, 0, 0, 0); /* it does not wait: that is none */
		park(1);
		change(0, rows[i].what, 0, 0, 0);
		wait(30);
		change(0, CHANGE_SWITCHED, 0, 0, 0);
		park(1);
		fakemem_put(fakegoroutine_g(1) + G_WAITREASON, 20);
		wait(5);
		change(0, CHANGE_SWITCHED, 0, 0, 0);
		ret(1, 64, 0);
		assert_int_equal(ns_of(0, rows[i].state), 30);
		assert_int_equal(ns_of(0, STATE_WAITING + 20), 5);
	}
	begin(state);
	call(1, 64, 0);
	cas(1, RUNNING, WAITING);
	wait(30);
	fakemem_put(fakegoroutine_g(1) + G_WAITREASON, STATE_REASONS);
	cas(1, WAITING, RUNNABLE);
	cas(1, RUNNABLE, RUNNING);
	cas(1, RUNNING, WAITING);
	wait(40);
	fakemem_put(fakegoroutine_g(1) + G_WAITREASON, STATE_REASONS - 1);
	cas(1, WAITING, RUNNABLE);
	cas(1, RUNNABLE, RUNNING);
	ret(1, 64, 0);
	assert_int_equal(ns_of(0, STATE_UNKNOWN), 30);
	assert_int_equal(ns_of(0, STATE_WAITING + STATE_REASONS - 1), 40);
}

static void test_unseen(void **state)
{
	(void)state;
	call(1, 64, 0);
	wait(10);
	cas(1, WAITING, RUNNABLE); /* it was not seen to wait */
	wait(20);
	cas(1, RUNNABLE, RUNNING);
	wait(30);
	ret(1, 64, 0);
	expect(0, 30, 20, 0, 10, 0);
	expect_loss(STATE_LOSS_UNSEEN, 1);
	/* a hit that comes late, by the clock */
	begin(state);
	call(1, 64, 0);
	wait(10);
	cas(1, RUNNING, RUNNABLE);
	fakekernel.ns -= 5;
	cas(1, RUNNABLE, RUNNING);
	expect_loss(STATE_LOSS_UNSEEN, 1);
}

/* What goroutines do that make a call, by their status */
static void test_first_state(void **state)
{
	static const u32 wanted[] = {STATE_RUNNING, STATE_RUNNABLE, STATE_RUNNING, STATE_SYSCALL,
				     STATE_UNKNOWN, STATE_RUNNING,  STATE_RUNNING, STATE_RUNNING,
				     STATE_RUNNING, STATE_UNKNOWN,  STATE_UNKNOWN, STATE_RUNNING,
				     STATE_RUNNING};

	for (u32 status = 0; status < sizeof(wanted) / sizeof(*wanted); status++) {
		begin(state);
		fakemem_put(fakegoroutine_g(1) + G_STATUS, status | 0x1000); /* scanned */
		call(1, 64, 0);
		wait(100);
		ret(1, 64, 0);
		if (ns_of(0, wanted[status]) != 100)
			fail_msg("status %u", status);
	}
	begin(state);
	fakemem_put(fakegoroutine_g(0) + G_STATUS, WAITING);
	call(0, 64, 0);
	wait(100);
	ret(0, 64, 0);
	assert_int_equal(ns_of(0, STATE_RUNNING), 100); /* a system stack has no state */
}

/* Of copies in one frame the outer one ends first: those inside it keep their times. */
static void test_outer_first(void **state)
{
	(void)state;
	for (u32 i = 0; i < 4; i++) {
		hit_copy(1, 64, i ? 1 : 0, COOKIE_CALL, i + 1);
		wait(10 << i);
	}
	change(1, CHANGE_SYSCALL, 0, 0, 0);
	wait(1000);
	change(1, CHANGE_RETURNED, 0, 0, 0);
	hit_copy(1, 64, 0, COOKIE_RETURN, 1);
	expect(0, 150, 0, 1000, 0, 0);
	wait(7);
	hit_copy(1, 64, 1, COOKIE_RETURN, 2);
	expect(1, 147, 0, 1000, 0, 0);
	hit_copy(1, 64, 1, COOKIE_RETURN, 4);
	expect(1, 147 + 87, 0, 2000, 0, 0);
	hit_copy(1, 64, 1, COOKIE_RETURN, 3);
	expect(1, 147 + 87 + 127, 0, 3000, 0, 0);
	assert_int_equal(clocks_map.count, 0);
	assert_int_equal(clocks_then_map.count, 0);
}

/* Calls that end otherwise leave nothing behind. */
static void test_forgotten(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 30; i++)
		call(1, 64 + 8 * i, 0);
	assert_int_equal(clocks_then_map.count, 29);
	call(1, 64 + 8 * 10, 0);
	assert_int_equal(clocks_then_map.count, 10);
	hit_copy(1, 64 + 8 * 10, 0, COOKIE_JUMP, 0);
	assert_int_equal(clocks_then_map.count, 9);
	hit_copy(1, 512, 0, COOKIE_GOEXIT, 0);
	assert_int_equal(clocks_then_map.count, 0);
	assert_int_equal(clocks_map.count, 0);
}

static void test_no_room(void **state)
{
	u32 zero = 0;

	(void)state;
	fakekernel.refuses = "clocks";
	call(1, 64, 0);
	expect_loss(STATE_LOSS_ROOM, 1);
	call(1, 128, 0);
	expect_loss(STATE_LOSS_ROOM, 2);
	wait(10);
	ret(1, 128, 0);
	assert_int_equal(ns_of(0, STATE_UNKNOWN), 10);
	begin(state);
	call(1, 64, 0);
	wait(1);
	fakekernel.refuses = "clocks_then";
	call(1, 128, 1);
	expect_loss(STATE_LOSS_ROOM, 1);
	wait(10);
	ret(1, 128, 1);
	assert_int_equal(ns_of(1, STATE_UNKNOWN), 10);
	ret(1, 64, 0);
	assert_int_equal(ns_of(0, STATE_RUNNING), 11);
	fakekernel.refuses = "state_sums";
	call(1, 64, 2);
	wait(10);
	ret(1, 64, 2);
	assert_int_equal(loss(STATE_LOSS_SUMS), 1);
	begin(state);
	change(0, CHANGE_PARK, 0x10, 0, 0);
	expect_loss(STATE_LOSS_UNREADABLE, 1);
	fakemem_put(fakegoroutine_m(0) + M_CURG, 0);
	change(0, CHANGE_SWITCHED, 0, 0, 0);
	expect_loss(STATE_LOSS_UNREADABLE, 2);
	control.lookup(&zero)->active = 0;
	change(0, CHANGE_SWITCHED, 0, 0, 0);
	expect_loss(STATE_LOSS_UNREADABLE, 2);
}

/* --- threads --- */

/* The current thread leaves its CPU, and `next` comes. */
static void switch_to(u32 next)
{
	struct fakegoroutine_task comes = {.tid = next, .tgid = FAKEGOROUTINE_PID};
	struct {
		u64 args[3];
	} ctx = {{0, 0, (u64)&comes}};

	on_switch((void *)&ctx);
	fakekernel.ids = (u64)FAKEGOROUTINE_PID << 32 | next;
}

static void test_off_cpu(void **state)
{
	const u64 ids = (u64)FAKEGOROUTINE_PID << 32 | FAKEGOROUTINE_TID;

	(void)state;
	call(1, 64, 0);
	wait(10);
	switch_to(99);
	wait(100);
	switch_to(FAKEGOROUTINE_TID);
	assert_int_equal(fakekernel.ids, ids);
	wait(20);
	ret(1, 64, 0);
	assert_int_equal(ns_of(0, STATE_RUNNING), 30);
	assert_int_equal(ns_of(0, STATE_OFF_CPU), 100);
	/* while it is in a system call, a thread may be off its CPU: that is none of it */
	call(1, 64, 1);
	change(1, CHANGE_SYSCALL, 0, 0, 0);
	switch_to(99);
	wait(50);
	switch_to(FAKEGOROUTINE_TID);
	change(1, CHANGE_RETURNED, 0, 0, 0);
	wait(5);
	ret(1, 64, 1);
	assert_int_equal(ns_of(1, STATE_OFF_CPU), 0);
	assert_int_equal(ns_of(1, STATE_SYSCALL), 50);
	assert_int_equal(ns_of(1, STATE_RUNNING), 5);
	/* off twice, with a turn of the clock between */
	call(1, 64, 2);
	for (unsigned i = 0; i < 2; i++) {
		switch_to(99);
		wait(10 + i);
		switch_to(FAKEGOROUTINE_TID);
		change(1, CHANGE_SYSCALL, 0, 0, 0);
		change(1, CHANGE_RETURNED, 0, 0, 0);
	}
	ret(1, 64, 2);
	assert_int_equal(ns_of(2, STATE_OFF_CPU), 21);
	assert_int_equal(threads_map.count, 1);
	on_thread_exit(NULL);
	assert_int_equal(threads_map.count, 0);
	expect_loss(STATE_LOSSES, 0);
}

/* It goes on on another thread, whose time off its CPU was before. */
static void test_other_thread(void **state)
{
	(void)state;
	fakekernel.ids++;
	call(2, 64, 1); /* this thread is followed, too */
	switch_to(1);
	wait(500);
	switch_to(FAKEGOROUTINE_TID + 1);
	ret(2, 64, 1);
	fakekernel.ids--;
	call(1, 64, 0);
	wait(10);
	cas(1, RUNNING, RUNNABLE);
	wait(100);
	fakekernel.ids++;
	cas(1, RUNNABLE, RUNNING);
	wait(30);
	switch_to(1);
	wait(7);
	switch_to(FAKEGOROUTINE_TID + 1);
	ret(1, 64, 0);
	assert_int_equal(ns_of(0, STATE_RUNNING), 40);
	assert_int_equal(ns_of(0, STATE_OFF_CPU), 7);
	assert_int_equal(ns_of(0, STATE_RUNNABLE), 100);
	/* that it has changed threads was not seen */
	fakekernel.ids--;
	call(1, 64, 2);
	fakekernel.ids++;
	wait(600);
	ret(1, 64, 2);
	assert_int_equal(ns_of(2, STATE_OFF_CPU), 0);
	assert_int_equal(ns_of(2, STATE_RUNNING), 600);
}

/* A kernel may not tell that a thread has come back: it has, after the last switch on its CPU. */
static void test_comes_unseen(void **state)
{
	struct fakegoroutine_task other = {.tid = 5, .tgid = 4};
	struct {
		u64 args[3];
	} ctx = {{0, 0, (u64)&other}};

	(void)state;
	call(1, 64, 0);
	wait(10);
	on_switch((void *)&ctx);
	wait(100);
	fakekernel.ids = 4ULL << 32 | 5;
	on_switch((void *)&ctx);
	fakekernel.ids = (u64)FAKEGOROUTINE_PID << 32 | FAKEGOROUTINE_TID;
	wait(20);
	ret(1, 64, 0);
	assert_int_equal(ns_of(0, STATE_OFF_CPU), 100);
	assert_int_equal(ns_of(0, STATE_RUNNING), 30);
	u32 zero = 0;

	assert_int_equal(switches.lookup(&zero)->count, 2);
}

/* A switch between a hit and its reading of the clock: */
static void test_switched_meanwhile(void **state)
{
	struct thread_time time = {.off_ns = 300, .before_ns = 100, .in_ns = 50};

	(void)state;
	assert_int_equal(thread_off(&time, 49), 100);
	assert_int_equal(thread_off(&time, 50), 300);
	time.out_ns = 70;
	thread_comes(&time, 69); /* no time has passed */
	assert_int_equal(time.off_ns, 300);
	assert_int_equal(time.before_ns, 300);
	assert_int_equal(time.in_ns, 69);
	assert_int_equal(time.out_ns, 0);
	thread_comes(&time, 99);
	assert_int_equal(time.in_ns, 69);
	thread_comes(NULL, 99);
	/* more time off than has passed */
	struct state_clock clock = {.since_ns = 1000, .thread = FAKEGOROUTINE_TID};
	u32 tid = FAKEGOROUTINE_TID;
	struct thread_time off = {.off_ns = 500};

	threads.update(&tid, &off);
	clock_turn(&clock, STATE_RUNNING, 1100);
	assert_int_equal(clock.ns[STATE_OFF_CPU], 100);
	assert_int_equal(clock.ns[STATE_RUNNING], 0);
}

static void test_no_room_for_threads(void **state)
{
	(void)state;
	fakekernel.refuses = "threads";
	call(1, 64, 0);
	expect_loss(STATE_LOSS_THREADS, 1);
	wait(10);
	switch_to(1);
	wait(10);
	switch_to(FAKEGOROUTINE_TID);
	ret(1, 64, 0);
	expect_loss(STATE_LOSS_THREADS, 2);
	assert_int_equal(ns_of(0, STATE_RUNNING), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_all_states, begin),
		cmocka_unit_test_setup(test_early, begin),
		cmocka_unit_test_setup(test_work, begin),
		cmocka_unit_test_setup(test_unseen, begin),
		cmocka_unit_test_setup(test_first_state, begin),
		cmocka_unit_test_setup(test_outer_first, begin),
		cmocka_unit_test_setup(test_forgotten, begin),
		cmocka_unit_test_setup(test_no_room, begin),
		cmocka_unit_test_setup(test_off_cpu, begin),
		cmocka_unit_test_setup(test_other_thread, begin),
		cmocka_unit_test_setup(test_comes_unseen, begin),
		cmocka_unit_test_setup(test_switched_meanwhile, begin),
		cmocka_unit_test_setup(test_no_room_for_threads, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
