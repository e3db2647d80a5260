// SPDX-License-Identifier: Apache-2.0
/* gotree's kernel side, run on this side with goroutines that are made up: which calls are kept of
 * which tree, how they ended, and what is told of those that are not kept. */
#include "fakegoroutine.h"
#include "unit.h"

#define TREES 4
#define ROOT_ROWS 2
#define SLOWER_NS 20
#define RING_PAGES 1
#define FOLLOW
#define CALLER_SECOND

#include "bpf-src/gotree.bpf.c" /* NOLINT(bugprone-suspicious-include) */
#include "treeprogram.h"
#include "treetext.h"

static void test_returns(void **state)
{
	(void)state;
	call(1, 64, 2); /* not ROOT: no tree yet */
	call(1, 72, 0);
	call(1, 128, 2);
	call(1, 192, 3);
	ret(1, 192, 3);
	call(1, 192, 4);
	ret(1, 192, 4);
	assert_int_equal(fakekernel.event_count, 0);
	assert_int_equal(trees_map.count, 1);
	ret(1, 128, 2);
	call(2, 64, 1); /* another goroutine's, with its own tree */
	ret(1, 72, 0);
	assert_int_equal(trees_map.count, 1);
	look(1, 64);
	ret(2, 64, 1);
	expect("1140 g1 p77 bank f0 0-4 cut 0: 0@9^-1R1020+120 2@16^0R1040+70 3@24^1R1060+10 "
	       "4@24^1R1090+10\n"
	       "1160 g2 p77 bank f0 0-1 cut 0: 1@8^-1R1130+30\n");
	assert_int_equal(trees_map.count, 0);
	assert_int_equal(processes_map.count, 1);
	expect_losses(0, 0, 0, 0, 0, 0);
}

/* What is at a depth, or deeper, where another one begins is over, and so is what a return passes
 * by; how it ended was not seen. */
static void test_unseen(void **state)
{
	(void)state;
	call(1, 64, 0);
	call(1, 128, 2);
	call(1, 192, 3);
	call(1, 128, 4);
	call(1, 192, 5);
	ret(1, 64, 0);
	expect("1100 g1 p77 bank f0 0-5 cut 0: 0@8^-1R1010+90 2@16^0U1030+30 3@24^1U1050+10 "
	       "4@16^0U1070+30 5@24^3U1090+10\n");
	expect_losses(0, 0, 0, 0, 0, 0);
}

/* The call itself is found to be over as well, and another one of ROOT's begins in its place. */
static void test_root_unseen(void **state)
{
	(void)state;
	call(1, 64, 0);
	call(1, 72, 3);
	call(1, 64, 0);
	look(1, 80);
	look(1, 56);
	expect("1040 g1 p77 bank f0 0-2 cut 0: 0@8^-1U1010+30 3@9^0U1030+10\n"
	       "1070 g1 p77 bank f0 0-1 cut 0: 0@8^-1U1050+20\n");
}

/* How the hooks in the runtime end calls. */
static void test_hooks(void **state)
{
	static const struct {
		enum cookie_kind kind;
		const char *wanted;
	} rows[] = {
		{COOKIE_RECOVERED,
		 "1080 g1 p77 bank f0 0-3 cut 0: 0@8^-1R1010+70 2@16^0P1030+30 3@24^1P1050+10\n"},
		{COOKIE_GOEXIT,
		 "1060 g1 p77 bank f0 0-3 cut 0: 0@8^-1X1010+50 2@16^0X1030+30 3@24^1X1050+10\n"},
		{COOKIE_FATAL,
		 "1060 g1 p77 bank f0 0-3 cut 0: 0@8^-1P1010+50 2@16^0P1030+30 3@24^1P1050+10\n"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(state);
		call(1, 64, 0);
		call(1, 128, 2);
		call(1, 192, 3);
		fakemem_put(fakegoroutine_g(1) + G_SCHED_SP, fakegoroutine_hi(1) - 128);
		hit(1, 256, 0, rows[i].kind);
		look(1, 128);
		ret(1, 64, 0);
		expect(rows[i].wanted);
	}
}

/* Its end is not seen where it goes on. */
static void test_jump(void **state)
{
	(void)state;
	call(1, 64, 0);
	call(1, 128, 2);
	hit(1, 128, 2, COOKIE_JUMP);
	ret(1, 64, 0);
	expect("1050 g1 p77 bank f0 0-2 cut 0: 0@8^-1R1010+40 2@16^0J1030+10\n");
}

/* Copies in one frame are told apart by their number, and end with what is nested in them. */
static void test_copies(void **state)
{
	(void)state;
	call(1, 64, 0);
	hit_copy(1, 128, 2, COOKIE_CALL, 1);
	hit_copy(1, 128, 3, COOKIE_CALL, 2);
	hit_copy(1, 128, 3, COOKIE_RETURN, 3); /* of none of these */
	hit_copy(1, 128, 4, COOKIE_RETURN, 2);
	hit_copy(1, 128, 2, COOKIE_RETURN, 1);
	ret(1, 64, 0);
	expect("1090 g1 p77 bank f0 0-3 cut 0: 0@8^-1R1010+80 2@16^0R1030+50 3@16^1R1050+30\n");
}

/* So many of them in one frame are looked through, but no more. */
static void test_many_copies(void **state)
{
	(void)state;
	for (u32 copies = SAME_DEPTH_MAX; copies <= SAME_DEPTH_MAX + 1; copies++) {
		const struct tree_event *e = (void *)fakekernel.events[0].data;

		begin(state);
		call(1, 64, 0);
		for (u32 i = 1; i <= copies; i++)
			hit_copy(1, 128, 2, COOKIE_CALL, i);
		hit_copy(1, 128, 2, COOKIE_RETURN, 1);
		ret(1, 64, 0);
		assert_int_equal(fakekernel.event_count, 1);
		assert_int_equal(e->head.count, copies + 1);
		for (u32 i = 1; i <= copies; i++)
			assert_int_equal(e->calls[i].how,
					 copies > SAME_DEPTH_MAX ? TREE_UNSEEN : TREE_RETURNED);
	}
}

/* A call that jumps to another probed function ends with it: they return to the same place. */
static void test_tails(void **state)
{
	(void)state;
	fakemem_put(fakegoroutine_hi(1) - 128, 0x4444);
	call(1, 64, 0);
	hit_copy(1, 128, 2, COOKIE_CALL, COOKIE_TAIL);
	hit_copy(1, 128, 3, COOKIE_CALL, COOKIE_TAIL);
	hit_copy(1, 128, 3, COOKIE_RETURN, COOKIE_TAIL);
	hit_copy(1, 128, 2, COOKIE_RETURN, COOKIE_TAIL);
	/* the same function again at this depth, or a return to elsewhere: it was over */
	hit_copy(1, 128, 2, COOKIE_CALL, COOKIE_TAIL);
	hit_copy(1, 128, 2, COOKIE_CALL, COOKIE_TAIL);
	fakemem_put(fakegoroutine_hi(1) - 128, 0x5555);
	hit_copy(1, 128, 3, COOKIE_CALL, COOKIE_TAIL);
	ret(1, 64, 0);
	expect("1140 g1 p77 bank f0 0-6 cut 0: 0@8^-1R1010+130 2@16^0R1030+40 3@16^1R1050+10 "
	       "2@16^0U1090+10 2@16^0U1110+10 3@16^0U1130+10\n");
}

/* What does not fit into a tree is counted, by function as far as there is room. */
static void test_cut(void **state)
{
	const struct tree_event *e = (void *)fakekernel.events[0].data;

	(void)state;
	fakekernel.ns_step = 1;
	call(1, 64, 0);
	for (u32 i = 1; i < TREE_CALLS; i++) {
		call(1, 128, 2);
		ret(1, 128, 2);
	}
	for (u32 i = 0; i < TREE_CUT_FUNCS + 2; i++) {
		for (u32 times = 0; times <= i; times++) {
			call(1, 128, 10 + i);
			ret(1, 128, 10 + i);
		}
	}
	ret(1, 64, 0);
	assert_int_equal(fakekernel.event_count, TREE_CALLS / TREE_PIECE);
	for (u32 i = 0; i < fakekernel.event_count; i++) {
		e = (void *)fakekernel.events[i].data;
		assert_int_equal(fakekernel.events[i].flags, i ? BPF_RB_NO_WAKEUP : 0);
		assert_int_equal(e->time_ns, fakekernel.ns - 1 + i);
		assert_int_equal(e->first, i * TREE_PIECE);
		assert_int_equal(e->head.count, TREE_CALLS);
		for (u32 c = !i; c < TREE_PIECE; c++)
			assert_int_equal(e->calls[c].start_ns,
					 e->calls[0].start_ns + 3 * c - (i ? 0 : 1));
	}
	assert_int_equal(e->head.cut, (TREE_CUT_FUNCS + 2) * (TREE_CUT_FUNCS + 3) / 2);
	for (u32 i = 0; i < TREE_CUT_FUNCS; i++) {
		assert_int_equal(e->head.cut_funcs[i].row, 10 + i);
		assert_int_equal(e->head.cut_funcs[i].calls, i + 1);
	}
}

static void test_piece(void **state)
{
	(void)state;
	call(1, 64, 0);
	for (u32 i = 1; i < TREE_PIECE; i++)
		call(1, 128, 2);
	ret(1, 64, 0);
	assert_int_equal(fakekernel.event_count, 1);
	call(1, 64, 0);
	for (u32 i = 0; i < TREE_PIECE; i++)
		call(1, 128, 2);
	fakekernel.ring_room = 1;
	ret(1, 64, 0);
	assert_int_equal(fakekernel.event_count, 2);
	expect_losses(0, 0, 0, 0, 0, 1);
	assert_int_equal(trees_map.count, 0);
}

static void test_slower(void **state)
{
	(void)state;
	for (unsigned step = SLOWER_NS - 1; step <= SLOWER_NS; step++) {
		begin(state);
		fakekernel.ns_step = step;
		call(1, 64, 0);
		ret(1, 64, 0);
		assert_int_equal(fakekernel.event_count, step == SLOWER_NS);
		expect_losses(step < SLOWER_NS, 0, 0, 0, 0, 0);
	}
}

static void test_no_room(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= TREES + 2; n++)
		call(n, 64, 0);
	expect_losses(0, 2, 0, 0, 0, 0);
	look(1, 72);
	ret(1, 64, 0);
	fakekernel.refuses = "trees";
	call(1, 64, 0);
	expect_losses(0, 2, 1, 0, 0, 0);
	begin(state);
	fakekernel.refuses = "processes";
	call(1, 64, 0);
	expect_losses(0, 0, 1, 0, 0, 0);
	assert_int_equal(trees_map.count, 0);
}

static void test_system(void **state)
{
	(void)state;
	call(0, 64, 2);
	expect_losses(0, 0, 0, 0, 0, 0);
	call(0, 64, 1); /* goid 0 */
	expect_losses(0, 0, 0, 1, 0, 0);
	call(0, 64, ROOT_ROWS);
	expect_losses(0, 0, 0, 1, 0, 0);
	regs.r14 = 0x10; /* no g */
	fakekernel.cookie = cookie_make(5, COOKIE_RETURN, 0, 0);
	on_probe(&regs);
	expect_losses(0, 0, 0, 1, 0, 0);
	fakekernel.cookie = cookie_make(5, COOKIE_CALL, 0, 0);
	on_probe(&regs);
	expect_losses(0, 0, 0, 1, 1, 0);
}

/* Hits that are none: while probes are attached, of the stack check that fails, of no probe. */
static void test_no_hits(void **state)
{
	u32 zero = 0;

	(void)state;
	*active.lookup(&zero) = 0;
	call(1, 64, 0);
	*active.lookup(&zero) = 1;
	hit(1, 64, 0, COOKIE_NONE);
	regs.flags = 0x40;
	hit(1, 64, 0, COOKIE_CALL_IF_CHECKED);
	regs.flags = 1;
	hit(1, 64, 0, COOKIE_CALL_IF_CHECKED);
	assert_int_equal(trees_map.count, 0);
	regs.flags = 4;
	hit(1, 64, 0, COOKIE_CALL_IF_CHECKED);
	assert_int_equal(trees_map.count, 1);
	regs.flags = 1; /* it ends nothing that is deeper either */
	hit(1, 56, 0, COOKIE_CALL_IF_CHECKED);
	assert_int_equal(trees_map.count, 1);
	hit(1, 56, 0, COOKIE_NONE);
	assert_int_equal(trees_map.count, 1);
}

/* The stack pointer that identifies a call is so far from the probe's. */
static void test_adjusted(void **state)
{
	(void)state;
	fakegoroutine_runs(1, 256);
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 160, 0);
	on_probe(&regs);
	look(1, 104);
	ret(1, 96, 0);
	expect("1030 g1 p77 bank f0 0-1 cut 0: 0@12^-1R1010+20\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_returns, begin),
		cmocka_unit_test_setup(test_unseen, begin),
		cmocka_unit_test_setup(test_root_unseen, begin),
		cmocka_unit_test_setup(test_hooks, begin),
		cmocka_unit_test_setup(test_jump, begin),
		cmocka_unit_test_setup(test_copies, begin),
		cmocka_unit_test_setup(test_many_copies, begin),
		cmocka_unit_test_setup(test_tails, begin),
		cmocka_unit_test_setup(test_cut, begin),
		cmocka_unit_test_setup(test_piece, begin),
		cmocka_unit_test_setup(test_slower, begin),
		cmocka_unit_test_setup(test_no_room, begin),
		cmocka_unit_test_setup(test_system, begin),
		cmocka_unit_test_setup(test_no_hits, begin),
		cmocka_unit_test_setup(test_adjusted, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
