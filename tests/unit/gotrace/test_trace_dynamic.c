// SPDX-License-Identifier: Apache-2.0
/* What interfaces hold, as gotrace's kernel side reads it: by the dynamic type, through what that
 * leads to, and the elements of lists. With it: reads that are put off. */
#define STRING_MAX 16
#define SAVED_MAX 8
#define RING_PAGES 16
#define PLACES 24
#define USER_FRAMES 0
#define KERNEL_FRAMES 0

#include "traceplans.h"

#include "bpf-src/gotrace.bpf.c" /* NOLINT(bugprone-suspicious-include) */

#include "tracehits.h"

enum {
	FREE = FAKEGOROUTINE_FREE,
	AWAY = FAKEMEM_BASE + FAKEMEM_MAX,
	BIAS = 0x8000, /* of the program, the one of this number: */
	PROGRAM = 3,
	LEVELS = 6,
};

static struct hit at = {.bias = BIAS, .program = PROGRAM};
static uint64_t record[512];

static int prepare(void **state)
{
	begin(state);
	memset(record, 0xa5, sizeof(record));
	memset(at.later, 0, sizeof(at.later));
	return 0;
}

/* The n-th type, and the itab of an interface that holds it */
static u64 type_at(unsigned n)
{
	return FREE + 0x1000 + 0x100 * n;
}

static u64 itab_at(unsigned n)
{
	return type_at(n) + 0x80;
}

static void type_is(unsigned n, struct trace_dyntype type)
{
	u64 key = type_key_of(type_at(n) - BIAS, PROGRAM);

	assert_int_equal(dyntypes.update(&key, &type), 0);
	fakemem_put(itab_at(n), type_at(9)); /* the interface's own */
	fakemem_put(itab_at(n) + 8, type_at(n));
}

/* Levels of what was read, as long as there are some: the type's and the interface's number, then
 * what was read. */
static void say_levels(const uint64_t *from)
{
	const struct trace_dynamic *dyn = (const void *)from;
	unsigned level = 0;

	for (;; dyn = (const void *)((const char *)dyn + LEVEL_ROOM)) {
		u64 type = dyn->rtype + BIAS - type_at(0);

		if (type < 0x1000)
			steps_are("T%llu word %llx state %lld element %x", type / 0x100, dyn->word,
				  dyn->state, dyn->element);
		else
			steps_are("type %llx word %llx state %lld element %x", dyn->rtype,
				  dyn->word, dyn->state, dyn->element);
		eventtext_words("is", (const uint64_t *)dyn->object, TRACE_DYN_OBJECT / 8);
		for (unsigned i = 0; i < TRACE_DYN_REFS; i++)
			if (*(const s64 *)((const char *)(dyn + 1) + i * (8 + STRING_ROOM)) > 0)
				eventtext_words("refers to",
						(const uint64_t *)((const char *)(dyn + 1) +
								   i * (8 + STRING_ROOM)),
						3);
		if (!dyn->more || ++level > LEVELS)
			break;
	}
}

static void expect_read(u64 word, u64 data, u64 how, u64 levels, const char *want)
{
	fetch_dynamic((char *)record, word, data, how, levels, &at);
	say_levels(record);
	steps_expect(want);
	memset(record, 0xa5, sizeof(record));
}

static void test_types(void **state)
{
	(void)state;
	type_is(0, (struct trace_dyntype){.direct = 1, .inner = -1});
	type_is(1, (struct trace_dyntype){.size = 16, .inner = -1});
	type_is(2, (struct trace_dyntype){.size = TRACE_DYN_OBJECT + 8, .inner = -1});
	for (unsigned i = 0; i < 16; i++)
		fakemem_put(FREE + 8 * i, 0x100 + i);
	expect_read(type_at(0), 0x77, DYNAMIC_TYPE, LEVELS,
		    "T0 word 77 state 8 element 0; is 77 ?11; ");
	expect_read(itab_at(0), 0x77, DYNAMIC_ITAB, LEVELS,
		    "T0 word 77 state 8 element 0; is 77 ?11; ");
	expect_read(type_at(1), FREE, DYNAMIC_TYPE, LEVELS,
		    "T1 word 50000 state 16 element 0; is 100 101 ?10; ");
	expect_read(type_at(2), FREE, DYNAMIC_TYPE, LEVELS,
		    "T2 word 50000 state 96 element 0; is 100 101 102 103 104 105 106 107 "
		    "108 109 10a 10b; ");
	expect_read(type_at(1), 0, DYNAMIC_TYPE, LEVELS, "T1 word 0 state -1 element 0; is ?12; ");
	expect_read(type_at(1), AWAY, DYNAMIC_TYPE, LEVELS,
		    "T1 word 110000 state -2 element 0; is 0 0 ?10; ");
	expect_read(0, 0, DYNAMIC_TYPE, LEVELS, "type 0 word 0 state -1 element 0; is ?12; ");
	expect_read(0, 0, DYNAMIC_ITAB, LEVELS, "type 0 word 0 state -1 element 0; is ?12; ");
	expect_read(AWAY, 5, DYNAMIC_ITAB, LEVELS,
		    "type ffffffffffffffff word 5 state -1 element 0; is ?12; ");
	expect_read(type_at(3), 5, DYNAMIC_TYPE, LEVELS, "T3 word 5 state -1 element 0; is ?12; ");
	/* one of another program is another type */
	at.program = PROGRAM + 1;
	expect_read(type_at(0), 0x77, DYNAMIC_TYPE, LEVELS,
		    "T0 word 77 state -1 element 0; is ?12; ");
	at.program = PROGRAM;
}

static void test_references(void **state)
{
	(void)state;
	type_is(0, (struct trace_dyntype){
			   .size = 96, .refs = 3, .ref = {{0, 1}, {80, 8}, {16, 1}}, .inner = -1});
	type_is(1, (struct trace_dyntype){
			   .size = 96, .refs = 2, .ref = {{81, 1}, {0, 1}, {16, 1}}, .inner = -1});
	for (unsigned i = 0; i < 32; i++)
		fakemem_put(FREE + 8 * i, 0);
	memcpy(&fakemem.bytes[FREE - FAKEMEM_BASE + 0x200], "abcdefghijklmnopqrstuvwxyz", 26);
	fakemem_put(FREE, FREE + 0x200);
	fakemem_put(FREE + 8, 3);
	fakemem_put(FREE + 16, FREE + 0x208);
	fakemem_put(FREE + 24, 20);
	fakemem_put(FREE + 80, FREE + 0x210);
	fakemem_put(FREE + 88, 1);
	expect_read(type_at(0), FREE, DYNAMIC_TYPE, 1,
		    "T0 word 50000 state 96 element 0; is 50200 3 50208 14 0 0 0 0 0 0 "
		    "50210 1; refers to 3 a5a5a5a5a5636261 ?; refers to 8 7877767574737271 "
		    "?; refers to 10 706f6e6d6c6b6a69 7877767574737271; ");
	expect_read(type_at(1), FREE, DYNAMIC_TYPE, 1,
		    "T1 word 50000 state 96 element 0; is 50200 3 50208 14 0 0 0 0 0 0 "
		    "50210 1; refers to 3 a5a5a5a5a5636261 ?; ");
}

/* What may be an interface is one if its first word is a type or an itab. */
static void test_either(void **state)
{
	(void)state;
	type_is(0, (struct trace_dyntype){.direct = 1, .inner = -1});
	type_is(9, (struct trace_dyntype){.direct = 1, .inner = -1});
	expect_read(type_at(0), 0x77, DYNAMIC_EITHER, LEVELS,
		    "T0 word 77 state 8 element 0; is 77 ?11; ");
	expect_read(itab_at(0), 0x77, DYNAMIC_EITHER, LEVELS,
		    "T0 word 77 state 8 element 0; is 77 ?11; ");
	/* the type's hash is not the itab's */
	fakemem_put(itab_at(0) + 16, 0x1234);
	expect_read(itab_at(0), 0x77, DYNAMIC_EITHER, LEVELS,
		    "type 0 word 77 state -1 element 0; is ?12; ");
	fakemem_put(type_at(0) + 16, 0x500001234);
	expect_read(itab_at(0), 0x77, DYNAMIC_EITHER, LEVELS,
		    "T0 word 77 state 8 element 0; is 77 ?11; ");
	fakemem_put(itab_at(0), type_at(7));
	expect_read(itab_at(0), 0x77, DYNAMIC_EITHER, LEVELS,
		    "type 0 word 77 state -1 element 0; is ?12; ");
	fakemem_put(itab_at(0), type_at(9));
	fakemem_put(itab_at(0) + 8, type_at(7));
	fakemem_put(type_at(7) + 16, 0x1234);
	expect_read(itab_at(0), 0x77, DYNAMIC_EITHER, LEVELS,
		    "type 0 word 77 state -1 element 0; is ?12; ");
	expect_read(AWAY, 0x77, DYNAMIC_EITHER, LEVELS,
		    "type 0 word 77 state -1 element 0; is ?12; ");
	expect_read(0, 0x77, DYNAMIC_EITHER, LEVELS, "type 0 word 77 state -1 element 0; is ?12; ");
}

/* --- from level to level --- */

/* T0 has an interface at 16, T1 a pointer to a T2, T2 a word. */
static void make_chain(void)
{
	type_is(0, (struct trace_dyntype){.size = 32, .inner = 16});
	type_is(1, (struct trace_dyntype){.size = 16, .inner = 8, .inner_type = type_at(2) - BIAS});
	type_is(2, (struct trace_dyntype){.size = 8, .inner = -1});
	type_is(3, (struct trace_dyntype){.size = 96, .inner = 81});
	type_is(4, (struct trace_dyntype){.size = 96, .inner = 80});
	fakemem_put(FREE, 1);
	fakemem_put(FREE + 16, itab_at(1));
	fakemem_put(FREE + 24, FREE + 0x100);
	fakemem_put(FREE + 0x100, 2);
	fakemem_put(FREE + 0x108, FREE + 0x200);
	fakemem_put(FREE + 0x200, 0x42);
}

static void test_chain(void **state)
{
	(void)state;
	make_chain();
	expect_read(type_at(0), FREE, DYNAMIC_TYPE, LEVELS,
		    "T0 word 50000 state 32 element 0; is 1 0 51180 50100 ?8; T1 word "
		    "50100 state 16 element 0; is 2 50200 ?10; T2 word 50200 state 8 "
		    "element 0; is 42 ?11; ");
	expect_read(type_at(0), FREE, DYNAMIC_TYPE, 3,
		    "T0 word 50000 state 32 element 0; is 1 0 51180 50100 ?8; T1 word "
		    "50100 state 16 element 0; is 2 50200 ?10; T2 word 50200 state 8 "
		    "element 0; is 42 ?11; ");
	expect_read(type_at(0), FREE, DYNAMIC_TYPE, 2,
		    "T0 word 50000 state 32 element 0; is 1 0 51180 50100 ?8; T1 word "
		    "50100 state 16 element 0; is 2 50200 ?10; ");
	expect_read(type_at(0), FREE, DYNAMIC_TYPE, 1,
		    "T0 word 50000 state 32 element 0; is 1 0 51180 50100 ?8; ");
	fakemem_put(FREE + 0x108, 0);
	expect_read(type_at(0), FREE, DYNAMIC_TYPE, LEVELS,
		    "T0 word 50000 state 32 element 0; is 1 0 51180 50100 ?8; T1 word "
		    "50100 state 16 element 0; is 2 0 ?10; ");
	fakemem_put(FREE + 16, 0);
	expect_read(type_at(0), FREE, DYNAMIC_TYPE, LEVELS,
		    "T0 word 50000 state 32 element 0; is 1 0 0 50100 ?8; ");
	/* where an object ends there is no interface */
	fakemem_put(FREE + 80, itab_at(2));
	fakemem_put(FREE + 81, itab_at(2));
	fakemem_put(FREE + 88, FREE + 0x200);
	expect_read(type_at(3), FREE, DYNAMIC_TYPE, LEVELS,
		    "T3 word 50000 state 96 element 0; is 1 0 0 50100 0 0 0 0 0 0 5128080 "
		    "50200; ");
	fakemem_put(FREE + 80, itab_at(2));
	fakemem_put(FREE + 88, FREE + 0x200);
	expect_read(type_at(4), FREE, DYNAMIC_TYPE, LEVELS,
		    "T4 word 50000 state 96 element 0; is 1 0 0 50100 0 0 0 0 0 0 51280 "
		    "50200; T2 word 50200 state 8 element 0; is 42 ?11; ");
}

/* It leads to itself. */
static void test_circle(void **state)
{
	(void)state;
	make_chain();
	fakemem_put(FREE + 16, itab_at(0));
	fakemem_put(FREE + 24, FREE);
	expect_read(type_at(0), FREE, DYNAMIC_TYPE, LEVELS,
		    "T0 word 50000 state 32 element 0; is 1 0 51080 50000 ?8; T0 word "
		    "50000 state 32 element 0; is 1 0 51080 50000 ?8; T0 word 50000 state "
		    "32 element 0; is 1 0 51080 50000 ?8; T0 word 50000 state 32 element "
		    "0; is 1 0 51080 50000 ?8; T0 word 50000 state 32 element 0; is 1 0 "
		    "51080 50000 ?8; T0 word 50000 state 32 element 0; is 1 0 51080 50000 "
		    "?8; ");
}

/* --- lists --- */

static void add_element(u64 list, unsigned n, unsigned type, u64 data)
{
	fakemem_put(list + 16 * n, type < 16 ? itab_at(type) : 0);
	fakemem_put(list + 16 * n + 8, data);
}

/* T5 has a list of interfaces at 0 and its length, T6 the same at 8 */
static void make_lists(void)
{
	make_chain();
	type_is(5, (struct trace_dyntype){.size = 16, .inner = 0, .inner_type = TRACE_DYN_LIST});
	type_is(6, (struct trace_dyntype){.size = 24, .inner = 8, .inner_type = TRACE_DYN_LIST});
	fakemem_put(FREE + 0x300, FREE + 0x400);
	fakemem_put(FREE + 0x308, 3);
	add_element(FREE + 0x400, 0, 2, FREE + 0x200);
	add_element(FREE + 0x400, 1, 1, FREE + 0x100);
	add_element(FREE + 0x400, 2, 2, FREE + 0x100);
	add_element(FREE + 0x400, 3, 2, FREE); /* behind the last one */
	fakemem_put(FREE + 0x500, 9);
	fakemem_put(FREE + 0x508, FREE + 0x600);
	fakemem_put(FREE + 0x510, 2);
	add_element(FREE + 0x600, 0, 5, FREE + 0x300);
	add_element(FREE + 0x600, 1, 2, FREE);
}

static void test_lists(void **state)
{
	(void)state;
	make_lists();
	expect_read(type_at(5), FREE + 0x300, DYNAMIC_TYPE, LEVELS,
		    "T5 word 50300 state 16 element 0; is 50400 3 ?10; T2 word 50200 state "
		    "8 element 60001; is 42 ?11; T1 word 50100 state 16 element 60002; is "
		    "2 50200 ?10; T2 word 50200 state 8 element 0; is 42 ?11; T2 word "
		    "50100 state 8 element 60003; is 2 ?11; ");
	expect_read(type_at(5), FREE + 0x300, DYNAMIC_TYPE, 3,
		    "T5 word 50300 state 16 element 0; is 50400 3 ?10; T2 word 50200 state "
		    "8 element 30001; is 42 ?11; T1 word 50100 state 16 element 30002; is "
		    "2 50200 ?10; ");
	/* a list in a list is not gone into */
	expect_read(type_at(6), FREE + 0x500, DYNAMIC_TYPE, LEVELS,
		    "T6 word 50500 state 24 element 0; is 9 50600 2 ?9; T5 word 50300 "
		    "state 16 element 60001; is 50400 3 ?10; T2 word 50000 state 8 element "
		    "60002; is 1 ?11; ");
	/* an element that is nil ends it */
	add_element(FREE + 0x400, 1, 99, 0);
	expect_read(type_at(5), FREE + 0x300, DYNAMIC_TYPE, LEVELS,
		    "T5 word 50300 state 16 element 0; is 50400 3 ?10; T2 word 50200 state "
		    "8 element 60001; is 42 ?11; ");
	fakemem_put(FREE + 0x308, 0);
	expect_read(type_at(5), FREE + 0x300, DYNAMIC_TYPE, LEVELS,
		    "T5 word 50300 state 16 element 0; is 50400 0 ?10; ");
	fakemem_put(FREE + 0x300, AWAY - 16);
	fakemem_put(FREE + 0x308, 2);
	add_element(AWAY - 16, 0, 2, FREE + 0x200);
	expect_read(type_at(5), FREE + 0x300, DYNAMIC_TYPE, LEVELS,
		    "T5 word 50300 state 16 element 0; is 10fff0 2 ?10; T2 word 50200 "
		    "state 8 element 60001; is 42 ?11; ");
}

/* --- reads that are put off --- */

static void expect_later(unsigned count, const char *want)
{
	fetch_later(&at, (char *)record);
	for (unsigned i = 0; i < TRACE_LATER; i++)
		assert_int_equal(at.later[i], 0);
	eventtext_words("record", record, count);
	steps_expect(want);
	memset(record, 0xa5, sizeof(record));
}

static void test_later(void **state)
{
	static const char *const read[] = {
		"record 0 50000 1 50008 2 50010 3 ? ffffffffffffffff ?2 "
		"ffffffffffffffff ?2 ffffffffffffffff ?17 8 100 ?6; ",
		"record 10 50000 1 50008 2 50010 3 ? 8 100 ? ffffffffffffffff ?2 "
		"ffffffffffffffff ?17 8 100 ?6; ",
		"record 20 50000 1 50008 2 50010 3 ? 8 100 ? 10 101 102 "
		"ffffffffffffffff ?17 8 100 ?6; ",
		"record 30 50000 1 50008 2 50010 3 ? 8 100 ? 10 101 102 10 102 103 ?15 "
		"8 100 ?6; "};

	(void)state;
	for (unsigned i = 0; i < 16; i++)
		fakemem_put(FREE + 8 * i, 0x100 + i);
	record[0] = FREE;
	record[1] = 3;
	record[2] = FREE + 8;
	record[3] = 1;
	at.later[0] = later_elements(0, 32, 16, 8);
	at.later[11] = later_elements(16, 64, 8, 4);
	expect_later(20, "record 50000 3 50008 1 10 100 101 ? 4 a5a5a5a500000101 ?10; ");
	/* of a slice's elements those that there are */
	for (unsigned there = 0; there < 4; there++) {
		record[0] = 16 * there;
		for (unsigned i = 0; i < 3; i++) {
			record[1 + 2 * i] = FREE + 8 * i;
			record[2 + 2 * i] = 1 + i;
		}
		at.later[5] = later_of_each(3, later_elements(8, 64, 16, 8));
		at.later[6] = later_elements(8, 256, 8, 8);
		expect_later(40, read[there]);
	}
}

static void test_later_dynamic(void **state)
{
	static const char *const read[] = {
		"none; none; ",
		"T0 word 50000 state 32 element 0; is 1 0 51180 50100 ?8; T1 word "
		"50100 state 16 element 0; is 2 50200 ?10; none; ",
		"T0 word 50000 state 32 element 0; is 1 0 51180 50100 ?8; T1 word "
		"50100 state 16 element 0; is 2 50200 ?10; T2 word 50200 state 8 "
		"element 0; is 42 ?11; "};
	enum { TO = 256, EACH = 2 * LEVEL_ROOM };

	(void)state;
	make_chain();
	for (unsigned there = 0; there < 3; there++) {
		record[0] = 16 * there;
		record[1] = type_at(0);
		record[2] = FREE;
		record[3] = type_at(2);
		record[4] = FREE + 0x200;
		at.later[0] = later_of_each(2, later_dynamic(8, TO, DYNAMIC_TYPE, 2));
		fetch_later(&at, (char *)record);
		for (unsigned i = 0; i < 2; i++) {
			if (record[(TO + i * EACH) / 8])
				say_levels(&record[(TO + i * EACH) / 8]);
			else
				steps_are("none");
		}
		steps_expect(read[there]);
		memset(record, 0xa5, sizeof(record));
	}
	record[1] = itab_at(2);
	record[2] = FREE + 0x200;
	at.later[3] = later_dynamic(8, TO, DYNAMIC_ITAB, 1);
	fetch_later(&at, (char *)record);
	say_levels(&record[TO / 8]);
	steps_expect("T2 word 50200 state 8 element 0; is 42 ?11; ");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_types, prepare),
		cmocka_unit_test_setup(test_references, prepare),
		cmocka_unit_test_setup(test_either, prepare),
		cmocka_unit_test_setup(test_chain, prepare),
		cmocka_unit_test_setup(test_circle, prepare),
		cmocka_unit_test_setup(test_lists, prepare),
		cmocka_unit_test_setup(test_later, prepare),
		cmocka_unit_test_setup(test_later_dynamic, prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
