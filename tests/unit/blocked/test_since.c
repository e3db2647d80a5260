// SPDX-License-Identifier: Apache-2.0
/* What has come in an interval, of sums that go on from the beginning. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocked/blocked_internal.h"

static struct blocked blocked;
static struct blocked_row rows[8];
static char text[256];

static int begin(void **state)
{
	(void)state;
	memset(&blocked, 0, sizeof(blocked));
	blocked.rows = rows;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(blocked.before);
	return 0;
}

static void add(uint64_t stack, uint64_t total_ns, uint64_t open_ns)
{
	rows[blocked.row_count++] = (struct blocked_row){
		.key.stack = stack, .sum.total_ns = total_ns, .open.ns = open_ns};
}

static void expect(const char *wanted)
{
	size_t at = 0;

	text[0] = '\0';
	blocked_since(&blocked);
	for (size_t i = 0; i < blocked.row_count; i++)
		at += sprintf(text + at, "%llu:%llu+%d ", rows[i].key.stack, rows[i].sum.total_ns,
			      (int)rows[i].open.ns);
	assert_string_equal(text, wanted);
	blocked.row_count = 0;
}

static void test_intervals(void **state)
{
	(void)state;
	add(1, 100, 0);
	add(2, 0, 30);
	add(1, 0, 50);
	expect("1:150+0 2:30+0 ");
	add(3, 7, 0);
	add(1, 160, 0); /* it has ended */
	add(2, 0, 130);
	expect("1:10+0 2:100+0 3:7+0 ");
	add(1, 160, 0); /* nothing new */
	add(2, 130, 0);
	add(2, 0, 5);
	add(3, 7, 0);
	expect("2:5+0 ");
	expect("");
}

/* A wait that ends while it is read is in neither for once. */
static void test_in_between(void **state)
{
	(void)state;
	add(1, 10, 100);
	add(2, 0, 40);
	expect("1:110+0 2:40+0 ");
	add(1, 10, 0); /* what went on is missing, */
	expect("");    /* and a row is */
	add(1, 115, 0);
	add(2, 45, 0);
	expect("1:5+0 2:5+0 ");
	assert_int_equal(blocked.before_count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_intervals, begin, end),
		cmocka_unit_test_setup_teardown(test_in_between, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
