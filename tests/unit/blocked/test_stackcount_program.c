// SPDX-License-Identifier: Apache-2.0
/* gostackcount's kernel side, run on this side: calls by their stack, as frame pointers lead
 * through it, whatever these are. */
#include "fakegoroutine.h"
#include "unit.h"

#define PLACES 3
#define COUNTS 2
#define STACKS 8

#include "bpf-src/gostackcount.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { SITE = 0x7000 };

static int begin(void **state)
{
	(void)state;
	fakegoroutine_begin(4);
	for (u32 i = 0; i < PLACES; i++)
		places.lookup(&i)->frame = i ? 64 : -1;
	return 0;
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

static void hit(u32 place, unsigned depth, u64 bp)
{
	fakegoroutine_runs(1, depth);
	regs.bp = bp;
	regs.ip = SITE;
	fakekernel.cookie = cookie_make(place, COOKIE_CALL, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

static struct stack *stack_of(size_t i)
{
	const struct stackcount_key *key = fakemap_key(&counts_map, i);

	assert_int_equal(key->pid, FAKEGOROUTINE_PID);
	return stacks.lookup(&key->stack);
}

static u64 count(size_t i)
{
	return *counts.lookup(fakemap_key(&counts_map, i));
}

/* Frame i, of some, is 64 bytes: {caller's frame pointer, return address} */
static u64 put_frames(unsigned frames)
{
	u64 bp = fakegoroutine_hi(1) - 64 * frames, first = bp;

	for (unsigned i = 0; i < frames; i++, bp += 64) {
		fakemem_put(bp, i + 1 < frames ? bp + 64 : 0);
		fakemem_put(bp + 8, 0x100 + i);
	}
	return first;
}

static void check_frames(struct stack *stack, unsigned frames)
{
	assert_int_equal(stack->count, frames + 1);
	assert_int_equal(stack->frames[0], SITE + 1);
	for (unsigned i = 0; i < frames; i++)
		assert_int_equal(stack->frames[i + 1], 0x100 + i);
}

static void test_frames(void **state)
{
	(void)state;
	for (unsigned frames = 1; frames < 20; frames++) {
		begin(state);
		hit(0, 64 * frames + 32, put_frames(frames));
		check_frames(stack_of(0), frames);
		hit(0, 64 * frames + 32, put_frames(frames));
		assert_int_equal(count(0), 2);
		assert_int_equal(stacks_map.count, 1);
		assert_int_equal(reading_map.count, 0);
	}
}

/* The probed function has its own frame pointer where that is right below its entry's stack
 * pointer; else it has its caller's, and the return address is there. */
static void test_entry(void **state)
{
	u64 bp = put_frames(3), entry = fakegoroutine_hi(1) - 64 * 3 - 40;

	(void)state;
	fakemem_put(entry, 0x99);
	hit(1, 64 * 3 + 40 + 64, bp); /* sp + 64 is the entry's */
	assert_int_equal(stack_of(0)->frames[1], 0x99);
	assert_int_equal(stack_of(0)->frames[2], 0x100);
	assert_int_equal(stack_of(0)->count, 5);
	/* its own frame */
	hit(1, 64 * 3 + 64 - 8, bp);
	assert_int_equal(stack_of(1)->frames[1], 0x100);
	assert_int_equal(stack_of(1)->count, 4);
}

/* Code that clears memory by Duff's device makes a frame below the stack pointer. */
static void test_duff(void **state)
{
	u64 bp = put_frames(2), sp = fakegoroutine_hi(1) - 64 * 2 - 96;

	(void)state;
	fakemem_put(sp - 16, bp);
	hit(0, 64 * 2 + 96, sp - 16);
	check_frames(stack_of(0), 2);
	/* that cannot be read */
	begin(state);
	hit(0, 64 * 2 + 96, sp - 16);
	assert_int_equal(stack_of(0)->count, 1);
}

/* Where the chain of frames ends */
static void test_ends(void **state)
{
	static const struct {
		u64 caller, ret; /* of frame 2 of 4, in place of what is there */
		unsigned count;
	} rows[] = {{0, 0x102, 4},
		    {12, 0x102, 4},
		    {0x10, 0x102, 4},
		    {~0ULL, 0x102, 4},
		    {0x50000, 0, 3}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		u64 bp;

		begin(state);
		bp = put_frames(4);
		fakemem_put(bp + 128, rows[i].caller);
		fakemem_put(bp + 136, rows[i].ret);
		hit(0, 64 * 4 + 32, bp);
		assert_int_equal(stack_of(0)->count, rows[i].count);
	}
	begin(state);
	hit(0, 64, 0x10);
	assert_int_equal(stack_of(0)->count, 1);
}

/* Stacks may go on at lower addresses where the runtime switches, so many times, but not for ever.
 */
static void test_switches(void **state)
{
	u64 bp = fakegoroutine_hi(1) - 64;

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		fakemem_put(bp - 64 * i, bp - 64 * (i + 1));
		fakemem_put(bp - 64 * i + 8, 0x100 + i);
	}
	hit(0, 1024, bp);
	assert_int_equal(stack_of(0)->count, 3 + STACK_SWITCHES);
	begin(state);
	fakemem_put(bp, bp); /* itself */
	fakemem_put(bp + 8, 0x100);
	hit(0, 1024, bp);
	assert_int_equal(stack_of(0)->count, 3 + STACK_SWITCHES);
}

static void test_most(void **state)
{
	(void)state;
	/* frames of 16 bytes: more than are kept */
	u64 bp = FAKEGOROUTINE_FREE;

	for (unsigned i = 0; i < STACK_FRAMES + 10; i++) {
		fakemem_put(bp + 16 * i, bp + 16 * (i + 1));
		fakemem_put(bp + 16 * i + 8, 0x1000 + i);
	}
	hit(0, 64, bp);
	assert_int_equal(stack_of(0)->count, STACK_FRAMES);
	assert_int_equal(stack_of(0)->frames[STACK_FRAMES - 1], 0x1000 + STACK_FRAMES - 2);
}

static void test_lost(void **state)
{
	(void)state;
	for (unsigned frames = 1; frames <= 4; frames++)
		hit(0, 512, put_frames(frames));
	assert_int_equal(counts_map.count, COUNTS);
	assert_int_equal(loss(STACKCOUNT_LOSS_ROOM), 2);
	assert_int_equal(loss(STACKCOUNT_LOSS_STACKS), 0);
	begin(state);
	fakekernel.refuses = "stacks";
	hit(0, 512, put_frames(1));
	hit(0, 512, put_frames(2));
	assert_int_equal(loss(STACKCOUNT_LOSS_STACKS), 2);
	assert_int_equal(count(0), 2);
	fakekernel.refuses = "reading";
	hit(0, 512, put_frames(2));
	assert_int_equal(loss(STACKCOUNT_LOSS_STACKS), 3);
	hit(PLACES, 512, put_frames(2));
	regs.flags = 1;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL_IF_CHECKED, 0, 0);
	on_probe(&regs);
	assert_int_equal(count(0), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_frames, begin),
		cmocka_unit_test_setup(test_entry, begin),
		cmocka_unit_test_setup(test_duff, begin),
		cmocka_unit_test_setup(test_ends, begin),
		cmocka_unit_test_setup(test_switches, begin),
		cmocka_unit_test_setup(test_most, begin),
		cmocka_unit_test_setup(test_lost, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
