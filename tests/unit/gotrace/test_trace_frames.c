// SPDX-License-Identifier: Apache-2.0
/* Events of gotrace's kernel side that have stacks, and who created the goroutine; predicates that
 * ask for the goroutine, and --goid. */
#define STRING_MAX 16
#define SAVED_MAX 8
#define RING_PAGES 64
#define PLACES 24
#define CALLS 20
#define RETURNS
#define USER_FRAMES 1
#define KERNEL_FRAMES 1
#define PARENT
#define IDENTITY_FIRST
#define ONLY_GOID 1
#define TABLES 2
#define TABLE_ENDS ~0U
#define TABLE_BEGINS ~0U
#define TABLE_ENTRIES 1
#define STEPS 2
#define STEPS_ENTRY 2
#define STEPS_SAVED 2
#define STEPS_RETURN 2
#define STEPS_DYNAMIC 1
#define ROOMS 2

#include "traceplans.h"

static long kernel_bytes;

static long bpf_get_stack(struct pt_regs *ctx, void *to, u32 size, u64 flags)
{
	(void)ctx;
	assert_int_equal(size, 8 * 128);
	assert_int_equal(flags, 0);
	for (long i = 0; i < kernel_bytes / 8; i++)
		((u64 *)to)[i] = 0xffff0000 + i;
	return kernel_bytes;
}

#define steps table_steps        /* steps.h has another */
#include "bpf-src/gotrace.bpf.c" /* NOLINT(bugprone-suspicious-include) */
#undef steps

#include "tracehits.h"

static int prepare(void **state)
{
	u64 g = fakegoroutine_g(1);

	begin(state);
	kernel_bytes = 0;
	fakemem_put(g + G_GOPC, 0x4321);
	fakemem_put(g + G_PARENT_GOID, 17);
	for (u32 row = 0; row < 3; row++)
		place(row, row, row == 1 ? RETURN_PLAN : ENTRY_PLAN);
	table_steps.lookup(&(u32){1})->what = TRACE_STEP_SET;
	table_steps.lookup(&(u32){1})->n = 5;
	*tables.lookup(&(u32){1}) = (struct trace_table){.record_size = 8, .first = 1, .count = 1};
	places.lookup(&(u32){2})->table = 1;
	memset(rooms.lookup(&(u32){0})->record, 0xa5, TABLE_RECORD);
	return 0;
}

/* A frame at `depth` bytes: its caller's, and where that goes on. */
static void frame(unsigned depth, unsigned caller, u64 ret)
{
	fakemem_put(fakegoroutine_hi(1) - depth, caller ? fakegoroutine_hi(1) - caller : 0);
	fakemem_put(fakegoroutine_hi(1) - depth + 8, ret);
}

static void test_stacks(void **state)
{
	(void)state;
	frame(64, 32, 0xa1);
	frame(32, 0, 0xa2);
	regs.bp = fakegoroutine_hi(1) - 64;
	call(1, 128, 0, 7);
	kernel_bytes = 24;
	call(1, 128, 0, 7);
	hit_copy(1, 1, 128, 2, COOKIE_CALL, 1, 0);
	kernel_bytes = -14;
	call(1, 128, 1, 7);
	ret(1, 128, 1, 8);
	expect_events("0 entry @1000 g1 by g11 at 4321 user 3: 7 701000 a1 a2 ?253; 0 entry "
		      "@1010 g1 by g11 at 4321 user 3 kernel 3: 7 701000 a1 a2 ?125 ffff0000 "
		      "ffff0001 ffff0002 ?125; 2 entry @1020 g1 by g11 at 4321 user 3 kernel "
		      "3: 5 703000 a1 a2 ?125 ffff0000 ffff0001 ffff0002 ?125; 1 returned "
		      "@1050+10 g1 by g11 at 4321 user 3: 7 8 702000 a1 a2 ?253; ");
	expect_counts("");
}

/* What the function's first instruction finds is its caller's frame. */
static void test_entry(void **state)
{
	(void)state;
	frame(64, 0, 0xa1);
	regs.bp = fakegoroutine_hi(1) - 64;
	places.lookup(&(u32){0})->frame = 0;
	fakemem_put(fakegoroutine_hi(1) - 128, 0xb1);
	call(1, 128, 0, 7);
	places.lookup(&(u32){0})->frame = 16;
	fakemem_put(fakegoroutine_hi(1) - 112, 0xb2);
	call(1, 128, 0, 7);
	places.lookup(&(u32){0})->frame = 72;
	call(1, 128, 0, 7);
	expect_events("0 entry @1000 g1 by g11 at 4321 user 3: 7 701000 b1 a1 ?253; 0 entry "
		      "@1010 g1 by g11 at 4321 user 3: 7 701000 b2 a1 ?253; 0 entry @1020 g1 "
		      "by g11 at 4321 user 2: 7 701000 a1 ?254; ");
}

/* Where the chain is no chain it ends; it may lead to lower addresses twice. */
static void test_chains(void **state)
{
	static const unsigned odd[] = {64 - 4, 0x100000, 32};
	u64 hi = fakegoroutine_hi(1);

	prepare(state);
	for (size_t i = 0; i < 3; i++) {
		frame(64, odd[i], 0xa1);
		frame(32, 16, 0);
		regs.bp = hi - 64;
		call(1, 128, 0, 7);
		steps_are("%u", odd[i]);
		eventtext_all(TRACEHITS_BIAS);
	}
	steps_expect("60; 0 entry @1000 g1 by g11 at 4321 user 2: 7 701000 a1 ?254; "
		     "1048576; 0 entry @1010 g1 by g11 at 4321 user 2: 7 701000 a1 ?254; "
		     "32; 0 entry @1020 g1 by g11 at 4321 user 2: 7 701000 a1 ?254; ");
	prepare(state);
	frame(64, 96, 0xa1);
	frame(96, 32, 0xa2);
	frame(32, 160, 0xa3);
	frame(160, 16, 0xa4);
	frame(16, 192, 0xa5);
	frame(192, 176, 0xa6);
	frame(176, 224, 0xa7);
	frame(224, 0, 0xa8);
	regs.bp = hi - 64;
	call(1, 256, 0, 7);
	expect_events("0 entry @1000 g1 by g11 at 4321 user 8: 7 701000 a1 a2 a3 a4 a5 a6 a7 "
		      "?248; ");
	prepare(state);
	frame(64, 64, 0xa1);
	call(1, 256, 0, 7);
	expect_events("0 entry @1000 g1 by g11 at 4321 user 1: 7 701000 ?255; ");
}

static void test_long(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 140; i++)
		frame(16 * (140 - i), 16 * (139 - i), 0x1000 + i);
	regs.bp = fakegoroutine_hi(1) - 16 * 140;
	call(1, 0xf00, 0, 7);
	assert_int_equal(((struct trace_event *)fakekernel.events[0].data)->user_frames,
			 TRACE_FRAMES);
	eventtext_words("last",
			(const uint64_t *)fakekernel.events[0].data +
				sizeof(struct trace_event) / 8 + TRACE_FRAMES - 1,
			3);
	steps_expect("last 107d 107e ?; ");
	fakekernel.event_count = 0;
}

/* Its frame pointer is right below the stack pointer: of Duff's device. */
static void test_device(void **state)
{
	u64 sp = fakegoroutine_hi(1) - 128;

	(void)state;
	frame(144, 64, 0xa1);
	frame(64, 0, 0xa2);
	regs.bp = sp - 16;
	call(1, 128, 0, 7);
	expect_events("0 entry @1000 g1 by g11 at 4321 user 2: 7 701000 a2 ?254; ");
}

static void test_only(void **state)
{
	(void)state;
	call(2, 128, 0, 7);
	call(0, 128, 0, 7);
	call(2, 128, 1, 7);
	ret(2, 128, 1, 7);
	assert_int_equal(fakekernel.event_count, 0);
	call(1, 64, 1, 7);
	/* a hook is of any goroutine */
	hit(1, 32, 0, COOKIE_GOEXIT, 7);
	expect_events("1 exited @1060+10 g1 by g11 at 4321: 7; ");
	fakemem.size = 0;
	call(1, 64, 0, 7);
	ret(1, 64, 1, 7);
	expect_events("");
	expect_counts("4 1; ");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_stacks, prepare),
		cmocka_unit_test_setup(test_entry, prepare),
		cmocka_unit_test(test_chains),
		cmocka_unit_test_setup(test_long, prepare),
		cmocka_unit_test_setup(test_device, prepare),
		cmocka_unit_test_setup(test_only, prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
