// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/errmsg.h"
#include "fakemem.h"
#include "heap/heap_internal.h"
#include "unit.h"

/* A program with two buckets: the second has a stack of two, the first of one. */
enum {
	BUCKETS = FAKEMEM_BASE,
	CYCLE = FAKEMEM_BASE + 0x10,
	RATE = FAKEMEM_BASE + 0x20,
	LAST_GC = FAKEMEM_BASE + 0x100,
	FIRST = FAKEMEM_BASE + 0x2000,
	SECOND = FAKEMEM_BASE + 0x3000,
	SIZE = 0x5000,
	MEM_PROFILE = 1,
};

static const struct heap_vars vars = {
	.buckets = BUCKETS, .cycle = CYCLE, .rate = RATE, .last_gc = LAST_GC};
static int release;

static uint64_t record(uint64_t bucket)
{
	return bucket + 48 + (bucket == FIRST ? 1 : 2) * 8;
}

/* Of one of the four cycles: the one that is published, and three to come. */
static void put_counts(uint64_t bucket, unsigned which, uint64_t allocs, uint64_t frees)
{
	uint64_t size = bucket == FIRST ? 100 : 48;
	uint64_t at = record(bucket) + (uint64_t)which * (release >= 27 ? 16 : 32);

	fakemem_put(at, allocs);
	fakemem_put(at + 8, frees);
	if (release >= 27)
		return;
	fakemem_put(at + 16, allocs * size);
	fakemem_put(at + 24, frees * size);
}

static void put_cycle(uint32_t number, bool flushed)
{
	fakemem_put(CYCLE,
		    release >= 19 ? number << 1 | flushed : number | (uint64_t)flushed << 32);
}

static void put_bucket(uint64_t at, uint64_t next, uint64_t size, uint64_t depth)
{
	fakemem_put(at + 8, next);
	fakemem_put(at + 16, MEM_PROFILE);
	fakemem_put(at + 32, size);
	fakemem_put(at + 40, depth);
	for (uint64_t i = 0; i < depth; i++)
		fakemem_put(at + 48 + i * 8, 0x401000 + at + i);
}

static void begin(int of)
{
	release = of;
	fakemem_begin(SIZE);
	fakemem_put(BUCKETS, FIRST);
	fakemem_put(RATE, 1);
	put_bucket(FIRST, SECOND, 100, 1);
	put_bucket(SECOND, 0, 48, 2);
	put_cycle(7, true);
}

static struct heap read_it(void)
{
	const struct heap_source from = {&fakemem_memory, &vars, 0, release};
	struct errmsg err = {0};
	struct heap heap;

	assert_int_equal(heap_read(&from, &heap, &err), 0);
	return heap;
}

static void expect_counts(const struct heap_bucket *bucket, uint64_t allocs, uint64_t frees)
{
	assert_int_equal(bucket->allocated.objects, allocs);
	assert_int_equal(bucket->allocated.bytes, allocs * bucket->size);
	assert_int_equal(bucket->freed.objects, frees);
	assert_int_equal(bucket->freed.bytes, frees * bucket->size);
}

static const int releases[] = {15, 19, 26, 27};

static void test_published(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		begin(releases[i]);
		put_counts(FIRST, 0, 10, 3);
		put_counts(SECOND, 0, 5, 0);
		put_counts(FIRST, 1 + 9 % 3, 1000, 0); /* of cycle 7 + 2: allocated since */
		struct heap heap = read_it();

		assert_int_equal(heap.count, 2);
		expect_counts(&heap.all[0], 10, 3);
		expect_counts(&heap.all[1], 5, 0);
		assert_int_equal(heap.all[1].depth, 2);
		assert_int_equal(heap.words[heap.all[1].words + 1], 0x401001 + SECOND);
		assert_int_equal(heap.word_count, 3);
		assert_int_equal(heap.of, 7);
		assert_false(heap.early || heap.unsteady);
		heap_free(&heap);
	}
}

/* A collection has ended its mark phase, and its numbers of the one before are still where they
 * were counted: MemProfile would publish them. */
static void test_not_flushed(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		begin(releases[i]);
		put_cycle(7, false);
		put_counts(FIRST, 0, 10, 3);
		put_counts(FIRST, 1 + 7 % 3, 4, 2);
		put_counts(FIRST, 1 + 8 % 3, 6, 1); /* of the last one */
		struct heap heap = read_it();

		expect_counts(&heap.all[0], 14, 5);
		assert_int_equal(heap.of, 6);
		assert_int_equal(heap.cycle, 7);
		heap_free(&heap);
	}
}

static void test_early(void **state)
{
	(void)state;
	begin(27);
	put_cycle(0, false);
	put_counts(FIRST, 1 + 2, 9, 0);
	put_counts(SECOND, 1 + 1, 4, 1);
	struct heap heap = read_it();

	assert_true(heap.early);
	expect_counts(&heap.all[0], 9, 0);
	expect_counts(&heap.all[1], 4, 1);
	heap_free(&heap);
}

/* It is added to what is published, and only then taken away from where it was counted. */
static void finish_flush(void)
{
	if (fakemem.reads == 40)
		put_counts(FIRST, 1 + 7 % 3, 0, 0);
}

static void test_flushing(void **state)
{
	(void)state;
	begin(27);
	put_counts(FIRST, 0, 14, 5);
	put_counts(FIRST, 1 + 7 % 3, 4, 2);
	fakemem.before_read = finish_flush;
	struct heap heap = read_it();

	expect_counts(&heap.all[0], 14, 5);
	assert_false(heap.unsteady);
	heap_free(&heap);
}

static void never_rest(void)
{
	static uint64_t count;

	put_counts(FIRST, 0, ++count, 0);
}

static void test_unsteady(void **state)
{
	(void)state;
	begin(27);
	fakemem.before_read = never_rest;
	struct heap heap = read_it();

	assert_true(heap.unsteady);
	heap_free(&heap);
}

static void test_when(void **state)
{
	(void)state;
	begin(27);
	put_counts(FIRST, 0, 1, 0);
	fakemem_put(LAST_GC + HEAP_PAUSE_END + 6 * 8, 123456);
	fakemem_put(LAST_GC + HEAP_NUMGC, 7);
	struct heap heap = read_it();

	assert_int_equal(heap.marked_ns, 123456);
	heap_free(&heap);
	fakemem_put(LAST_GC + HEAP_NUMGC, 8); /* another one has ended meanwhile */
	heap = read_it();
	assert_int_equal(heap.marked_ns, 0);
	heap_free(&heap);
}

static void test_scale(void **state)
{
	const struct heap_count sampled = {3, 3000}, huge = {UINT64_MAX, UINT64_MAX};

	(void)state;
	assert_int_equal(heap_scale(sampled, 1).objects, 3);
	assert_int_equal(heap_scale(sampled, 0).bytes, 3000);
	/* 3 / (1 - exp(-1000 / 524288)) */
	assert_int_equal(heap_scale(sampled, 524288).objects, 1574);
	assert_int_equal(heap_scale(sampled, 524288).bytes, 1574364);
	assert_int_equal(heap_scale((struct heap_count){0, 5}, 512).bytes, 0);
	assert_int_equal(heap_scale(huge, 512).bytes, INT64_MAX);
}

static void expect_refused(void)
{
	const struct heap_source from = {&fakemem_memory, &vars, 0, release};
	struct errmsg err = {0};
	struct heap heap;

	assert_int_equal(heap_read(&from, &heap, &err), -1);
	assert_string_equal(err.text, "its profile of allocations cannot be read: not as Go's "
				      "runtime leaves it");
}

/* A list without end, of other things, or of what is not mapped */
static void test_malformed(void **state)
{
	(void)state;
	begin(27);
	fakemem_put(SECOND + 8, FIRST);
	expect_refused();
	begin(27);
	fakemem_put(SECOND + 8, SECOND);
	expect_refused();
	begin(27);
	fakemem_put(SECOND + 16, MEM_PROFILE + 1);
	expect_refused();
	begin(27);
	fakemem_put(SECOND + 40, HEAP_DEPTH_MAX + 1);
	expect_refused();
	begin(27);
	fakemem_put(SECOND + 8, FAKEMEM_BASE + SIZE);
	expect_refused();
	begin(27);
	fakemem_put(BUCKETS, 0); /* none is a profile of nothing */
	struct heap heap = read_it();

	assert_int_equal(heap.count, 0);
	heap_free(&heap);
}

/* --- a program with very many stacks --- */

enum { MANY_STRIDE = (6 + HEAP_DEPTH_MAX + 4 * 2) * 8, MANY = HEAP_WORDS_MAX / HEAP_DEPTH_MAX + 2 };

static uint64_t many_word(uint64_t addr)
{
	uint64_t bucket = (addr - FIRST) / MANY_STRIDE, at = (addr - FIRST) % MANY_STRIDE;

	switch (at) {
	case 8:
		return bucket + 1 < MANY ? addr - 8 + MANY_STRIDE : 0;
	case 16:
		return MEM_PROFILE;
	case 32:
		return 16;
	case 40: /* the last one has a stack of one: there is no room for it either */
		return bucket + 1 < MANY ? HEAP_DEPTH_MAX : 1;
	default:
		return 0;
	}
}

/* By whole words, those of the list's variables as they were put */
static bool read_many(void *ctx, uint64_t addr, void *out, size_t len)
{
	(void)ctx;
	if (addr < FIRST)
		return fakemem_memory.read(NULL, addr, out, len);
	memset(out, 0, len);
	for (uint64_t at = addr - (addr - FIRST) % MANY_STRIDE; at < addr + len; at += MANY_STRIDE)
		for (uint64_t word = at; word < at + 48; word += 8) {
			uint64_t value = many_word(word);

			if (word >= addr && word + 8 <= addr + len)
				memcpy((uint8_t *)out + (word - addr), &value, 8);
		}
	return true;
}

/* What does not fit is counted, and nothing of it is kept. */
static void test_left_out(void **state)
{
	const struct memory many = {read_many, NULL};
	const struct heap_source from = {&many, &vars, 0, 27};
	struct errmsg err = {0};
	struct heap heap;

	(void)state;
	begin(27);
	assert_int_equal(heap_read(&from, &heap, &err), 0);
	assert_int_equal(heap.word_count, HEAP_WORDS_MAX);
	assert_int_equal(heap.count, MANY - 2);
	assert_int_equal(heap.left_out, 2);
	assert_int_equal(heap.all[MANY - 3].depth, HEAP_DEPTH_MAX);
	heap_free(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published), cmocka_unit_test(test_not_flushed),
		cmocka_unit_test(test_early),     cmocka_unit_test(test_flushing),
		cmocka_unit_test(test_unsteady),  cmocka_unit_test(test_when),
		cmocka_unit_test(test_scale),     cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
