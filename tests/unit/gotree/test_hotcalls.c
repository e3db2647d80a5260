// SPDX-License-Identifier: Apache-2.0
/* Which functions are called too often for a tree. */
#include <stdio.h>
#include <stdlib.h>

#include "gotree/hotcalls.h"
#include "selection/selection.h"
#include "unit.h"

#define SECOND_NS UINT64_C(1000000000)

static struct selection_row rows[] = {
	{.name = "main.root"}, {.name = "main.a"}, {.name = "main.b\x1b"}, {.name = "main.c"}};
static struct selection_item items[] = {{.row = 0}, {.row = 1}, {.row = 2}, {.row = 3}};
static struct selection sel = {.rows = rows, .row_count = 4, .items = items, .item_count = 4};
static const uint64_t counts[] = {500, 100, 3000, 200}; /* in half a second */

/* What is left out with this budget: bit n for row n. */
static unsigned left_out(uint64_t budget, const char *said)
{
	struct hotcalls *hot = hotcalls_new(&sel, 1, counts, SECOND_NS / 2, budget);
	unsigned bits = 0;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < sel.item_count; i++)
		items[i].skipped = NULL;
	hotcalls_skip(hot, &sel, 1);
	hotcalls_say(out, hot, "gotree");
	fclose(out);
	assert_string_equal(text, said);
	free(text);
	hotcalls_free(hot);
	for (size_t i = 0; i < sel.item_count; i++)
		bits |= (items[i].skipped != NULL) << i;
	return bits;
}

#define HINT "\nhint: name the functions that you want, after ROOT: none of these is left out\n"

static void test_left_out(void **state)
{
	(void)state;
	assert_int_equal(left_out(7600, ""), 0);
	assert_int_equal(left_out(7599, "gotree: 1 function is called too often, and left out: "
					"main.b\\x1b (6000 calls a second)" HINT),
			 1 << 2);
	assert_int_equal(left_out(1200, "gotree: 2 functions are called too often, and left out: "
					"main.b\\x1b (6000 calls a second), "
					"main.c (400 calls a second)" HINT),
			 1 << 2 | 1 << 3);
}

/* ROOT is called too often by itself: it stays. */
static void test_root_stays(void **state)
{
	(void)state;
	assert_int_equal(left_out(0, "gotree: 3 functions are called too often, and left out: "
				     "main.b\\x1b (6000 calls a second), "
				     "main.c (400 calls a second), "
				     "main.a (200 calls a second)" HINT),
			 1 << 1 | 1 << 2 | 1 << 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_root_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
