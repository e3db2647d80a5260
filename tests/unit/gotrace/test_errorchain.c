// SPDX-License-Identifier: Apache-2.0
#include "gotrace/errorchain_internal.h"
#include "unit.h"

enum { NONE = -1 };

/* A call from `start` to `end` that returned an error; returns the origin that was found. */
static int call(struct errorchain *chain, uint64_t goid, uint64_t start, uint64_t end,
		const char *text, size_t own)
{
	struct errorchain_call made = {
		.tgid = 7, .goid = goid, .start_ns = start, .end_ns = end, .text = text};
	bool found = errorchain_find(chain, &made, &made.origin);
	int ret = found ? (int)made.origin : NONE;

	if (!found)
		made.origin = own;
	errorchain_add(chain, &made);
	return ret;
}

static void test_passed_on(void **state)
{
	struct errorchain *chain = errorchain_new();

	(void)state;
	assert_int_equal(call(chain, 1, 30, 40, "no key", 5), NONE);
	assert_int_equal(call(chain, 1, 20, 50, "get: no key", 6), 5);
	/* what passes on what was passed on has the same origin */
	assert_int_equal(call(chain, 1, 10, 60, "serve: get: no key", 6), 5);
	/* a call beside it, another goroutine, another text */
	assert_int_equal(call(chain, 1, 70, 80, "no key", 6), NONE);
	assert_int_equal(call(chain, 2, 65, 90, "no key", 7), NONE);
	assert_int_equal(call(chain, 1, 65, 90, "no lock", 8), NONE);
	/* the call that returned something else has hidden what it called */
	assert_int_equal(call(chain, 1, 64, 95, "no key", 9), NONE);
	assert_int_equal(call(chain, 1, 1, 100, "no key", 10), 9);
	errorchain_free(chain);
	errorchain_free(NULL);
}

/* The last that has the text, of calls made one after the other */
static void test_newest(void **state)
{
	struct errorchain *chain = errorchain_new();

	(void)state;
	assert_int_equal(call(chain, 1, 10, 20, "try", 1), NONE);
	assert_int_equal(call(chain, 1, 20, 30, "try", 2), NONE);
	assert_int_equal(call(chain, 1, 30, 40, "other", 3), NONE);
	assert_int_equal(call(chain, 1, 5, 50, "try", 4), 2);
	/* nobody passes on an error without a text */
	assert_int_equal(call(chain, 3, 10, 20, "", 1), NONE);
	assert_int_equal(call(chain, 3, 5, 30, "", 2), NONE);
	errorchain_free(chain);
}

/* Strings of which -Z has cut the end */
static void test_cut(void **state)
{
	struct errorchain *chain = errorchain_new();

	(void)state;
	assert_int_equal(call(chain, 1, 30, 40, "connection refu...", 1), NONE);
	assert_int_equal(call(chain, 1, 20, 50, "dial: connection refused", 2), 1);
	assert_int_equal(call(chain, 2, 30, 40, "connection refused", 3), NONE);
	assert_int_equal(call(chain, 2, 20, 50, "dial: connecti...", 4), 3);
	assert_int_equal(call(chain, 4, 30, 40, "connection refused", 5), NONE);
	assert_int_equal(call(chain, 4, 20, 50, "dial: connect...", 6), NONE); /* too little */
	errorchain_free(chain);
}

/* Of many, the last are remembered. */
static void test_many(void **state)
{
	struct errorchain *chain = errorchain_new();

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(call(chain, 1, 10 + i, 11 + i, i ? "again" : "first", i), NONE);
	assert_int_equal(call(chain, 1, 5, 500, "first", 100), NONE);
	for (unsigned i = 0; i < 5000; i++)
		assert_int_equal(call(chain, i + 2, 10, 20, "x", i), NONE);
	assert_int_equal(call(chain, 5001, 5, 500, "x", 100), 4999);
	errorchain_free(chain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passed_on),
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
