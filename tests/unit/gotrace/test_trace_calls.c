// SPDX-License-Identifier: Apache-2.0
/* gotrace's kernel side, run on this side: which calls are printed, when, and with what; calls that
 * are waited for, how they end, and which of them are lost. */
#define STRING_MAX 16
#define SAVED_MAX 8
#define RING_PAGES 1
#define PLACES 24
#define CALLS 500
#define RETURNS
#define USER_FRAMES 0
#define KERNEL_FRAMES 0
#define EMULATED_RETS

#include "traceplans.h"

#include "bpf-src/gotrace.bpf.c" /* NOLINT(bugprone-suspicious-include) */

#include "tracehits.h"

static void test_entries(void **state)
{
	u32 zero = 0;

	(void)state;
	place(0, 3, ENTRY_PLAN);
	place(1, 4, ENTRY_PLAN)->addr = 0;
	fakekernel.cpu = 6;
	call(1, 64, 0, 7);
	call(2, 64, 0, NO);
	call(2, 64, 0, BAD);
	call(2, 64, 1, 7);
	hit(3, 64, 0, COOKIE_NONE, 7);
	regs.flags = 0x40;
	hit(3, 64, 0, COOKIE_CALL_IF_CHECKED, 7);
	regs.flags = 0;
	hit(3, 64, 0, COOKIE_CALL_IF_CHECKED, 8);
	call(0, 64, 0, 9);
	expect_events("3 entry @1000 g1 cpu 6: 7; 3 entry @1010 g3 cpu 6: 8; 3 entry @1020 "
		      "cpu 6: 9; ");
	expect_counts("1 1; ");
	fakekernel.ring_room = 0;
	call(1, 64, 0, 7);
	fakemem_put(fakegoroutine_g(1) + GOID_OFF, 0);
	fakekernel.ring_room = 9;
	regs.r14 = 0;
	*ended.lookup(&zero) = 1;
	call(2, 64, 0, 7);
	expect_events("");
	expect_counts("0 1; 1 1; ");
}

/* What the event tells of who made the call cannot be read. */
static void test_nameless(void **state)
{
	(void)state;
	place(0, 3, ENTRY_PLAN);
	place(1, 4, RETURN_PLAN);
	call(12, 64, 0, 7);
	fakemem.size = 0;
	call(1, 64, 0, 7);
	call(1, 64, 1, 7);
	ret(1, 64, 1, 7);
	expect_events("3 entry @1000: 7; 3 entry @1010: 7; ");
	expect_counts("4 1; 5 1; ");
}

static void test_returns(void **state)
{
	(void)state;
	place(0, 3, RETURN_PLAN);
	place(1, 4, RETURN_PLAN);
	call(1, 64, 0, 1);  /* begins at 1010 */
	call(1, 128, 1, 2); /* 1030 */
	ret(1, 128, 1, 3);
	call(2, 64, 1, 4);
	call(1, 128, 1, NO);
	ret(1, 128, 1, 5);
	call(1, 128, 1, BAD);
	ret(1, 128, 1, 6);
	ret(1, 64, 0, 7);
	ret(2, 64, 1, NO);
	ret(2, 64, 1, 9);
	expect_events("4 returned @1040+10 g1: 2 3; 3 returned @1110+100 g1: 1 7; 4 returned "
		      "@1120+60 g2: 4 63; ");
	expect_counts("1 1; ");
	assert_int_equal(goroutines_map.count, 0);
	assert_int_equal(deep_calls_map.count, 0);
}

/* A RET that has been carried out tells neither where it was nor the call's stack pointer. */
static void test_carried_out(void **state)
{
	u64 at = TRACEHITS_SITE * 2;

	(void)state;
	place(0, 3, RETURN_PLAN);
	place(1, 3, RETURN_PLAN);
	call(1, 64, 0, 1);
	fakegoroutine_runs(1, 64 - 8);
	regs.ip = 0x123456;
	fakekernel.cookie = cookie_of_ret(cookie_make(1, COOKIE_RETURN, 0, 0), at);
	assert_int_equal(handle(&regs, 0), 0);
	expect_events("3 returned @1020+10 g1: 1 1; ");
	call(1, 64, 0, 1);
	fakegoroutine_runs(1, 64);
	regs.ip = TRACEHITS_BIAS + at;
	assert_int_equal(handle(&regs, 0), 0);
	expect_events("3 unseen @1050+10 g1: 1; ");
	expect_counts("");
}

/* The predicate asks for the result: what has none is counted, by how it ended. */
static void test_results(void **state)
{
	u64 key;

	(void)state;
	place(0, 3, RESULT_PLAN);
	call(1, 64, 0, NO);
	ret(1, 64, 0, 2);
	call(1, 64, 0, 3);
	ret(1, 64, 0, NO);
	call(1, 64, 0, 4);
	ret(1, 64, 0, BAD);
	call(1, 64, 0, 5);
	hit(1, 64, 0, COOKIE_JUMP, 6);
	call(1, 64, 0, 7);
	hit(1, 32, 0, COOKIE_GOEXIT, 0);
	call(1, 64, 0, 7);
	hit(1, 32, 0, COOKIE_GOEXIT, 0);
	expect_events("3 returned @1020+10 g1: 63 2; ");
	expect_counts("1 1; 6 3; ");
	key = trace_untested(3, TRACE_JUMPED);
	assert_int_equal(*untested.lookup(&key), 1);
	key = trace_untested(3, TRACE_EXITED);
	assert_int_equal(*untested.lookup(&key), 2);
	assert_int_equal(untested_map.count, 2);
}

static void test_jumps(void **state)
{
	(void)state;
	place(0, 3, RETURN_PLAN);
	call(1, 64, 0, 1);
	hit(1, 64, 0, COOKIE_JUMP, 2);
	ret(1, 64, 0, 3);
	expect_events("3 jumped @1020+10 g1: 1; ");
	call(1, 64, 0, 1);
	fakekernel.ring_room = 0;
	hit(1, 64, 0, COOKIE_JUMP, 2);
	expect_events("");
	expect_counts("0 1; ");
}

/* What its goroutine's stack no longer reaches down to is over, nobody knows how. */
static void test_lost_ends(void **state)
{
	(void)state;
	for (u32 row = 0; row < 3; row++)
		place(row, row, RETURN_PLAN);
	call(1, 64, 0, 1);
	call(1, 128, 1, 2);
	call(1, 192, 2, 3);
	call(1, 128, 1, 4);
	expect_events("2 unseen @1060+10 g1: 3; 1 unseen @1060+30 g1: 2; ");
	call(1, 192, 2, 5);
	ret(1, 64, 0, 6);
	expect_events("2 unseen @1100+10 g1: 5; 1 unseen @1100+30 g1: 4; 0 returned @1100+90 "
		      "g1 wakes: 1 6; ");
	/* on a system stack it was left */
	call(0, 64, 0, 1);
	call(0, 128, 1, 2);
	call(0, 64, 2, 3);
	expect_events("1 left @1150+10: 2; 0 left @1150+30: 1; ");
	expect_counts("");
	assert_int_equal(goroutines_map.count, 1);
}

static void test_hooks(void **state)
{
	static const struct {
		enum cookie_kind kind;
		unsigned left;
		const char *events;
	} rows[] = {{COOKIE_RECOVERED, 1, "3 panicked @1060+10 g1: 3; 3 panicked @1060+30 g1: 2; "},
		    {COOKIE_GOEXIT, 0,
		     "3 exited @1060+10 g1: 3; 3 exited @1060+30 g1: 2; 3 exited @1060+50 "
		     "g1: 1; "},
		    {COOKIE_FATAL, 0,
		     "3 panicked @1060+10 g1: 3; 3 panicked @1060+30 g1: 2; 3 panicked "
		     "@1060+50 g1: 1; "}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(state);
		place(1, 3, RETURN_PLAN);
		call(1, 64, 1, 1);
		call(1, 128, 1, 2);
		call(1, 192, 1, 3);
		fakemem_put(fakegoroutine_g(1) + G_SCHED_SP, fakegoroutine_hi(1) - 128);
		hit(1, 256, 0, rows[i].kind, 0);
		expect_events(rows[i].events);
		assert_int_equal(goroutines_map.count, rows[i].left);
		assert_int_equal(deep_calls_map.count, rows[i].left);
	}
}

/* --- several calls at one depth --- */

/* PROBEs of one function begin at one site, and each return is of the first. */
static void test_same_depth(void **state)
{
	(void)state;
	for (u32 row = 0; row < 12; row++)
		place(row, row, RETURN_PLAN)->addr = TRACEHITS_SITE * 5;
	for (u32 row = 0; row < 9; row++)
		call(1, 64, row, row + 1);
	expect_events("");
	for (u32 row = 9; row; row--)
		ret(1, 64, row - 1, row);
	expect_events("8 returned @1180+10 g1: 9 9; 7 returned @1190+40 g1: 8 8; 6 returned "
		      "@1200+70 g1: 7 7; 5 returned @1210+100 g1: 6 6; 4 returned @1220+130 "
		      "g1 wakes: 5 5; 3 returned @1230+160 g1: 4 4; 2 returned @1240+190 g1: "
		      "3 3; 1 returned @1250+220 g1: 2 2; 0 returned @1260+250 g1: 1 1; ");
	assert_int_equal(goroutines_map.count, 0);
	/* the last call of the same row began here before: its end was not seen */
	for (u32 row = 0; row < 8; row++)
		call(1, 64, row, row + 1);
	call(1, 64, 0, 20);
	call(1, 64, 7, 21);
	expect_events("0 unseen @1430+150 g1 wakes: 1; 7 unseen @1450+30 g1: 8; ");
	call(1, 64, 8, 9);
	call(1, 64, 0, 22);
	expect_events("");
	ret(1, 64, 0, 30);
	ret(1, 64, 0, 31);
	ret(1, 64, 0, 32);
	expect_events("0 returned @1510+10 g1: 16 1e; ");
	expect_counts("");
}

/* Another function's beginning at the same depth: the first has ended. */
static void test_other_site(void **state)
{
	(void)state;
	place(0, 0, RETURN_PLAN);
	place(1, 1, RETURN_PLAN);
	call(1, 64, 0, 1);
	call(1, 64, 1, 2);
	expect_events("0 unseen @1020+10 g1: 1; ");
	ret(1, 64, 0, 3);
	ret(1, 64, 1, 4);
	expect_events("1 returned @1050+20 g1: 2 4; ");
	/* not so of inlined copies, which share their frame's depth */
	hit_copy(0, 1, 64, 0, COOKIE_CALL, 1, 1);
	hit_copy(0, 1, 64, 1, COOKIE_CALL, 2, 2);
	hit_copy(0, 1, 64, 0, COOKIE_CALL, 3, 3);
	expect_events("");
	hit_copy(0, 1, 64, 0, COOKIE_RETURN, 4, 1);
	hit_copy(0, 1, 64, 0, COOKIE_RETURN, 5, 2);
	hit_copy(0, 1, 64, 1, COOKIE_RETURN, 6, 2);
	hit_copy(0, 1, 64, 0, COOKIE_RETURN, 7, 3);
	expect_events("0 returned @1120+50 g1: 1 4; 1 returned @1140+50 g1: 2 6; 0 returned "
		      "@1150+40 g1 wakes: 3 7; ");
	assert_int_equal(goroutines_map.count, 0);
}

/* Calls that leave by a jump: those that return to one place end together. */
static void test_tails(void **state)
{
	(void)state;
	for (u32 row = 0; row < 4; row++)
		place(row, row, RETURN_PLAN);
	fakemem_put(fakegoroutine_hi(1) - 64, 0x4444);
	fakemem_put(fakegoroutine_hi(1) - 128, 0x5555);
	hit_copy(0, 1, 64, 0, COOKIE_CALL, 1, COOKIE_TAIL);
	hit_copy(0, 1, 64, 1, COOKIE_CALL, 2, COOKIE_TAIL);
	hit_copy(0, 1, 128, 2, COOKIE_CALL, 3, COOKIE_TAIL);
	hit_copy(0, 1, 128, 3, COOKIE_RETURN, 4, COOKIE_TAIL);
	expect_events("2 returned @1060+10 g1: 3 4; ");
	hit_copy(0, 1, 64, 1, COOKIE_RETURN, 5, COOKIE_TAIL);
	hit_copy(0, 1, 64, 1, COOKIE_RETURN, 6, COOKIE_TAIL);
	expect_events("1 returned @1070+40 g1: 2 5; 0 returned @1080+70 g1: 1 6; ");
	assert_int_equal(goroutines_map.count, 0);
	/* several PROBEs of one such function */
	place(5, 5, RETURN_PLAN)->addr = place(4, 4, RETURN_PLAN)->addr;
	hit_copy(0, 1, 128, 4, COOKIE_CALL, 1, COOKIE_TAIL);
	hit_copy(0, 1, 128, 5, COOKIE_CALL, 2, COOKIE_TAIL);
	hit_copy(0, 1, 128, 4, COOKIE_RETURN, 3, COOKIE_TAIL);
	expect_events("4 returned @1130+30 g1: 1 3; ");
	hit_copy(0, 1, 128, 5, COOKIE_RETURN, 4, COOKIE_TAIL);
	expect_events("5 returned @1140+20 g1 wakes: 2 4; ");
	/* one that returns elsewhere shows that they are over */
	hit_copy(0, 1, 64, 0, COOKIE_CALL, 1, COOKIE_TAIL);
	hit_copy(0, 1, 64, 1, COOKIE_CALL, 2, COOKIE_TAIL);
	fakemem_put(fakegoroutine_hi(1) - 64, 0x6666);
	hit_copy(0, 1, 64, 0, COOKIE_CALL, 3, COOKIE_TAIL);
	expect_events("1 unseen @1190+10 g1: 2; 0 unseen @1190+30 g1: 1; ");
	expect_counts("");
}

/* --- many calls --- */

/* One that ends many reports so many of them, and forgets so many more. */
static void test_many(void **state)
{
	(void)state;
	place(0, 0, RETURN_PLAN);
	place(1, 1, RETURN_PLAN);
	place(2, 2, RETURN_PLAN);
	call(1, 64, 1, 1);
	call(1, 128, 2, 2);
	for (unsigned i = 0; i < 400; i++)
		call(1, 256 + 8 * i, 0, 1);
	assert_int_equal(deep_calls_map.count, 402);
	ret(1, 64, 1, 0);
	assert_int_equal(fakekernel.event_count, 65);
	fakekernel.events[0] = fakekernel.events[63];
	fakekernel.events[1] = fakekernel.events[64];
	fakekernel.event_count = 2;
	expect_events("0 unseen @9040+1270 g1: 1; 1 returned @9040+8030 g1 wakes: 1 0; ");
	expect_counts("7 337; ");
	assert_int_equal(goroutines_map.count, 0);
	/* the next calls write over what is left */
	assert_int_equal(deep_calls_map.count, 402 - 64 - 256 - 1);
	call(1, 64, 1, 1);
	ret(1, 64, 1, 2);
	expect_events("1 returned @9070+10 g1: 1 2; ");
}

static void test_all_over(void **state)
{
	(void)state;
	place(0, 0, RETURN_PLAN);
	for (unsigned i = 0; i < 70; i++)
		call(1, 64 + 8 * i, 0, i);
	hit(1, 32, 0, COOKIE_GOEXIT, 0);
	assert_int_equal(fakekernel.event_count, 64);
	expect_counts("7 6; ");
	assert_int_equal(deep_calls_map.count, 0);
	assert_int_equal(goroutines_map.count, 0);
}

static void test_few_over(void **state)
{
	(void)state;
	place(0, 0, RETURN_PLAN);
	for (unsigned i = 0; i < 140; i++)
		call(1, 64 + 8 * i, 0, 1000 + i);
	ret(1, 64 + 8 * 20, 0, 0);
	assert_int_equal(fakekernel.event_count, 65);
	fakekernel.event_count = 0;
	expect_counts("7 55; ");
	assert_int_equal(deep_calls_map.count, 20);
	ret(1, 64 + 8 * 19, 0, 0);
	expect_events("0 returned @3810+2420 g1: 3fb 0; ");
}

/* --- no room, no memory --- */

static void test_refusals(void **state)
{
	static const char *const maps[] = {"goroutines", "deep_calls", "processes"};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		begin(state);
		place(0, 0, RETURN_PLAN);
		fakekernel.refuses = maps[i];
		call(1, 64, 0, 1);
		fakekernel.refuses = NULL;
		ret(1, 64, 0, 1);
		expect_events("");
		expect_counts("3 1; ");
	}
	for (unsigned i = 0; i <= CALLS; i++)
		call(1, 64 + 8 * i, 0, 1);
	expect_counts("2 1; 3 1; ");
}

/* The reader is woken when an eighth of the ring is full. */
static void test_wakes(void **state)
{
	u32 sent = TRACE_SENT;

	(void)state;
	place(0, 0, ENTRY_PLAN);
	for (unsigned i = 0; i < 10; i++)
		call(1, 64, 0, i);
	expect_events("0 entry @1000 g1: 0; 0 entry @1010 g1: 1; 0 entry @1020 g1: 2; 0 "
		      "entry @1030 g1: 3; 0 entry @1040 g1 wakes: 4; 0 entry @1050 g1: 5; 0 "
		      "entry @1060 g1: 6; 0 entry @1070 g1: 7; 0 entry @1080 g1: 8; 0 entry "
		      "@1090 g1 wakes: 9; ");
	*counters.lookup(&sent) = RING_BYTES / 8 - sizeof(struct trace_event) - 8;
	call(1, 64, 0, 1);
	call(1, 64, 0, 2);
	expect_events("0 entry @1100 g1: 1; 0 entry @1110 g1 wakes: 2; ");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_entries, begin),
		cmocka_unit_test_setup(test_nameless, begin),
		cmocka_unit_test_setup(test_returns, begin),
		cmocka_unit_test_setup(test_carried_out, begin),
		cmocka_unit_test_setup(test_results, begin),
		cmocka_unit_test_setup(test_jumps, begin),
		cmocka_unit_test_setup(test_lost_ends, begin),
		cmocka_unit_test(test_hooks),
		cmocka_unit_test_setup(test_same_depth, begin),
		cmocka_unit_test_setup(test_other_site, begin),
		cmocka_unit_test_setup(test_tails, begin),
		cmocka_unit_test_setup(test_many, begin),
		cmocka_unit_test_setup(test_all_over, begin),
		cmocka_unit_test_setup(test_few_over, begin),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test_setup(test_wakes, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
