// SPDX-License-Identifier: Apache-2.0
/* The pointers that a goroutine goes on to use: from a stack and memory that are made up. Which
 * words of a frame are in use, and which variables it has there, is the test's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fakemem.h"
#include "frames/frame_maps.h"
#include "frames/frames.h"
#include "frames/unwinder.h"
#include "gofile_open.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "waits/live_words_internal.h"

enum {
	BIAS = 0x5000000,
	FRAME = 32, /* bytes up to the return address; at the end, the caller's frame pointer */
	SECOND = FRAME + 8,
	ARGS = 4, /* words of the second one's arguments */
	LEN = 2 * SECOND + 8 * ARGS,
	G = FAKEMEM_BASE,
	STACK = FAKEMEM_BASE + 0x1000,
	HEAP = FAKEMEM_BASE + 0x2000,
	SIZE = 0x3000,
	FIRST = 1,
	NAMES = 0x30, /* where there is room for names, of 24 bytes each */
	/* where the frames stand, from the beginnings of their functions */
	OFF_0 = 9,
	OFF_1 = 17,
};

static struct opened o;
static struct frames its_frames;
static struct goroutine g;
static struct snapshot snap = {.all = &g, .count = 1};
static struct frame_rule rules[2];
static uint64_t pcs[3]; /* of the frames */

/* --- in place of the program's maps --- */

static struct {
	uint8_t locals, args; /* bits */
	uint32_t local_count, arg_count;
	struct frame_object objects[4];
	uint32_t object_count;
} maps[2]; /* of main.a's frames, and of main.b's */

void frame_maps_at(const struct frames *frames, uint64_t addr, struct frame_maps *out)
{
	size_t i = addr >= o.g.starts[1];

	assert_ptr_equal(frames, &its_frames);
	*out = (struct frame_maps){0};
	if (addr == o.g.starts[2]) /* of a deferred call */
		return;
	assert_int_equal(addr, pcs[i] - 1 - BIAS);
	*out = (struct frame_maps){.locals = {&maps[i].locals, maps[i].local_count},
				   .args = {&maps[i].args, maps[i].arg_count},
				   .objects = i,
				   .object_count = maps[i].object_count};
}

bool frame_maps_bit(const struct frame_map *map, uint32_t word)
{
	assert_true(word < map->count);
	return *map->bits >> word & 1;
}

bool frame_maps_object(const struct frames *frames, const struct frame_maps *at, uint32_t number,
		       struct frame_object *out)
{
	assert_ptr_equal(frames, &its_frames);
	*out = maps[at->objects].objects[number];
	return out->size;
}

static struct frame_rule rule(void *ctx, uint64_t pc)
{
	assert_ptr_equal(ctx, rules);
	if (pc == FIRST)
		return (struct frame_rule){.kind = FRAME_FIRST};
	return rules[pc >= BIAS + o.g.starts[1]];
}

/* --- a goroutine in main.a, called by main.b --- */

static void put(unsigned at, uint64_t value)
{
	fakemem_put(STACK + at, value);
}

static void name_it(unsigned func, const char *name)
{
	unsigned off = NAMES + 24 * func;

	elffile_bytes(o.g.f, GOFILE_TAB + GOFILE_NAMES + off, name, strlen(name) + 1);
	elffile_u32(o.g.f, gofile_record(&o.g, func) + 4, off);
}

static void begin_as(const char *a, int release)
{
	memset(maps, 0, sizeof(maps));
	gofile_make(&o.g, 27, EM_X86_64);
	name_it(0, a);
	name_it(1, "main.b");
	name_it(2, "main.c");
	open_it(&o);
	its_frames = (struct frames){.tab = o.tab, .img = o.img, .release = release, .bias = BIAS};
	fakemem_begin(SIZE);
	snap.stacks = snapshot_stacks_new();
	g = (struct goroutine){.addr = G, .sp = STACK, .stack_hi = STACK + LEN};
	rules[0] = rules[1] = (struct frame_rule){.sp_delta = FRAME};
	pcs[0] = BIAS + o.g.starts[0] + OFF_0 + 1;
	pcs[1] = BIAS + o.g.starts[1] + OFF_1 + 1;
	assert_true(snapshot_stacks_add(snap.stacks, pcs, 2, &g.stack));
	put(FRAME, pcs[1]);
	put(SECOND + FRAME, FIRST);
}

static int begin(void **state)
{
	(void)state;
	begin_as("main.a", 27);
	return 0;
}

static int end(void **state)
{
	(void)state;
	snapshot_stacks_free(snap.stacks);
	close_it(&o);
	return 0;
}

/* `value@a` for one of main.a's frame, `value@b`; `value@c!`: of a deferred call of main.c */
static void expect_len(size_t len, const char *want)
{
	const struct snapshot_source from = {
		.mem = &fakemem_memory, .rule = rule, .rule_ctx = rules, .rt = &fakemem_layout};
	struct live_words *words = live_words_new(&from, &snap, &its_frames);
	char got[4096], *to = got;
	size_t count = 0;
	const struct live_word *all =
		live_words_find(words, &g, fakemem.bytes + (STACK - FAKEMEM_BASE), len, &count);

	*to = '\0';
	for (size_t i = 0; all && i < count; i++) {
		size_t func = (all[i].at - o.g.starts[0]) / 0x40;
		uint64_t off = all[i].at - o.g.starts[func];

		to += sprintf(to, "%lx@%c%s ", (unsigned long)all[i].value, (int)('a' + func),
			      all[i].deferred ? "!" : "");
		assert_int_equal(off, all[i].deferred ? 0 : func ? OFF_1 : OFF_0);
	}
	assert_string_equal(all ? got : "none", want);
	live_words_free(words);
}

static void expect(const char *want)
{
	expect_len(LEN, want);
}

/* --- frames --- */

static void put_words(void)
{
	for (unsigned i = 0; i < 3; i++) {
		put(8 * i, 0x1000 + i);
		put(SECOND + 8 * i, 0x2000 + i);
	}
	for (unsigned i = 0; i < ARGS; i++)
		put(2 * SECOND + 8 * i, 0x3000 + i);
}

static void test_maps(void **state)
{
	(void)state;
	put_words();
	expect("");
	maps[0].local_count = 3;
	maps[0].locals = 7;
	expect("1002@a 1001@a 1000@a ");
	maps[0].locals = 5;
	expect("1002@a 1000@a ");
	maps[0].locals = 1;
	expect("1000@a ");
	/* a map of more words than there is room for; of arguments, which are the caller's words */
	maps[0].local_count = 5;
	maps[0].locals = 0x1f;
	maps[0].arg_count = 2;
	maps[0].args = 2;
	expect("1002@a 1001@a 1000@a 2001@a ");
	maps[0].local_count = maps[0].arg_count = 0;
	maps[1].local_count = 2;
	maps[1].locals = 3;
	maps[1].arg_count = 5; /* more than is there */
	maps[1].args = 0x1f;
	expect("2002@b 2001@b 3000@b 3001@b 3002@b 3003@b ");
	put(2 * SECOND, 4095); /* is no pointer */
	put(2 * SECOND + 8, 4096);
	expect("2002@b 2001@b 1000@b 3002@b 3003@b ");
}

/* A frame of nothing but a return address */
static void test_no_locals(void **state)
{
	(void)state;
	rules[0].sp_delta = 0;
	put(0, pcs[1]);
	put(8 + FRAME, FIRST);
	put(8, 0x1000);
	put(16, 0x1001);
	put(24, 0x1002);
	maps[0].local_count = maps[0].arg_count = maps[1].local_count = 3;
	maps[0].locals = maps[0].args = maps[1].locals = 7;
	expect("1000@a 1001@a 1002@a 1002@b 1001@b 1000@b ");
}

/* Another stack than that of the snapshot; one that is known up to a frame; one that is cut */
static void test_stacks(void **state)
{
	uint64_t other = pcs[0] + 1;

	(void)state;
	put_words();
	maps[0].local_count = maps[1].local_count = 1;
	maps[0].locals = maps[1].locals = 1;
	expect("1002@a 2002@b ");
	put(FRAME, pcs[1] + 1);
	expect("none");
	put(FRAME, pcs[1]);
	put(SECOND + FRAME, 2);
	rules[0].kind = FRAME_UNKNOWN;
	expect("none");
	rules[0].kind = FRAME_PLAIN;
	put(SECOND + FRAME, FIRST);
	expect_len(SECOND + 16, "1002@a ");
	g.stack_hi = STACK + SECOND + 16;
	expect_len(SECOND + 16, "none");
	g.stack_hi = STACK + LEN;
	/* of more frames than are kept */
	assert_true(snapshot_stacks_add(snap.stacks, pcs, 1, &g.stack));
	expect("1002@a ");
	assert_true(snapshot_stacks_add(snap.stacks, &other, 1, &g.stack));
	g.interrupted = true; /* of such a frame, nothing is known */
	expect("");
	assert_true(snapshot_stacks_add(snap.stacks, (uint64_t[]){other, pcs[1]}, 2, &g.stack));
	expect("2002@b ");
	assert_true(snapshot_stacks_add(snap.stacks, NULL, 0, &g.stack));
	expect("none");
}

/* --- variables on the stack --- */

static void one_word(uint64_t value)
{
	maps[0].local_count = 1;
	maps[0].locals = 1;
	put(16, value);
}

static void test_variables(void **state)
{
	(void)state;
	one_word(STACK + SECOND + 8);
	put(SECOND + 8, 0x7001);
	put(SECOND + 16, 0x7002);
	put(2 * SECOND + 16, 0x7003);
	expect("11030@a ");
	/* the last 16 bytes of the locals, and a word of the arguments */
	maps[1].object_count = 2;
	maps[1].objects[0] = (struct frame_object){-16, 16};
	maps[1].objects[1] = (struct frame_object){16, 8};
	expect("11030@a 7001@a 7002@a ");
	put(16, STACK + SECOND + 16);
	expect("11038@a 7001@a 7002@a ");
	put(16, STACK + SECOND);
	expect("11028@a ");
	put(16, STACK + SECOND + 24); /* the frame pointer */
	expect("11040@a ");
	put(16, STACK + 2 * SECOND + 16);
	expect("11060@a 7003@a ");
	put(16, STACK + 2 * SECOND + 24);
	expect("11068@a ");
	put(16, STACK - 8);
	expect("10ff8@a ");
	put(16, STACK + LEN);
	expect("11070@a ");
	/* each once, though they point to each other */
	put(16, STACK + SECOND + 8);
	put(SECOND + 8, STACK + 2 * SECOND + 16);
	put(SECOND + 16, STACK + SECOND + 16);
	put(2 * SECOND + 16, STACK + SECOND + 8);
	expect("11030@a 11060@a 11038@a 11030@a ");
	/* what is malformed, and what is behind it */
	maps[1].objects[0].size = 0;
	expect("11030@a ");
	/* the first one's own */
	maps[0].object_count = 1;
	maps[0].objects[0] = (struct frame_object){-24, 8};
	put(0, 0x7004);
	put(16, STACK);
	expect("11000@a 7004@a ");
}

/* A closure there: what its function will use */
static void test_closure_on_stack(void **state)
{
	(void)state;
	one_word(STACK + SECOND);
	maps[1].object_count = 1;
	maps[1].objects[0] = (struct frame_object){-24, 24};
	put(SECOND, BIAS + o.g.starts[2]);
	put(SECOND + 8, 0x7001);
	put(SECOND + 16, 0x7002);
	expect("11028@a 7001@c! 7002@c! ");
	put(SECOND, BIAS + o.g.starts[2] + 1);
	expect("11028@a 5401081@a 7001@a 7002@a ");
}

/* --- closures elsewhere --- */

static void put_closure(uint64_t at, uint64_t func, unsigned count)
{
	fakemem_put(at, func);
	for (unsigned i = 1; i <= count; i++)
		fakemem_put(at + 8 * i, 0x8000 + i);
}

static void test_closure(void **state)
{
	static const struct {
		const char *name;
		bool captures;
	} names[] = {
		{"main.f.func1", true},   {"main.f.gowrap2", true}, {"main.f.deferwrap1", true},
		{"main.f·dwrap·1", true}, {"main.f-range1", true},  {"main.T.M-fm", true},
		{"main.f", false}};

	end(state);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		begin_as(names[i].name, 27);
		one_word(HEAP);
		put_closure(HEAP, BIAS + o.g.starts[0], 2);
		fakemem_put(HEAP + 24, BIAS + o.g.starts[1]); /* of the next one */
		fakemem_put(HEAP + 32, 0x8009);
		expect(names[i].captures ? "12000@a 8001@a 8002@a " : "12000@a ");
		end(state);
	}
	begin_as("main.f.func1", 27);
	one_word(HEAP);
	put_closure(HEAP, BIAS + o.g.starts[1], 2); /* of another function */
	expect("12000@a ");
	put_closure(HEAP, BIAS + o.g.starts[0], 17);
	expect("12000@a 8001@a 8002@a 8003@a 8004@a 8005@a 8006@a 8007@a 8008@a 8009@a 800a@a "
	       "800b@a 800c@a 800d@a 800e@a 800f@a ");
	put(16, HEAP + 4);
	expect("12004@a ");
	put_closure(HEAP + 4, BIAS + o.g.starts[0], 2); /* where none can be */
	expect("12004@a ");
	/* at the end of memory, of one variable alone */
	put_closure(FAKEMEM_BASE + SIZE - 16, BIAS + o.g.starts[0], 1);
	put(16, FAKEMEM_BASE + SIZE - 16);
	expect("12ff0@a 8001@a ");
	put(16, FAKEMEM_BASE + SIZE);
	expect("13000@a ");
	/* the caller has it in its frame: it is not its closure */
	maps[0].local_count = 0;
	maps[1].local_count = 1;
	maps[1].locals = 1;
	put_closure(HEAP, BIAS + o.g.starts[0], 2);
	put(SECOND + 16, HEAP);
	expect("12000@b ");
}

/* --- deferred calls --- */

enum { RECORDS = HEAP + 0x100, CLOSURES = HEAP + 0x900, RECORD_SIZE = 0x80 };

/* Record i calls function `func`, whose closure has one variable. `link`: the word of the next. */
static void put_defer(unsigned i, unsigned func, unsigned link, bool more)
{
	uint64_t at = RECORDS + i * RECORD_SIZE, closure = CLOSURES + 24 * i;

	fakemem_put(at + 8 * 3, closure);
	fakemem_put(at + 8 * link, more ? at + RECORD_SIZE : 0);
	fakemem_put(closure, BIAS + o.g.starts[func]);
	fakemem_put(closure + 8, 0x8001 + i);
	fakemem_put(closure + 16, BIAS + o.g.starts[0]); /* of something else */
}

static void test_defers(void **state)
{
	(void)state;
	put_defer(0, 2, 4, true);
	put_defer(1, 1, 4, false);
	expect("");
	fakemem_put(G + 40, RECORDS);
	expect("8001@c! 8002@b! ");
	fakemem_put(G + 40, RECORDS + RECORD_SIZE);
	expect("8002@b! ");
	fakemem_put(G + 40, RECORDS);
	put_defer(0, 2, 4, false);
	expect("8001@c! ");
	fakemem_put(CLOSURES, BIAS + o.g.starts[2] + 1); /* no function */
	expect("");
	put_defer(0, 2, 4, true);
	fakemem_put(RECORDS + 24, 0x10);
	expect("8002@b! ");
	fakemem_put(RECORDS + 32, RECORDS + 4);
	expect("");
	put_defer(0, 2, 4, true);
	fakemem_put(RECORDS + 32, RECORDS); /* round and round */
	expect("8001@c! 8001@c! 8001@c! 8001@c! 8001@c! 8001@c! 8001@c! 8001@c! "
	       "8001@c! 8001@c! 8001@c! 8001@c! 8001@c! 8001@c! 8001@c! 8001@c! ");
	g.addr = 0x100;
	expect("");
}

/* Before Go 1.22 the next one is a word further; before Go 1.18 arguments stand behind the record.
 */
static void test_old_defers(void **state)
{
	static const struct {
		int release;
		unsigned link;
		const char *want;
	} rows[] = {
		{22, 4, "8001@c! 8002@b! "},
		{21, 5, "8001@c! 8002@b! "},
		{18, 5, "8001@c! 8002@b! "},
		{17, 5, "8001@c! 9000@c! 9001@c! 8002@b! "},
	};

	end(state);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin_as("main.a", rows[i].release);
		put_defer(0, 2, rows[i].link, true);
		put_defer(1, 1, rows[i].link, false);
		fakemem_put(RECORDS, 16 | 1ULL << 32);
		for (unsigned k = 0; k < 6; k++)
			fakemem_put(RECORDS + 8 * (9 + k), 0x9000 + k);
		fakemem_put(G + 40, RECORDS);
		expect(rows[i].want);
		if (i + 1 < sizeof(rows) / sizeof(*rows)) {
			end(state);
			continue;
		}
		fakemem_put(RECORDS, 0x100); /* as many as are taken */
		expect("8001@c! 9000@c! 9001@c! 9002@c! 9003@c! 8002@b! ");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_maps, begin, end),
		cmocka_unit_test_setup_teardown(test_no_locals, begin, end),
		cmocka_unit_test_setup_teardown(test_stacks, begin, end),
		cmocka_unit_test_setup_teardown(test_variables, begin, end),
		cmocka_unit_test_setup_teardown(test_closure_on_stack, begin, end),
		cmocka_unit_test_setup_teardown(test_closure, begin, end),
		cmocka_unit_test_setup_teardown(test_defers, begin, end),
		cmocka_unit_test_setup_teardown(test_old_defers, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
