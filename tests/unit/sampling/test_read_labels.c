// SPDX-License-Identifier: Apache-2.0
/* How goprofile's kernel side reads goroutines' labels, compiled for this side: the program's
 * memory is made up. */
#include <stdlib.h>
#include <string.h>

#include "bpf-src/shared/profile.h"
#include "kernelside.h"
#include "unit.h"

struct record {
	struct profile_sample sample;
	u64 words[PROFILE_WORDS];
};

/* --- in place of bpf-src/goprofile.bpf.c --- */

#define RECORD_WORDS PROFILE_WORDS
#include "bpf-src/parts/labels.h"

/* --- a goroutine with labels --- */

enum {
	G = FAKEMEM_BASE,
	G_LABELS = 0x20,
	SET = FAKEMEM_BASE + 0x100,  /* what g.labels leads to */
	HEAD = FAKEMEM_BASE + 0x200, /* hmap */
	TEXT = FAKEMEM_BASE + 0x400,
	LIST = FAKEMEM_BASE + 0x1000,
	BUCKETS = FAKEMEM_BASE + 0x4000,
	BEFORE = FAKEMEM_BASE + 0x8000,
	MORE = FAKEMEM_BASE + 0xc000,
	SIZE = 0x10000,
	/* Go's src/runtime/map.go: bmap of eight strings to strings */
	KEYS = 8,
	VALUES = 136,
	NEXT = 264,
	BUCKET = 272,
};

static struct record rec;
static struct profile_target target;

static int begin(void **state)
{
	(void)state;
	fakemem_begin(SIZE);
	fakemem_put(G + G_LABELS, SET);
	for (u64 i = 0; i < 0x400; i++) /* labels are named by one letter */
		fakemem.bytes[TEXT - FAKEMEM_BASE + i] = (uint8_t)('a' + i % 26);
	memset(&rec, 0, sizeof(rec));
	target = (struct profile_target){.g_labels = G_LABELS};
	return 0;
}

static void put_string(u64 at, u64 text, u64 len)
{
	fakemem_put(at, TEXT + text);
	fakemem_put(at + 8, len);
}

/* Label `letter` of a slice: "b" = "cd" for 1 */
static void put_a_label(u64 at, u64 value_at, unsigned letter)
{
	put_string(at, letter, 1);
	put_string(value_at, letter + 1, 2);
}

static void look(u64 curg)
{
	memset(&rec, 0, sizeof(rec));
	read_labels(&rec, &target, curg);
}

/* All labels are there, in this order, of letters. */
static void expect_labels(const char *letters, bool cut)
{
	size_t count = strlen(letters);

	assert_int_equal(rec.sample.labels, count);
	assert_int_equal(rec.sample.labels_cut, cut);
	assert_int_equal(rec.sample.count, 3 * count);
	assert_int_equal(rec.sample.label_words, 3 * count);
	for (size_t i = 0; i < count; i++) {
		const u64 *words = rec.words + 3 * i;
		const char value[2] = {(char)(letters[i] + 1), (char)(letters[i] + 2)};

		assert_int_equal(words[0], 1 | (u64)2 << 32);
		assert_memory_equal(&words[1], &letters[i], 1);
		assert_memory_equal(&words[2], value, 2);
	}
}

/* --- a slice, from Go 1.24 on --- */

static void put_slice(unsigned count)
{
	fakemem_put(SET, LIST);
	fakemem_put(SET + 8, count);
	for (unsigned i = 0; i < count; i++)
		put_a_label(LIST + 32 * i, LIST + 32 * i + 16, i);
}

static void test_slice(void **state)
{
	(void)state;
	put_slice(3);
	look(G);
	expect_labels("abc", false);
	put_slice(PROFILE_LABELS);
	look(G);
	expect_labels("abcdefghijklmnop", false);
	put_slice(PROFILE_LABELS + 1);
	look(G);
	expect_labels("abcdefghijklmnop", true);
	fakemem_put(LIST + 32, 8); /* the second key is not mapped */
	look(G);
	expect_labels("a", true);
}

static void test_long_texts(void **state)
{
	(void)state;
	put_slice(1);
	put_string(LIST, 0, PROFILE_LABEL_TEXT);
	put_string(LIST + 16, 1, PROFILE_LABEL_TEXT + 5);
	look(G);
	assert_int_equal(rec.sample.labels, 1);
	assert_int_equal(rec.words[0], PROFILE_LABEL_TEXT | (u64)(PROFILE_LABEL_TEXT + 5) << 32);
	assert_int_equal(rec.sample.count, 1 + 2 * PROFILE_LABEL_TEXT / 8);
	assert_memory_equal(rec.words + 1 + PROFILE_LABEL_TEXT / 8,
			    fakemem.bytes + (TEXT - FAKEMEM_BASE) + 1, PROFILE_LABEL_TEXT);
	put_string(LIST, 0, (u64)1 << 40); /* as the program has it, but in half a word */
	put_string(LIST + 16, 0, 0);
	look(G);
	assert_int_equal(rec.words[0], 0xffffffff);
	assert_int_equal(rec.sample.count, 1 + PROFILE_LABEL_TEXT / 8);
}

static void test_none(void **state)
{
	(void)state;
	put_slice(1);
	look(0);
	expect_labels("", false);
	fakemem_put(G + G_LABELS, 0);
	look(G);
	expect_labels("", false);
	target.g_labels = 0;
	look(G);
	expect_labels("", true);
	target.g_labels = SIZE;
	look(G);
	expect_labels("", true);
}

/* --- a map, up to Go 1.23 --- */

static void put_head(u64 count, u8 flags, u8 log2)
{
	target.label_map = 1;
	fakemem_put(SET, HEAD);
	fakemem_put(HEAD, count);
	fakemem_put(HEAD + 8, flags | (u64)log2 << 8);
	fakemem_put(HEAD + 16, BUCKETS);
	fakemem_put(HEAD + 24, 0);
}

static void put_cell(u64 bucket, unsigned cell, u8 top, unsigned letter)
{
	fakemem.bytes[bucket - FAKEMEM_BASE + cell] = top;
	put_a_label(bucket + KEYS + 16 * cell, bucket + VALUES + 16 * cell, letter);
}

/* Of cells with a top hash below 5 there is nothing, or it has moved. */
static void test_map(void **state)
{
	(void)state;
	put_head(3, 0, 0);
	put_cell(BUCKETS, 0, 5, 0);
	put_cell(BUCKETS, 1, 4, 1);
	put_cell(BUCKETS, 3, 255, 2);
	put_cell(BUCKETS, 7, 6, 3);
	look(G);
	expect_labels("acd", false);
	put_head(4, 0, 0); /* there should be one more */
	look(G);
	expect_labels("acd", true);
	put_head(2, 0, 0);
	look(G);
	expect_labels("ac", false);
}

/* Buckets that follow one stand behind it; those of the array in their order. */
static void test_map_chain(void **state)
{
	(void)state;
	put_head(4, 0, 1);
	put_cell(BUCKETS, 2, 9, 0);
	fakemem_put(BUCKETS + NEXT, MORE);
	put_cell(MORE, 7, 9, 1);
	fakemem_put(MORE + NEXT, MORE + BUCKET);
	put_cell(MORE + BUCKET, 0, 9, 2);
	put_cell(BUCKETS + BUCKET, 0, 9, 3);
	put_cell(BUCKETS + 2 * BUCKET, 0, 9, 4); /* there are only two */
	look(G);
	expect_labels("abcd", false);
}

/* While it grows it has half as many buckets before, or as many. */
static void test_map_growing(void **state)
{
	(void)state;
	put_head(3, 0, 1);
	fakemem_put(HEAD + 24, BEFORE);
	put_cell(BUCKETS, 0, 9, 0);
	put_cell(BEFORE, 0, 9, 1);
	put_cell(BEFORE + BUCKET, 0, 9, 2);
	look(G);
	expect_labels("ab", true);
	put_head(3, 8, 1);
	fakemem_put(HEAD + 24, BEFORE);
	look(G);
	expect_labels("abc", false);
}

/* More buckets than labels need, which is not read; a chain that bites its tail comes to an end. */
static void test_map_hostile(void **state)
{
	(void)state;
	put_head(2, 0, 4);
	put_cell(BUCKETS + 15 * BUCKET, 7, 9, 0);
	look(G);
	expect_labels("a", true);
	put_head(1, 0, 5);
	put_cell(BUCKETS, 0, 9, 0);
	look(G);
	expect_labels("", true);
	put_head(9, 0, 0);
	fakemem.bytes[BUCKETS - FAKEMEM_BASE] = 0;
	fakemem_put(BUCKETS + NEXT, BUCKETS);
	look(G);
	expect_labels("", true);
	fakemem_put(SET, 8);
	look(G);
	expect_labels("", true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_slice, begin),
		cmocka_unit_test_setup(test_long_texts, begin),
		cmocka_unit_test_setup(test_none, begin),
		cmocka_unit_test_setup(test_map, begin),
		cmocka_unit_test_setup(test_map_chain, begin),
		cmocka_unit_test_setup(test_map_growing, begin),
		cmocka_unit_test_setup(test_map_hostile, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
