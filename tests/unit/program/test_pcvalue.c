// SPDX-License-Identifier: Apache-2.0
#include "program/pcvalue_internal.h"
#include "program/pcvalue_index_internal.h"
#include "unit.h"

struct run {
	uint64_t from, to;
	int32_t value;
};

static void check(const uint8_t *bytes, size_t len, unsigned quantum, const struct run *runs,
		  size_t count, bool malformed)
{
	struct pcvalue pcv;

	pcvalue_begin(&pcv, bytes, len, 0x1000, quantum);
	for (size_t i = 0; i < count; i++) {
		assert_true(pcvalue_next(&pcv));
		assert_int_equal(pcv.from, runs[i].from);
		assert_int_equal(pcv.to, runs[i].to);
		assert_int_equal(pcv.value, runs[i].value);
	}
	assert_false(pcvalue_next(&pcv));
	assert_int_equal(pcv.malformed, malformed);
}

static void test_runs(void **state)
{
	/* value -1 + 1, 4 bytes; + 24, 40 bytes; - 24, 300 bytes */
	const uint8_t bytes[] = {2, 4, 48, 40, 47, 0xac, 2, 0};
	const struct run amd64[] = {{0x1000, 0x1004, 0}, {0x1004, 0x102c, 24}, {0x102c, 0x1158, 0}};
	const struct run arm64[] = {{0x1000, 0x1010, 0}, {0x1010, 0x10b0, 24}, {0x10b0, 0x1560, 0}};

	(void)state;
	check(bytes, sizeof(bytes), 1, amd64, 3, false);
	check(bytes, sizeof(bytes), 4, arm64, 3, false);
}

static void test_first_value_may_be_none(void **state)
{
	const uint8_t bytes[] = {0, 4, 2, 4, 0, 9};
	const struct run runs[] = {{0x1000, 0x1004, -1}, {0x1004, 0x1008, 0}};

	(void)state;
	check(bytes, sizeof(bytes), 1, runs, 2, false);
}

static void test_malformed(void **state)
{
	const uint8_t endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1};
	const uint8_t no_span[] = {2, 0, 2, 4, 0};
	const uint8_t unfinished[] = {2, 4, 2};
	const struct run first = {0x1000, 0x1004, 0};

	(void)state;
	check(endless, sizeof(endless), 1, NULL, 0, true);
	check(no_span, sizeof(no_span), 1, NULL, 0, true);
	check(unfinished, sizeof(unfinished), 1, &first, 1, true);
	check(unfinished, 2, 1, &first, 1, true);
	check(unfinished, 0, 1, NULL, 0, true);
}

static void test_overflow(void **state)
{
	const uint8_t bytes[] = {0xfe, 0xff, 0xff, 0xff, 0xf, 1, 0xfe, 0xff, 0xff, 0xff, 0xf, 1, 0};
	struct pcvalue pcv;

	(void)state;
	pcvalue_begin(&pcv, bytes, sizeof(bytes), 0x1000, 1);
	assert_true(pcvalue_next(&pcv));
	assert_int_equal(pcv.value, INT32_MAX - 1);
	assert_true(pcvalue_next(&pcv)); /* wraps, and does no harm */
	pcvalue_begin(&pcv, bytes, sizeof(bytes), UINT64_MAX, 4);
	assert_false(pcvalue_next(&pcv));
	assert_true(pcv.malformed);
}

enum { TABLES = 100, RUNS = 90, TABLE_LEN = 2 * RUNS + 1, PADDED_LEN = TABLE_LEN + 64 };

/* irregular, so that some meet in a table by hash */
static unsigned table_off(unsigned t)
{
	return t * PADDED_LEN + t * t * 37 % 64;
}

/* Tables that are too long to be walked each time: at both ends of each run, in any order */
static void test_index(void **state)
{
	static uint8_t data[TABLES * PADDED_LEN];
	int32_t value;

	(void)state;
	for (unsigned t = 0; t < TABLES; t++)
		for (unsigned i = 0; i < RUNS; i++) {
			/* from -1 on: t at first, then one more each time, for 3 bytes */
			data[table_off(t) + 2 * i] = 2 * (i ? 1 : t % 60 + 1);
			data[table_off(t) + 2 * i + 1] = 3;
		}
	struct pcvalue_index *index = pcvalue_index_new(data, sizeof(data), 1);

	for (unsigned n = 0; n < TABLES * RUNS; n++) {
		unsigned t = n * 7 % TABLES, i = n * 11 % RUNS;

		for (unsigned pc = 3 * i; pc < 3 * i + 3; pc++) {
			assert_true(pcvalue_index_at(index, table_off(t), pc, &value));
			assert_int_equal(value, t % 60 + i);
		}
		assert_false(pcvalue_index_at(index, table_off(t), 3 * RUNS, &value));
	}
	assert_false(pcvalue_index_at(index, sizeof(data), 0, &value));
	pcvalue_index_free(index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_first_value_may_be_none),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
