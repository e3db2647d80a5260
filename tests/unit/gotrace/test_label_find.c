// SPDX-License-Identifier: Apache-2.0
/* How gotrace's kernel side finds one label of a goroutine, compiled for this side: the program's
 * memory is made up. (Buckets of maps: see also sampling/test_read_labels.c.) */
#include <string.h>

#include "unit.h"

#define STRING_MAX 16

#include "bpf-src/parts/fetch.h"

/* --- in place of bpf-src/parts/goroutine.h --- */

enum { REGISTER_SP = 1 };
struct goroutine_stack {
	u64 lo, hi;
};

static u64 forget_value(u64 value, u64 noise)
{
	(void)noise;
	return value;
}

static u64 current_g;

static u64 goroutine_current(struct pt_regs *ctx, struct goroutine_stack *stack)
{
	(void)ctx;
	(void)stack;
	return current_g;
}

#include "bpf-src/parts/label_find.h"

enum {
	G = FAKEMEM_BASE,
	G_LABELS = 0x20,
	SET = FAKEMEM_BASE + 0x100,
	HEAD = FAKEMEM_BASE + 0x200, /* hmap */
	TEXT = FAKEMEM_BASE + 0x400,
	LIST = FAKEMEM_BASE + 0x1000,
	BUCKETS = FAKEMEM_BASE + 0x4000,
	SIZE = 0x10000,
};

static struct label_place place;

static int begin(void **state)
{
	(void)state;
	fakemem_begin(SIZE);
	current_g = G;
	place = (struct label_place){.g_labels = G_LABELS};
	fakemem_put(G + G_LABELS, SET);
	for (u64 i = 0; i < 0x400; i++)
		fakemem.bytes[TEXT - FAKEMEM_BASE + i] = (uint8_t)('a' + i % 26);
	return 0;
}

static void put_string(u64 at, u64 text, u64 len)
{
	fakemem_put(at, TEXT + text);
	fakemem_put(at + 8, len);
}

/* Labels whose keys are "a", "bc", "cde" and so on, and whose values stand 100 bytes behind. */
static void put_slice(unsigned count)
{
	fakemem_put(SET, LIST);
	fakemem_put(SET + 8, count);
	for (unsigned i = 0; i < count; i++) {
		put_string(LIST + 32 * i, i, i + 1);
		put_string(LIST + 32 * i + 16, i + 100, i + 2);
	}
}

static struct go_string find(const char *text, s64 expected)
{
	struct text_key key = {.len = strlen(text)};
	s64 bad = 0;

	memcpy(key.words, text, key.len);
	struct go_string value = find_label(&bad, NULL, place, &key);

	assert_int_equal(bad, expected);
	return value;
}

static void expect_none(const char *text, s64 expected)
{
	struct go_string value = find(text, expected);

	assert_int_equal(value.data, 0);
	assert_int_equal(value.len, 0);
}

static void expect_nth(const char *text, unsigned n)
{
	struct go_string value = find(text, 0);

	assert_int_equal(value.data, TEXT + n + 100);
	assert_int_equal(value.len, n + 2);
}

static void test_slice(void **state)
{
	(void)state;
	put_slice(20);
	expect_nth("a", 0);
	expect_nth("bc", 1);
	expect_nth("hijklmno", 7);
	expect_nth("ijklmnopq", 8);
	expect_nth("pqrstuvwxyzabcde", 15);
	expect_none("", 0);
	expect_none("b", 0);
	expect_none("bd", 0);
	expect_none("ijklmnopx", 0);
	expect_none("xjklmnopq", 0);
}

/* A key as long as there may be; labels beyond those that are looked at. */
static void test_limits(void **state)
{
	char key[TRACE_KEY_TEXT + 1] = "";

	(void)state;
	for (int i = 0; i < TRACE_KEY_TEXT; i++)
		key[i] = (char)('a' + i % 26);
	put_slice(1);
	put_string(LIST, 0, TRACE_KEY_TEXT);
	expect_nth(key, 0);
	key[TRACE_KEY_TEXT - 1] ^= 1;
	expect_none(key, 0);
	put_slice(LABELS_MAX);
	expect_none("x", 0);
	put_slice(LABELS_MAX + 1);
	expect_nth("a", 0);
	expect_none("x", TRACE_MANY);
}

static void test_none(void **state)
{
	(void)state;
	fakemem_put(G + G_LABELS, 0);
	expect_none("a", 0);
	put_slice(0);
	fakemem_put(G + G_LABELS, SET);
	expect_none("a", 0);
	fakemem_put(G + G_LABELS, 8);
	expect_none("a", TRACE_FAULT);
	current_g = 0;
	expect_none("a", TRACE_FAULT);
}

/* Go's src/runtime/map.go: hmap, and bmap of eight strings to strings */
static void put_map(u64 count, u8 log2)
{
	place.is_map = true;
	fakemem_put(SET, HEAD);
	fakemem_put(HEAD, count);
	fakemem_put(HEAD + 8, (u64)log2 << 8 | 0xfedcba9876540000); /* overflows, a seed */
	fakemem_put(HEAD + 16, BUCKETS);
	fakemem_put(HEAD + 24, 0);
}

static void put_cell(u64 bucket, unsigned cell, u8 top, unsigned n)
{
	fakemem.bytes[bucket - FAKEMEM_BASE + cell] = top;
	put_string(bucket + 8 + 16 * cell, n, n + 1);
	put_string(bucket + 136 + 16 * cell, n + 100, n + 2);
}

static void test_map(void **state)
{
	(void)state;
	put_map(4, 1);
	put_cell(BUCKETS, 0, 5, 0);
	put_cell(BUCKETS, 3, 4, 1); /* it has moved */
	put_cell(BUCKETS, 7, 255, 2);
	put_cell(BUCKETS + 272, 2, 9, 3);
	fakemem_put(BUCKETS + 272 + 264, BUCKETS + 4 * 272); /* one more behind it */
	put_cell(BUCKETS + 4 * 272, 5, 9, 4);
	expect_nth("a", 0);
	expect_none("bc", 0);
	expect_nth("cde", 2);
	expect_nth("defg", 3);
	expect_nth("efghi", 4);
	expect_none("z", 0);
}

static void test_map_hostile(void **state)
{
	(void)state;
	put_map(0, 1);
	put_cell(BUCKETS, 0, 5, 0);
	expect_none("a", 0);
	put_map(1, 5); /* more buckets than labels need */
	expect_none("a", TRACE_MANY);
	put_map(1, 0);
	fakemem_put(BUCKETS + 264, BUCKETS); /* bites its tail */
	expect_nth("a", 0);
	expect_none("z", TRACE_MANY);
	fakemem_put(SET, 8);
	expect_none("a", TRACE_FAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_slice, begin),
		cmocka_unit_test_setup(test_limits, begin),
		cmocka_unit_test_setup(test_none, begin),
		cmocka_unit_test_setup(test_map, begin),
		cmocka_unit_test_setup(test_map_hostile, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
