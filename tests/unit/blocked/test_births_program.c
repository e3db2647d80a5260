// SPDX-License-Identifier: Apache-2.0
/* goleaks's kernel side, run on this side with arguments on the stack, as before Go 1.17: which
 * goroutines are born, and which have ended. */
#define ARGS_ON_STACK
#include "fakegoroutine.h"
#include "unit.h"

#define BIRTHS 2

#include "bpf-src/goleaks.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { FN = FAKEGOROUTINE_FREE };

static int begin(void **state)
{
	(void)state;
	fakegoroutine_begin(4);
	return 0;
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

static void hit(u32 row)
{
	fakekernel.cookie = cookie_make(row, COOKIE_CALL, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

/* newproc1(fn, argp, narg, callergp, callerpc) */
static void born(u64 created_by, u64 start)
{
	fakegoroutine_runs(1, 96);
	fakemem_put(regs.sp + 8, FN);
	fakemem_put(regs.sp + 40, created_by);
	fakemem_put(FN, start);
	hit(BIRTH_BEGIN);
}

/* goexit0(gp) */
static void ends(u64 created_by, u64 start)
{
	fakegoroutine_runs(1, 96);
	fakemem_put(regs.sp + 8, fakegoroutine_g(2));
	fakemem_put(fakegoroutine_g(2) + G_GOPC, created_by);
	fakemem_put(fakegoroutine_g(2) + G_GOPC + 16, start);
	hit(BIRTH_END);
}

static void expect(u64 created_by, u64 start, u64 born_count, u64 ended)
{
	struct birth_key key = {created_by, start};
	struct birth_sum *sum = births.lookup(&key);

	assert_non_null(sum);
	assert_int_equal(sum->born, born_count);
	assert_int_equal(sum->ended, ended);
}

static void test_counts(void **state)
{
	(void)state;
	born(0x100, 0x200);
	born(0x100, 0x200);
	born(0x100, 0x300);
	ends(0x100, 0x200);
	ends(0x100, 0x300);
	ends(0x100, 0x300);
	expect(0x100, 0x200, 2, 1);
	expect(0x100, 0x300, 1, 2);
	born(0x200, 0x300);
	ends(0x200, 0x300);
	assert_int_equal(births_map.count, 2);
	assert_int_equal(loss(BIRTH_LOSS_ROOM), 2);
	assert_int_equal(loss(BIRTH_LOSS_UNREADABLE), 0);
}

static void test_unreadable(void **state)
{
	(void)state;
	born(0x100, 0x200);
	fakemem_put(regs.sp + 8, 0x10);
	hit(BIRTH_BEGIN);
	assert_int_equal(loss(BIRTH_LOSS_UNREADABLE), 1);
	hit(BIRTH_END);
	assert_int_equal(loss(BIRTH_LOSS_UNREADABLE), 2);
	for (unsigned absent = 1; absent <= 3;
	     absent++) { /* the first, second, third that is read */
		fakegoroutine_runs(1, 96);
		fakemem_put(regs.sp + 8, absent == 2 ? 0x10 : FN);
		regs.sp = absent == 1 ? 0x10 : regs.sp;
		hit(BIRTH_END);
		assert_int_equal(loss(BIRTH_LOSS_UNREADABLE), 2 + (absent > 2 ? 2 : absent));
	}
	regs.flags = 1;
	fakekernel.cookie = cookie_make(BIRTH_BEGIN, COOKIE_CALL_IF_CHECKED, 0, 0);
	on_probe(&regs);
	expect(0x100, 0x200, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_counts, begin),
		cmocka_unit_test_setup(test_unreadable, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
