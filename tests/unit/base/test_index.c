// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/index.h"
#include "unit.h"

enum { MANY = 100000 };

static void test_empty(void **state)
{
	struct index index = {0};

	(void)state;
	assert_true(index_first(&index, 0) == INDEX_NONE);
	index_free(&index);
	assert_int_equal(index_add(&index, 5), 0);
	assert_int_equal(index_first(&index, 5), 0);
	assert_true(index_next(&index, 0) == INDEX_NONE);
	assert_true(index_first(&index, 6) == INDEX_NONE);
	assert_true(index_first(&index, 5 + 64) == INDEX_NONE); /* the same head */
	index_free(&index);
	assert_true(index_first(&index, 5) == INDEX_NONE);
}

static size_t find(const struct index *index, uint64_t number)
{
	size_t n = index_first(index, index_hash(0, number * 16));

	while (n != INDEX_NONE && n != number)
		n = index_next(index, n);
	return n;
}

static void test_many(void **state)
{
	struct index index = {0};

	(void)state;
	for (uint64_t i = 0; i < MANY; i++) {
		assert_true(find(&index, i) == INDEX_NONE);
		assert_int_equal(index_add(&index, index_hash(0, i * 16)), i);
	}
	for (uint64_t i = 0; i < MANY; i++)
		assert_int_equal(find(&index, i), i);
	assert_true(find(&index, MANY) == INDEX_NONE);
	index_free(&index);
}

/* All that have a hash are found, and nothing else. */
static void test_same_hash(void **state)
{
	struct index index = {0};
	size_t odd = 0;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(index_add(&index, i % 2 ? 1 : 1 + 4096), i);
	for (size_t n = index_first(&index, 1); n != INDEX_NONE; n = index_next(&index, n)) {
		assert_int_equal(n % 2, 1);
		odd++;
	}
	assert_int_equal(odd, 500);
	index_free(&index);
}

static void test_text(void **state)
{
	static const char *const texts[] = {
		"",
		"a",
		"b",
		"aa",
		"main.f",
		"main.g",
		"main.main",
		"main.mai",
		"main.maina",
		"main.mainb",
		"12345678",
		"12345679",
		"123456781",
		"123456782",
		"1234567",
		"main.(*T)",
		"1234567812345678",
	};
	const size_t count = sizeof(texts) / sizeof(texts[0]);

	(void)state;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count; j++)
			assert_int_equal(index_hash_text(0, texts[i]) ==
						 index_hash_text(0, texts[j]),
					 i == j);
	assert_true(index_hash_text(1, "a") != index_hash_text(2, "a"));
	assert_true(index_hash_text(index_hash_text(0, "ab"), "c") !=
		    index_hash_text(index_hash_text(0, "a"), "bc"));
}

/* Numbers that differ in a few bits only are spread, wherever these are: of 4096 numbers, 64 would
 * stand at each of 64 heads. */
static void test_spread(void **state)
{
	/* the last: the inverse of the factor that many such tables multiply by */
	const uint64_t factors[] = {1, 16, 1ull << 20, 1ull << 32, 1ull << 52, 0xf1de83e19937733d};

	(void)state;
	for (size_t f = 0; f < sizeof(factors) / sizeof(factors[0]); f++) {
		unsigned at[64] = {0};

		for (uint64_t i = 0; i < 4096; i++)
			at[index_hash(0, i * factors[f]) % 64]++;
		for (size_t i = 0; i < 64; i++)
			assert_in_range(at[i], 0, 512);
	}
}

/* Two words whose differences cancel each other out where hashes are products' lower halves,
 * whatever the factor is: many such pairs would make many texts of one hash. */
static void test_no_cancelling(void **state)
{
	const uint64_t top = 1ull << 63;
	unsigned same = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		same += index_hash(index_hash(i, 1), 2) ==
				index_hash(index_hash(i, 1 ^ top), 2 ^ (top | top >> 32)) ||
			index_hash(index_hash(i, 1), 2) ==
				index_hash(index_hash(i, 1 ^ top), 2 ^ top);
	assert_int_equal(same, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),     cmocka_unit_test(test_many),
		cmocka_unit_test(test_same_hash), cmocka_unit_test(test_text),
		cmocka_unit_test(test_spread),    cmocka_unit_test(test_no_cancelling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
