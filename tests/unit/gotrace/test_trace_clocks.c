// SPDX-License-Identifier: Apache-2.0
/* How long each of gotrace's calls was in each state, as its kernel side adds it up, run on this
 * side: running, runnable, in system calls, unknown, waiting. Calls below a call of ROOT alone. */
#define STRING_MAX 16
#define SAVED_MAX 56
#define RING_PAGES 16
#define PLACES 24
#define CALLS 200
#define RETURNS
#define USER_FRAMES 0
#define KERNEL_FRAMES 0
#define STATES_WANTED
#define GOROUTINES 4
#define WAITS_AS_ONE
#define IDENTITY_FIRST
#define ROOTS 8
#define CALLER_SECOND

#include "traceplans.h"

#include "bpf-src/gotrace.bpf.c" /* NOLINT(bugprone-suspicious-include) */

#include "tracehits.h"

enum { SYSCALL = 3, ROOT_DEPTH = 8 };

static void root(unsigned n, enum cookie_kind kind)
{
	fakegoroutine_runs(n, ROOT_DEPTH);
	fakekernel.cookie = cookie_make(0, kind, 0, 0);
	assert_int_equal(on_root(&regs), 0);
}

/* All but the last goroutines are below calls of ROOT. */
static int prepare(void **state)
{
	begin(state);
	fakekernel.ns_step = 0;
	for (unsigned n = 0; n <= 5; n++) {
		fakemem_put(fakegoroutine_g(n) + G_STATUS, RUNNING);
		if (n && n < 5)
			root(n, COOKIE_CALL);
	}
	fakemem_put(fakegoroutine_m(0) + M_CURG, fakegoroutine_g(1));
	for (u32 row = 0; row < 3; row++)
		place(row, row, RETURN_PLAN);
	place(3, 3, ENTRY_PLAN);
	return 0;
}

static void wait(u64 ns)
{
	fakekernel.ns += ns;
}

/* In the scheduler, on goroutine n's thread */
static void change(unsigned n, enum state_change what, u64 ax, u64 bx, u64 cx)
{
	fakegoroutine_runs(n, 16);
	regs.ax = ax;
	regs.bx = bx;
	regs.cx = cx;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 0, what);
	assert_int_equal(on_state_change(&regs), 0);
}

static void cas(unsigned n, u32 from, u32 to)
{
	change(0, CHANGE_CAS, fakegoroutine_g(n), from, to);
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(state_losses, which);
}

/* Calls in calls: each has what its goroutine did since it began. */
static void test_nested(void **state)
{
	(void)state;
	call(1, 64, 0, 0xa);
	wait(1);
	call(1, 128, 1, 0xb);
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
	ret(1, 128, 1, 0xc);
	expect_events("1 returned @12134+11133 g1 root 1: 21 2710 64 0 3e8 b c; ");
	wait(4);
	call(1, 128, 2, 0xd);
	wait(5);
	ret(1, 128, 2, 0xe);
	ret(1, 64, 0, 0xf);
	expect_events("2 returned @12143+5 g1 root 1: 5 0 0 0 0 d e; 0 returned @12143+11143 "
		      "g1 root 1: 2b 2710 64 0 3e8 a f; ");
	assert_int_equal(clocks_map.count, 0);
	assert_int_equal(loss(STATE_LOSS_UNSEEN), 0);
	/* another goroutine's, at the same time */
	call(1, 64, 0, 1);
	wait(7);
	call(2, 64, 0, 2);
	change(1, CHANGE_SYSCALL, 0, 0, 0);
	wait(30);
	ret(2, 64, 0, 3);
	change(1, CHANGE_RETURNED, 0, 0, 0);
	ret(1, 64, 0, 4);
	expect_events("0 returned @12180+30 g2 root 2: 1e 0 0 0 0 2 3; 0 returned @12180+37 "
		      "g1 root 1: 7 0 1e 0 0 1 4; ");
}

/* Calls that end otherwise, in whatever state: all of it is in the events. */
static void test_abandoned(void **state)
{
	(void)state;
	call(1, 64, 0, 1);
	wait(1);
	call(1, 128, 1, 2);
	wait(10);
	change(1, CHANGE_SYSCALL, 0, 0, 0);
	wait(100);
	hit(1, 32, 0, COOKIE_GOEXIT, 0);
	expect_events("1 exited @1111+110 g1 root 1: a 0 64 0 0 2 0; 0 exited @1111+111 g1 "
		      "root 1: b 0 64 0 0 1 0; ");
	assert_int_equal(clocks_map.count, 0);
	/* one whose end was not seen, at the same depth */
	call(1, 64, 0, 3);
	wait(5);
	call(1, 64, 0, 4);
	wait(6);
	hit(1, 64, 0, COOKIE_JUMP, 5);
	expect_events("0 unseen @1116+5 g1 root 1: 5 0 0 0 0 3 0; 0 jumped @1122+6 g1 root "
		      "1: 6 0 0 0 0 4 0; ");
}

/* Where a call begins its goroutine does not run, or its state is none. */
static void test_beginnings(void **state)
{
	static const u32 statuses[] = {RUNNABLE, RUNNING, SYSCALL, WAITING, 6, 0x1000 | SYSCALL};

	for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++) {
		prepare(state);
		fakemem_put(fakegoroutine_g(1) + G_STATUS, statuses[i]);
		call(1, 64, 0, statuses[i]);
		wait(9);
		ret(1, 64, 0, 0);
		steps_are("status %x", statuses[i]);
		eventtext_all(TRACEHITS_BIAS);
		assert_int_equal(loss(STATE_LOSS_UNSEEN), 0);
	}
	steps_expect("status 1003; 0 returned @1009+9 g1 root 1: 0 0 9 0 0 1003 0; ");
}

/* A change that was not seen makes the time before it unknown; so does a clock that is ahead. */
static void test_unknown(void **state)
{
	struct goroutine_key who;

	(void)state;
	call(1, 64, 0, 1);
	wait(9);
	change(1, CHANGE_RETURNED, 0, 0, 0);
	wait(1);
	ret(1, 64, 0, 2);
	expect_events("0 returned @1010+10 g1 root 1: 1 0 0 9 0 1 2; ");
	assert_int_equal(loss(STATE_LOSS_UNSEEN), 1);
	call(1, 64, 0, 1);
	who = *(const struct goroutine_key *)fakemap_key(&clocks_map, 0);
	wait(5);
	clocks.lookup(&who)->since_ns += 6;
	ret(1, 64, 0, 2);
	call(1, 64, 0, 1);
	wait(5);
	clocks.lookup(&who)->since_ns += 5;
	clocks.lookup(&who)->ns[STATE_WAITING] += 5;
	ret(1, 64, 0, 2);
	call(1, 64, 0, 1);
	wait(5);
	clocks.lookup(&who)->ns[STATE_WAITING] += 1;
	ret(1, 64, 0, 2);
	expect_events("0 returned @1015+5 g1 root 1: 0 0 0 5 0 1 2; 0 returned @1020+5 g1 "
		      "root 1: 0 0 0 0 5 1 2; 0 returned @1025+5 g1 root 1: 0 0 0 5 0 1 2; ");
}

/* A change may come as two hits, and that once alone. */
static void test_early(void **state)
{
	(void)state;
	call(1, 64, 0, 1);
	wait(2);
	change(0, CHANGE_PARK, fakegoroutine_g(1), 0, 0);
	wait(3);
	cas(1, RUNNING, WAITING);
	assert_int_equal(loss(STATE_LOSS_UNSEEN), 0);
	wait(4);
	cas(1, RUNNING, WAITING);
	assert_int_equal(loss(STATE_LOSS_UNSEEN), 1);
	cas(1, WAITING, RUNNABLE);
	cas(1, RUNNABLE, RUNNING);
	ret(1, 64, 0, 2);
	expect_events("0 returned @1009+9 g1 root 1: 2 0 0 7 0 1 2; ");
}

static void test_no_room(void **state)
{
	(void)state;
	fakekernel.refuses = "clocks";
	call(1, 64, 0, 1);
	fakekernel.refuses = NULL;
	wait(5);
	call(1, 128, 1, 2);
	wait(6);
	ret(1, 128, 1, 3);
	ret(1, 64, 0, 4);
	expect_events("1 returned @1011+6 g1 root 1: 0 0 0 6 0 2 3; 0 returned @1011+11 g1 "
		      "root 1: 0 0 0 b 0 1 4; ");
	assert_int_equal(loss(STATE_LOSS_ROOM), 2);
	/* one of before is not gone on with */
	call(1, 64, 0, 1);
	wait(7);
	fakekernel.refuses = NULL;
	ret(1, 64, 0, 4);
	expect_events("0 returned @1018+7 g1 root 1: 7 0 0 0 0 1 4; ");
	*ended.lookup(&(u32){0}) = 1;
	call(1, 64, 0, 1);
	change(1, CHANGE_SYSCALL, 0, 0, 0);
	assert_int_equal(clocks_map.count, 0);
}

/* --- ROOT --- */

static void test_roots(void **state)
{
	(void)state;
	call(2, 64, 3, 1);
	call(5, 64, 3, 2);
	call(5, 64, 0, 3);
	ret(5, 64, 0, 4);
	call(3, 64, 0, 5);
	expect_events("3 entry @1000 g2 root 2: 1; ");
	root(3, COOKIE_RETURN);
	call(3, 64, 3, 6);
	call(3, 128, 1, 7);
	ret(3, 128, 1, 8);
	expect_events("");
	root(3, COOKIE_CALL);
	call(3, 128, 1, 9);
	wait(2);
	ret(3, 128, 1, 10);
	ret(3, 64, 0, 11);
	call(3, 64, 3, 12);
	call(3, 64, 2, 13);
	hit(3, 16, 0, COOKIE_GOEXIT, 0);
	expect_events("1 returned @1002+2 g3 root 5: 2 0 0 0 0 9 a; 0 returned @1002+2 g3 "
		      "root 3: 2 0 0 0 0 5 b; 3 entry @1002 g3 root 5: c; 2 exited @1002 g3 "
		      "root 5: 0 0 0 0 0 d 0; ");
	expect_counts("");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nested, prepare),
		cmocka_unit_test_setup(test_abandoned, prepare),
		cmocka_unit_test(test_beginnings),
		cmocka_unit_test_setup(test_unknown, prepare),
		cmocka_unit_test_setup(test_early, prepare),
		cmocka_unit_test_setup(test_no_room, prepare),
		cmocka_unit_test_setup(test_roots, prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
