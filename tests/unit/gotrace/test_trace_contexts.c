// SPDX-License-Identifier: Apache-2.0
/* What contexts carry, as gotrace's kernel side finds it: chains of contexts of all kinds, keys of
 * all kinds, spans, and contexts of which nothing is known. */
#define STRING_MAX 16
#define SAVED_MAX 8
#define RING_PAGES 16
#define PLACES 24
#define USER_FRAMES 0
#define KERNEL_FRAMES 0
#define CONTEXTS

#include "traceplans.h"

#include "bpf-src/gotrace.bpf.c" /* NOLINT(bugprone-suspicious-include) */

#include "tracehits.h"

enum {
	FREE = FAKEGOROUTINE_FREE,
	AWAY = FAKEMEM_BASE + FAKEMEM_MAX,
	BIAS = 0x8000, /* of the program, the one of this number: */
	PROGRAM = 3,
};

/* types: of contexts, of keys, of values, of spans */
enum { ROOT, WITHIN, VALUE, OTHER, KEY_TYPE, KEY_OTHER, STRING, SPAN, NO_SPAN };

static struct hit at = {.bias = BIAS, .program = PROGRAM, .sp = 0x77};

static u64 type_at(unsigned n)
{
	return FREE + 0x1000 + 0x100 * n;
}

static u64 itab_at(unsigned n)
{
	return type_at(n) + 0x80;
}

static void type_holds(unsigned n, u32 what, u32 off)
{
	struct trace_context holds = {.what = what, .off = off};
	u64 key = type_key_of(type_at(n) - BIAS, PROGRAM);

	assert_int_equal(contexts.update(&key, &holds), 0);
}

static int prepare(void **state)
{
	begin(state);
	for (unsigned n = 0; n <= NO_SPAN; n++)
		fakemem_put(itab_at(n) + 8, type_at(n));
	type_holds(ROOT, TRACE_CONTEXT_ROOT, 0);
	type_holds(WITHIN, TRACE_CONTEXT_WITHIN, 24);
	type_holds(VALUE, TRACE_CONTEXT_VALUE, 8);
	type_holds(SPAN, TRACE_CONTEXT_SPAN, 40);
	type_holds(NO_SPAN, TRACE_CONTEXT_ROOT, 0);
	return 0;
}

/* The n-th context of a chain, whose outermost is 0 */
static u64 context_at(unsigned n)
{
	return FREE + 0x4000 + 0x40 * n;
}

/* It is of a type that has the next one at `off`, which is of type `next`, OTHER among them. */
static void put_context(unsigned n, u32 off, unsigned next)
{
	fakemem_put(context_at(n) + off, itab_at(next));
	fakemem_put(context_at(n) + off + 8, context_at(n + 1));
}

static void put_value(unsigned n, unsigned next, unsigned key_type, u64 key, unsigned type,
		      u64 value)
{
	put_context(n, 8, next);
	fakemem_put(context_at(n) + 24, type_at(key_type));
	fakemem_put(context_at(n) + 32, key);
	fakemem_put(context_at(n) + 40, type_at(type));
	fakemem_put(context_at(n) + 48, value);
}

static const struct context_key any = {.rtype = FREE + 0x1000 + 0x100 * KEY_TYPE - BIAS,
				       .any = true};

/* "TYPE VALUE STATE" of what the first context, of type `n`, has */
static void expect_key(unsigned n, const struct context_key *key, const char *want)
{
	s64 bad = 0;
	struct go_interface found = context_value(&bad, &at, itab_at(n), context_at(0), key);

	steps_are("%lld %llx %lld", found.type ? (s64)(found.type - type_at(0)) / 0x100 : -1,
		  found.data, bad);
	steps_expect(want);
}

static void expect_found(unsigned n, const char *want)
{
	expect_key(n, &any, want);
}

/* Through what hands on; the outermost value counts. */
static void test_chain(void **state)
{
	(void)state;
	put_context(0, 24, VALUE);
	put_value(1, WITHIN, KEY_OTHER, 1, STRING, 0xbad);
	put_context(2, 24, VALUE);
	put_value(3, VALUE, KEY_TYPE, 0x500, STRING, 0x501);
	put_value(4, ROOT, KEY_TYPE, 0x600, STRING, 0xbad);
	expect_found(WITHIN, "6 501 0; ");
	expect_found(ROOT, "-1 0 0; ");
	expect_found(OTHER, "-1 0 -7; ");
	expect_found(SPAN, "-1 0 -7; ");
}

static void test_ends(void **state)
{
	s64 bad = 0;

	(void)state;
	put_context(0, 24, ROOT);
	expect_found(WITHIN, "-1 0 0; ");
	put_context(0, 24, OTHER);
	expect_found(WITHIN, "-1 0 -7; ");
	fakemem_put(context_at(0) + 24, 0); /* nil */
	expect_found(WITHIN, "-1 0 0; ");
	fakemem_put(context_at(0) + 24, itab_at(VALUE));
	fakemem_put(context_at(0) + 32, AWAY);
	expect_found(WITHIN, "-1 0 -2; ");
	fakemem_put(context_at(0) + 24, AWAY);
	expect_found(WITHIN, "-1 0 -7; ");
	assert_int_equal(context_value(&bad, &at, 0, 0, &any).type, 0);
	assert_int_equal(bad, 0);
	bad = TRACE_NIL; /* stays */
	context_value(&bad, &at, itab_at(OTHER), 0, &any);
	assert_int_equal(bad, TRACE_NIL);
}

/* As many as are looked at, and one more */
static void test_depth(void **state)
{
	(void)state;
	for (unsigned n = 0; n < TRACE_CONTEXT_DEPTH; n++)
		put_value(n, VALUE, KEY_OTHER, 0, STRING, 0);
	put_value(TRACE_CONTEXT_DEPTH - 1, VALUE, KEY_TYPE, 0, STRING, 0x55);
	put_value(TRACE_CONTEXT_DEPTH, ROOT, KEY_TYPE, 0, STRING, 0x66);
	expect_found(VALUE, "6 55 0; ");
	put_value(TRACE_CONTEXT_DEPTH - 1, VALUE, KEY_OTHER, 0, STRING, 0x55);
	expect_found(VALUE, "-1 0 -7; ");
}

static void test_keys(void **state)
{
	struct context_key number = {.rtype = any.rtype, .text = {2, {0x0201}}};
	struct context_key text = {
		.rtype = any.rtype, .is_text = true, .text = {9, {0x6867666564636261, 0x69}}};
	u64 bytes = FREE + 0x200, string = FREE + 0x300;

	(void)state;
	memcpy(&fakemem.bytes[bytes - FAKEMEM_BASE], "abcdefghij", 10);
	fakemem_put(string, bytes);
	fakemem_put(string + 8, 9);
	put_value(0, ROOT, KEY_TYPE, string, STRING, 0x11);
	expect_key(VALUE, &text, "6 11 0; ");
	fakemem_put(string + 8, 10); /* longer */
	expect_key(VALUE, &text, "-1 0 0; ");
	fakemem_put(string + 8, 9);
	fakemem_put(string, bytes + 1); /* other bytes */
	expect_key(VALUE, &text, "-1 0 0; ");
	fakemem_put(string, AWAY);
	expect_key(VALUE, &text, "-1 0 -2; ");
	put_value(0, ROOT, KEY_TYPE, bytes, STRING, 0x11);
	expect_key(VALUE, &number, "-1 0 0; ");
	fakemem_put(bytes, 0xff0201); /* two bytes count */
	expect_key(VALUE, &number, "6 11 0; ");
	put_value(0, ROOT, KEY_OTHER, bytes, STRING, 0x11);
	expect_key(VALUE, &number, "-1 0 0; ");
}

static void expect_trace(const char *want)
{
	s64 bad = 0;
	struct trace_id id = context_trace(&bad, &at, itab_at(VALUE), context_at(0), &any);

	steps_are("%llx %llx %lld", id.first, id.last, bad);
	steps_expect(want);
}

static void test_spans(void **state)
{
	u64 span = FREE + 0x200;

	(void)state;
	fakemem_put(span + 40, 0x1122334455667788);
	fakemem_put(span + 48, 0x99aabbccddeeff00);
	put_value(0, ROOT, KEY_TYPE, 0, SPAN, span);
	expect_trace("1122334455667788 99aabbccddeeff00 0; ");
	put_value(0, ROOT, KEY_TYPE, 0, NO_SPAN, span);
	expect_trace("0 0 0; ");
	put_value(0, ROOT, KEY_TYPE, 0, OTHER, span);
	expect_trace("0 0 -7; ");
	put_value(0, ROOT, KEY_TYPE, 0, WITHIN, span);
	expect_trace("0 0 -7; ");
	put_value(0, ROOT, KEY_TYPE, 0, SPAN, AWAY);
	expect_trace("0 0 -2; ");
	put_value(0, ROOT, KEY_OTHER, 0, SPAN, span);
	expect_trace("0 0 0; ");
}

static void expect_either(u64 first, u64 second, u64 data)
{
	struct go_interface found = context_either(&at, first, 0x51, second, 0x52);

	assert_int_equal(found.data, data);
	assert_int_equal(found.type, data == 0x51 ? first : data ? second : 1);
}

/* Two words are a context, or they are not: the first two that are. */
static void test_either(void **state)
{
	(void)state;
	expect_either(itab_at(VALUE), itab_at(ROOT), 0x51);
	expect_either(itab_at(OTHER), itab_at(WITHIN), 0x52);
	expect_either(itab_at(SPAN), itab_at(ROOT), 0x52);
	expect_either(0, itab_at(VALUE), 0x52);
	expect_either(AWAY, itab_at(SPAN), 0);
}

static void expect_held(u64 type, u64 data, u64 text, u64 len, s64 state)
{
	s64 bad = 0;
	struct go_interface found = held_string(&bad, &at, type, data, type_at(STRING) - BIAS);

	assert_int_equal(found.type, text);
	assert_int_equal(found.data, len);
	assert_int_equal(bad, state);
}

static void test_strings(void **state)
{
	u64 string = FREE + 0x200;

	(void)state;
	fakemem_put(string, 0x1122);
	fakemem_put(string + 8, 5);
	expect_held(type_at(STRING), string, 0x1122, 5, 0);
	expect_held(type_at(OTHER), string, 0, 0, TRACE_OTHER);
	expect_held(0, 0, 0, 0, 0);
	expect_held(type_at(STRING), AWAY, 0, 0, TRACE_FAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_chain, prepare),
		cmocka_unit_test_setup(test_ends, prepare),
		cmocka_unit_test_setup(test_depth, prepare),
		cmocka_unit_test_setup(test_keys, prepare),
		cmocka_unit_test_setup(test_spans, prepare),
		cmocka_unit_test_setup(test_either, prepare),
		cmocka_unit_test_setup(test_strings, prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
