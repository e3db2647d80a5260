// SPDX-License-Identifier: Apache-2.0
/* %{NAME:...}: what it prints, and what it names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "values/format.h"
#include "unit.h"

enum { COL = 10, FORMAT_MAX = 200 };

static const struct format_arg ARGS[] = {{.kind = FORMAT_INT, .number = 1},
					 {.kind = FORMAT_TEXT, .text = "GET"},
					 {.kind = FORMAT_TEXT, .text = "host"},
					 {.kind = FORMAT_TEXT, .text = "/path"},
					 {.kind = FORMAT_INT, .number = 5}};
static const struct value_source SOURCE;

static struct format *parse(const char *text, struct errmsg *err)
{
	unsigned cols[FORMAT_MAX];

	assert_true(strlen(text) < FORMAT_MAX);
	for (unsigned i = 0; i < FORMAT_MAX; i++)
		cols[i] = COL + i;
	return format_parse(text, strlen(text), cols, err);
}

/* All of it, or one group: caller frees. */
static char *printed(const struct format *format, const struct format_group *group)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (group)
		format_print_group(out, format, group, ARGS, 5, &SOURCE);
	else
		format_print(out, format, ARGS, 5, &SOURCE);
	fclose(out);
	return text;
}

static void expect_group(const struct format *format, size_t n, const char *name, size_t first,
			 const char *expected, bool is_value)
{
	struct format_group group;

	assert_true(format_group(format, n, &group));
	char *text = printed(format, &group);

	assert_int_equal(group.name_len, strlen(name));
	assert_memory_equal(group.name, name, group.name_len);
	assert_int_equal(group.first, first);
	assert_int_equal(group.is_value, is_value);
	assert_string_equal(text, expected);
	free(text);
}

static void test_groups(void **state)
{
	static const char text[] = "{%d} %{method:%-5s}|%{url:http://%s%s%%?{}} %{n:%3d}%{rest:}.}";
	struct errmsg err = {0};
	struct format *format = parse(text, &err);
	struct format_group none;

	(void)state;
	assert_non_null(format);
	assert_int_equal(format_verbs(format), 5);
	char *all = printed(format, NULL);

	assert_string_equal(all, "{1} GET  |http://host/path%?{}   5.}");
	free(all);
	expect_group(format, 0, "method", 1, "GET  ", true);
	expect_group(format, 1, "url", 2, "http://host/path%?{", false);
	expect_group(format, 2, "n", 4, "  5", true);
	expect_group(format, 3, "rest", 5, "", false);
	assert_false(format_group(format, 4, &none));
	format_free(format);
}

static void test_lists(void **state)
{
	struct errmsg err = {0};
	struct format *format = parse("%d %{args[]:%s, %s} %{_x1:%s is %d}", &err);
	struct format_group group;

	(void)state;
	assert_non_null(format);
	assert_true(format_group(format, 0, &group));
	assert_true(group.is_list);
	assert_int_equal(group.first, 1);
	assert_int_equal(group.verbs, 2);
	assert_true(format_group(format, 1, &group));
	assert_false(group.is_list);
	assert_int_equal(group.first, 3);
	assert_int_equal(group.verbs, 2);
	format_free(format);
}

static void test_bad_groups(void **state)
{
	static const struct {
		const char *format, *message;
	} rows[] = {
		{"%{", "col 10: expected NAME: or NAME[]: after %{"},
		{"a %{}", "col 12: expected NAME: or NAME[]: after %{"},
		{"%{a", "col 10: expected NAME: or NAME[]: after %{"},
		{"%{a[]", "col 10: expected NAME: or NAME[]: after %{"},
		{"%{a[:%d}", "col 10: expected NAME: or NAME[]: after %{"},
		{"%{1:%d}", "col 10: expected NAME: or NAME[]: after %{"},
		{"%{a b:%d}", "col 10: expected NAME: or NAME[]: after %{"},
		{"%{:%d}", "col 10: expected NAME: or NAME[]: after %{"},
		{"%{a:%d", "col 16: expected a closing } before the end"},
		{"%{a:%{b:%d}}", "col 14: a name within a name"},
		{"%{a:%d}%{a:%d}", "col 17: there is a value named a already"},
		{"%{goid:%d}", "col 10: there is a value named goid already"},
		{"%{values:%d}", "col 10: there is a value named values already"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct errmsg err = {0};

		assert_null(parse(rows[i].format, &err));
		assert_string_equal(err.text, rows[i].message);
		assert_string_equal(err.hint,
				    strstr(err.text, "expected") ? "%{NAME:%d} names a value" : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_bad_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
