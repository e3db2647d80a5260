// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "golang/pattern.h"
#include "gostacks/goprocesses.h"
#include "objects/objects_print_internal.h"
#include "unit.h"

static char its_name[] = "ser\nver";
static const struct goprocesses_one one = {.pid = 181, .name = its_name};

static const struct objects_row rows[] = {
	{OBJECTS_UNKNOWN, NULL, 64, true, 10, 640},
	{OBJECTS_STRING, NULL, UINT64_MAX, false, 3, 300},
	{OBJECTS_TYPE, "main.b", UINT64_MAX, false, 2, 300},
	{OBJECTS_TYPE, "main.a\"\x1b", UINT64_MAX, false, 4, 300},
	{OBJECTS_TINY, NULL, UINT64_MAX, false, 1, 16},
	{OBJECTS_SEVERAL, NULL, UINT64_MAX, false, 2, 64},
	{OBJECTS_UNKNOWN, NULL, 64, false, 10, 640},
	{OBJECTS_UNKNOWN, NULL, 0, true, 1, 40960},
	{OBJECTS_UNKNOWN, NULL, 32, true, 20, 640},
	{OBJECTS_UNKNOWN, NULL, 0, false, 1, 140000000000},
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static void expect_print(const struct objects_look *look, size_t from, size_t count, size_t shown,
			 const char *want)
{
	struct objects_row mine[ROWS];
	struct objects_table table = {.rows = mine, .count = count, .release = 27};
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	memcpy(mine, rows + from, count * sizeof(*rows));
	for (size_t i = 0; i < count; i++) {
		table.objects += mine[i].objects;
		table.bytes += mine[i].bytes;
	}
	assert_int_equal(objects_print(out, look, &one, &table), shown);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

/* The most bytes first; of as many, types first, by their name. */
static void test_text(void **state)
{
	const struct objects_look look = {0};

	(void)state;
	expect_print(
		&look, 0, ROWS, ROWS,
		"181 ser\\nver (go1.27): 140000043860 bytes in 54 objects\n"
		"known are 0.0% of the bytes, 18.5% of the objects\n"
		"       BYTES     OBJECTS  SHARE TYPE\n"
		"140000000000           1 100.0% ? more than 32 KiB, without pointers\n"
		"       40960           1   0.0% ? more than 32 KiB, with pointers\n"
		"         640          20   0.0% ? 32 bytes, with pointers\n"
		"         640          10   0.0% ? 64 bytes, without pointers\n"
		"         640          10   0.0% ? 64 bytes, with pointers\n"
		"         300           4   0.0% main.a\"\\x1b\n"
		"         300           2   0.0% main.b\n"
		"         300           3   0.0% bytes of strings\n"
		"          64           2   0.0% ? pointers of several types lead to it\n"
		"          16           1   0.0% blocks of 16 bytes, shared by small objects\n");
}

static void test_few(void **state)
{
	const struct objects_look second = {.has_printed = true};

	(void)state;
	expect_print(
		&second, 1, 5, 5,
		"\n181 ser\\nver (go1.27): 980 bytes in 12 objects\n"
		"known are 93.5% of the bytes, 83.3% of the objects\n"
		"       BYTES     OBJECTS  SHARE TYPE\n"
		"         300           4  30.6% main.a\"\\x1b\n"
		"         300           2  30.6% main.b\n"
		"         300           3  30.6% bytes of strings\n"
		"          64           2   6.5% ? pointers of several types lead to it\n"
		"          16           1   1.6% blocks of 16 bytes, shared by small objects\n");
	expect_print(&second, 0, 0, 0,
		     "\n181 ser\\nver (go1.27): 0 bytes in 0 objects\n"
		     "known are 0.0% of the bytes, 0.0% of the objects\n"
		     "       BYTES     OBJECTS  SHARE TYPE\n");
}

#define ROW "{\"type\":\"objects\",\"pid\":181,"

static void test_json(void **state)
{
	const struct objects_look look = {.json = true, .has_printed = true};

	(void)state;
	expect_print(&look, 1, 7, 7,
		     ROW
		     "\"what\":\"unknown\",\"go_type\":null,\"size\":null,"
		     "\"pointers\":true,\"objects\":1,\"bytes\":40960}\n" ROW
		     "\"what\":\"unknown\",\"go_type\":null,\"size\":64,"
		     "\"pointers\":false,\"objects\":10,\"bytes\":640}\n" ROW
		     "\"what\":\"type\",\"go_type\":\"main.a\\\"\\u001b\",\"objects\":4,"
		     "\"bytes\":300}\n" ROW
		     "\"what\":\"type\",\"go_type\":\"main.b\",\"objects\":2,\"bytes\":300}\n" ROW
		     "\"what\":\"strings\",\"go_type\":null,\"objects\":3,\"bytes\":300}\n" ROW
		     "\"what\":\"several\",\"go_type\":null,\"objects\":2,\"bytes\":64}\n" ROW
		     "\"what\":\"tiny\",\"go_type\":null,\"objects\":1,\"bytes\":16}\n");
}

/* Patterns pick rows; the shares are those of all. */
static void test_picked(void **state)
{
	struct pattern *patterns[] = {pattern_new("other", false, NULL),
				      pattern_new("*.b", false, NULL)};
	struct objects_look look = {.patterns = patterns, .pattern_count = 2};

	(void)state;
	expect_print(&look, 1, 5, 1,
		     "181 ser\\nver (go1.27): 980 bytes in 12 objects\n"
		     "known are 93.5% of the bytes, 83.3% of the objects\n"
		     "       BYTES     OBJECTS  SHARE TYPE\n"
		     "         300           2  30.6% main.b\n");
	look.pattern_count = 1;
	look.json = true;
	expect_print(&look, 1, 5, 0, "");
	pattern_free(patterns[0]);
	pattern_free(patterns[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_picked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
