// SPDX-License-Identifier: Apache-2.0
/* What the kernel side and gotrace tell each other in parts of words. */
#include "bpf-src/shared/later.h"
#include "bpf-src/shared/trace.h"
#include "bpf-src/shared/type_key.h"
#include "unit.h"

static const uint64_t places[] = {0, 1, 8, 0x1555, 0x2aaa, LATER_PLACES - 1};
enum { PLACES = sizeof(places) / sizeof(*places) };

static void check_later(uint64_t own, uint64_t to, uint64_t max, uint64_t size)
{
	uint64_t elements = later_elements(own, to, max, size);
	uint64_t dynamic = later_dynamic(own, to, max, size);
	uint64_t each = later_of_each(size & LATER_COUNT_MAX, dynamic);

	assert_true(elements && dynamic); /* 0 is none */
	assert_false(later_is_dynamic(elements));
	assert_true(later_is_dynamic(dynamic));
	assert_int_equal(later_own(elements), own);
	assert_int_equal(later_own(dynamic), own);
	assert_int_equal(later_to(elements), to);
	assert_int_equal(later_to(dynamic), to);
	assert_int_equal(later_max(elements), max);
	assert_int_equal(later_max(dynamic), max);
	assert_int_equal(later_size(elements), size);
	assert_int_equal(later_size(dynamic), size);
	assert_int_equal(later_count(elements), 0);
	assert_int_equal(later_count(dynamic), 0);
	assert_int_equal(later_count(each), size & LATER_COUNT_MAX);
	assert_true(later_is_dynamic(each));
	assert_int_equal(later_own(each), own);
	assert_int_equal(later_to(each), to);
	assert_int_equal(later_max(each), max);
	assert_int_equal(later_size(each), size);
	assert_int_equal(later_next(elements), 0);
	assert_int_equal(later_room(max), 8 + max + -max % 8);
	for (uint64_t n = 1; n < (size & LATER_COUNT_MAX); n++) {
		each = later_next(each);
		assert_int_equal(later_done(each), n);
		assert_int_equal(later_own(each), own);
		assert_int_equal(later_size(each), size);
		assert_true(later_is_dynamic(each));
	}
	assert_int_equal(later_next(each), 0);
}

static void test_later(void **state)
{
	static const uint64_t sizes[] = {0, 1, 0x555, 0xaaa, LATER_SIZE_MAX};

	(void)state;
	for (size_t i = 0; i < PLACES * PLACES * PLACES; i++)
		for (size_t size = 0; size < sizeof(sizes) / sizeof(*sizes); size++)
			check_later(places[i % PLACES], places[i / PLACES % PLACES],
				    places[i / PLACES / PLACES], sizes[size]);
}

static void test_plan(void **state)
{
	static const unsigned rows[][2] = {
		{0, 0}, {1, 0}, {0, 1}, {TRACE_PLANS - 1, 0x1234}, {0xabcd, TRACE_PLANS - 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unsigned plan = trace_plan(rows[i][0], rows[i][1]);

		assert_int_equal(trace_plan_number(plan), rows[i][0]);
		assert_int_equal(trace_plan_program(plan), rows[i][1]);
	}
}

static void test_type_key(void **state)
{
	const uint64_t address = UINT64_C(0x7fffffffffff), most = UINT64_MAX >> 16;

	(void)state;
	/* a program's own has the address below its number */
	assert_int_equal(type_key_of(address, 0), address);
	assert_int_equal(type_key_program(type_key_of(address, 0)), 0);
	assert_int_equal(type_key_program(type_key_of(address, 5)), 5);
	assert_int_equal(type_key_of(address, 5) - type_key_of(0, 5), address);
	/* a key of what is in several files fits beside theirs */
	assert_int_equal(type_key_end(UINT64_MAX), most);
	assert_int_equal(type_key_program(type_key_of(most, TYPE_KEY_EVERY_PROGRAM)),
			 TYPE_KEY_EVERY_PROGRAM);
}

static void test_element(void **state)
{
	(void)state;
	/* 0 is none; numbers are in order within a list, and never those of a list on another
	 * level */
	for (unsigned levels = 2; levels <= TRACE_DYN_LEVELS; levels++) {
		assert_true(trace_element(levels, 1) != 0);
		assert_int_equal(trace_element(levels, 0) + 1, trace_element(levels, 1));
		assert_true(trace_element(levels - 1, 0xffff) < trace_element(levels, 1));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_type_key),
		cmocka_unit_test(test_element),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
