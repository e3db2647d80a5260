// SPDX-License-Identifier: Apache-2.0
/* gotrace's kernel side in gccgo's programs, run on this side: goroutines by segments of stacks,
 * copies of stacks, and types that several files have. */
#define STRING_MAX 16
#define SAVED_MAX 8
#define RING_PAGES 64
#define PLACES 24
#define CALLS 20
#define RETURNS
#define USER_FRAMES 1
#define KERNEL_FRAMES 0
#define SPLIT_STACK
#define SPLIT_BACKOFF 64
#define LIBRARY_INDEX 0x40
#define LIBRARY_MAIN 0x80

#include "traceplans.h"

#include "bpf-src/gotrace.bpf.c" /* NOLINT(bugprone-suspicious-include) */

#include "tracehits.h"

enum {
	THREAD = FAKEGOROUTINE_FREE, /* its memory; the dynamic thread vector; blocks of modules */
	VECTOR = THREAD + 0x1000,
	BLOCK = THREAD + 0x2000,
	G = THREAD + 0x3000,
	LIBRARY = THREAD + 0x4000, /* its bias: the library is there */
	INDEX = LIBRARY + LIBRARY_INDEX,
	SEGMENTS = THREAD + 0x10000,
	SIZE = 0x2000, /* of a segment */
	MODULE = 3,
};

/* The n-th segment's lowest byte */
static u64 low(unsigned n)
{
	return SEGMENTS + 0x1000 + n * 0x4000;
}

/* It has grown from segment `from`, where its arguments are at `old`. */
static void segment(unsigned n, unsigned from, u64 old)
{
	u64 head = low(n) - SPLIT_HEADER;

	fakemem_put(head, old ? low(from) - SPLIT_HEADER : 0);
	fakemem_put(head + 16, SIZE);
	fakemem_put(head + 24, old);
}

static void runs_on(unsigned n)
{
	fakemem_put(THREAD + 0x70, low(n) + SPLIT_BACKOFF);
}

static int prepare(void **state)
{
	begin(state);
	fake_task.fsbase = THREAD;
	fakemem_put(THREAD + 8, VECTOR);
	fakemem_put(VECTOR + 16 * MODULE, BLOCK);
	fakemem_put(INDEX, MODULE);
	fakemem_put(INDEX + 8, 0x20);
	fakemem_put(BLOCK + 0x20, G);
	fakemem_put(G + GOID_OFF, 42);
	fakemem_put(LIBRARY + LIBRARY_MAIN, 0x3333);
	segment(0, 0, 0);
	segment(1, 0, low(0) + SIZE - 0x100);
	runs_on(0);
	/* the first in the library itself, the second in a program, which has the address */
	place(0, 3, ENTRY_PLAN)->tls_word = INDEX - TRACEHITS_BIAS;
	place(1, 4, RETURN_PLAN)->tls_word = THREAD + 0x500 - TRACEHITS_BIAS;
	fakemem_put(THREAD + 0x500, INDEX - 0x10);
	places.lookup(&(u32){1})->tls_delta = 0x10;
	return 0;
}

static void hit_at(u64 sp, u32 row, enum cookie_kind kind, u64 ax)
{
	memset(&regs, 0, sizeof(regs));
	regs.sp = sp;
	regs.bp = 0xb9;
	regs.bx = 0xb0;
	regs.r12 = 0x12;
	regs.r13 = 0x13;
	regs.r14 = 0x14;
	regs.r15 = 0x15;
	regs.ip = TRACEHITS_BIAS + places.lookup(&row)->addr;
	regs.ax = ax;
	fakekernel.cookie = cookie_make(row, kind, 0, 0);
	assert_int_equal(handle(&regs, 0), 0);
}

/* Words of each event's stack: registers, library, main; pieces. Then the event without it */
static void expect_stacks(const char *want)
{
	for (size_t i = 0; i < fakekernel.event_count; i++) {
		struct fakeevent *event = &fakekernel.events[i];
		const struct trace_event *head = (void *)event->data;
		struct trace_stack *stack = (void *)(event->data + event->len - sizeof(*stack));

		if (head->user_frames) {
			eventtext_words("stack", (const uint64_t *)stack, TRACE_REGISTERS + 2);
			for (u32 k = 0; k + 1 < head->user_frames; k++)
				steps_are("%llx+%llx", stack->pieces[k].addr, stack->pieces[k].len);
			eventtext_words("begins", (const uint64_t *)stack->bytes, 3);
			event->len -= sizeof(*stack);
		}
	}
	eventtext_all(TRACEHITS_BIAS);
	steps_expect(want);
}

static void test_stack(void **state)
{
	u64 sp = low(0) + SIZE - 0x200;

	(void)state;
	fakemem_put(sp - STACKCOPY_RED_ZONE, 0x71);
	fakemem_put(sp - STACKCOPY_RED_ZONE + 16, 0x73);
	hit_at(sp, 0, COOKIE_CALL, 7);
	expect_stacks("stack 701000 62e00 b9 b0 12 13 14 15 54000 3333; 62d80+280; begins 71 "
		      "0 73; 3 entry @1000 g2a user 2 wakes: 7; ");
	/* a page of it further down */
	hit_at(low(0) + 0x800, 0, COOKIE_CALL, 7);
	expect_stacks("stack 701000 61800 b9 b0 12 13 14 15 54000 3333; 61780+880; "
		      "62000+1000; begins 0 0 0; 3 entry @1010 g2a user 3 wakes: 7; ");
	/* on the next segment it goes on in the one before */
	runs_on(1);
	hit_at(low(1) + SIZE - 0x80, 0, COOKIE_CALL, 7);
	expect_stacks("stack 701000 66f80 b9 b0 12 13 14 15 54000 3333; 66f00+100; "
		      "62ee8+118; begins 0 0 0; 3 entry @1020 g2a user 3 wakes: 7; ");
	/* of a segment whose neighbour is nowhere */
	fakemem_put(low(1) - SPLIT_HEADER, FAKEMEM_BASE + FAKEMEM_MAX);
	hit_at(low(1) + SIZE - 0x80, 0, COOKIE_CALL, 7);
	expect_stacks("stack 701000 66f80 b9 b0 12 13 14 15 54000 3333; 66f00+100; "
		      "62ee8+118; 63000+1000; 64000+1000; 65000+1000; 66000+1000; "
		      "67000+1000; 68000+1000; 69000+1000; begins 0 0 0; 3 entry @1030 g2a "
		      "user a wakes: 7; ");
	/* on a stack whose end is not known */
	hit_at(FAKEMEM_BASE + FAKEMEM_MAX - 0x1800, 0, COOKIE_CALL, 7);
	expect_stacks("stack 701000 10e800 b9 b0 12 13 14 15 54000 3333; 10e780+880; "
		      "10f000+1000; begins 0 0 0; 3 entry @1040 user 3 wakes: 7; ");
	/* below it there is nothing */
	hit_at(FAKEMEM_BASE + 0x40, 0, COOKIE_CALL, 7);
	expect_stacks("stack 701000 10040 b9 b0 12 13 14 15 54000 3333; 10040+fc0; "
		      "11000+1000; 12000+1000; 13000+1000; 14000+1000; 15000+1000; "
		      "16000+1000; 17000+1000; begins 0 0 0; 3 entry @1050 user 9 wakes: 7; ");
}

static void test_goid(void **state)
{
	static const struct {
		u64 at, value;
	} wrong[] = {{INDEX, 0}, {INDEX, SPLIT_MODULES + 1}, {THREAD + 8, 0}, {BLOCK + 0x20, 0}};
	u64 sp = low(0) + SIZE - 0x100;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		prepare(state);
		fakemem_put(wrong[i].at, wrong[i].value);
		hit_at(sp, 0, COOKIE_CALL, 7);
		assert_int_equal(((struct trace_event *)fakekernel.events[0].data)->goid, 0);
	}
	prepare(state);
	fakemem_put(INDEX, SPLIT_MODULES);
	fakemem_put(VECTOR + 16 * SPLIT_MODULES, BLOCK);
	hit_at(sp, 0, COOKIE_CALL, 7);
	assert_int_equal(((struct trace_event *)fakekernel.events[0].data)->goid, 42);
}

/* Calls of one segment are over when it is used higher up again; those of others are not. */
static void test_segments(void **state)
{
	(void)state;
	hit_at(low(0) + 0x400, 1, COOKIE_CALL, 1);
	runs_on(1);
	hit_at(low(1) + 0x400, 1, COOKIE_CALL, 2);
	hit_at(low(1) + 0x300, 1, COOKIE_CALL, 3);
	assert_int_equal(goroutines_map.count, 2);
	hit_at(low(1) + 0x400, 1, COOKIE_RETURN, 4);
	runs_on(0);
	hit_at(low(0) + 0x400, 1, COOKIE_RETURN, 5);
	for (size_t i = 0; i < fakekernel.event_count; i++)
		((struct trace_event *)fakekernel.events[i].data)->user_frames = 0;
	for (size_t i = 0; i < fakekernel.event_count; i++)
		fakekernel.events[i].len = sizeof(struct trace_event) + (i ? 16 : 8);
	eventtext_all(TRACEHITS_BIAS);
	steps_expect("4 unseen @1060+10 g2a: 3; 4 returned @1060+30 g2a wakes: 2 4; 4 "
		     "returned @1070+60 g2a wakes: 1 5; ");
	assert_int_equal(goroutines_map.count, 0);
	/* on a thread's own stack they have no goroutine */
	hit_at(THREAD + 0x800, 0, COOKIE_CALL, 6);
	assert_int_equal(((struct trace_event *)fakekernel.events[0].data)->goid, 0);
	fake_task.fsbase = 0;
	hit_at(low(0) + 0x400, 1, COOKIE_CALL, 6);
	expect_counts("4 1; ");
}

/* --- types --- */

enum { TYPE = G + 0x100, NAME = G + 0x200, TEXT = G + 0x300 };

static void name_is(const char *text, u64 len)
{
	fakemem_put(NAME, TEXT);
	fakemem_put(NAME + 8, len);
	memcpy(&fakemem.bytes[TEXT - FAKEMEM_BASE], text, strlen(text));
}

static void test_shared_types(void **state)
{
	static const char text[] = "a.name.that.is.longer.than.one.part.of.the.key";
	static struct hit at = {.bias = 0x100, .program = 2};
	static u64 scratch[64];
	struct trace_dyntype type = {.direct = 1, .inner = -1};
	u64 lens[] = {3, 31, 32, 33, sizeof(text) - 1}, record[64], key;

	(void)state;
	fakemem_put(TYPE, 16);
	fakemem_put(TYPE + 16, 0x1357000012345678);
	fakemem_put(TYPE + 40, NAME);
	for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
		name_is(text, lens[i]);
		steps_are("%llx", shared_key(TYPE, (void *)scratch));
	}
	steps_expect("ffff5573729eb1f8; fffff64f5c1942b5; ffffd0b08da0e89b; "
		     "ffffc92329d9c311; ffff8d4b1b255756; ");
	/* an interface with methods has the type first */
	key = shared_key(TYPE, (void *)scratch);
	dyntypes.update(&key, &type);
	fakemem_put(G + 0x80, TYPE);
	fetch_dynamic((char *)record, G + 0x80, 0x77, DYNAMIC_ITAB | DYNAMIC_GCCGO, 1, &at);
	assert_int_equal(record[0], key);
	assert_int_equal(record[1], 0x77);
	assert_int_equal(record[2], 8);
	/* what cannot be read has no key */
	fakemem_put(TYPE + 40, FAKEMEM_BASE + FAKEMEM_MAX);
	assert_int_equal(shared_key(TYPE, (void *)scratch), ~0ULL);
	fakemem_put(TYPE + 40, NAME);
	fakemem_put(NAME, FAKEMEM_BASE + FAKEMEM_MAX);
	assert_int_equal(shared_key(TYPE, (void *)scratch), ~0ULL);
	assert_int_equal(shared_key(FAKEMEM_BASE + FAKEMEM_MAX, (void *)scratch), ~0ULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_stack, prepare),
		cmocka_unit_test(test_goid),
		cmocka_unit_test_setup(test_segments, prepare),
		cmocka_unit_test_setup(test_shared_types, prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
