// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "golang/pattern.h"
#include "unit.h"

struct row {
	const char *pattern, *name;
	bool matches;
};

static void check_rows(const struct row *rows, size_t count, bool regex)
{
	for (size_t i = 0; i < count; i++) {
		struct errmsg err = {0};
		struct pattern *pat = pattern_new(rows[i].pattern, regex, &err);

		if (!pat)
			fail_msg("\"%s\": %s", rows[i].pattern, err.text);
		if (pattern_match(pat, rows[i].name) != rows[i].matches)
			fail_msg("\"%s\" %s \"%s\"", rows[i].pattern,
				 rows[i].matches ? "does not match" : "matches", rows[i].name);
		pattern_free(pat);
	}
}

static void test_names_and_stars(void **state)
{
	static const struct row rows[] = {
		{"main.main", "main.main", true},
		{"main.main", "main.main2", false},
		{"main.main", "main.mai", false},
		{"main.main", "xmain.main", false},
		{"main.main", "mainxmain", false}, /* a dot is a dot */
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "anything", true},
		{"main.*", "main.", true},
		{"main.*", "main.(*T).Foo", true},
		{"main.*", "runtime.main", false},
		{"*.main", "runtime.main", true},
		{"*.main", "runtime.main.func1", false},
		{"*a*b*c", "xaxbxc", true},
		{"*a*b*c", "xaxcxb", false},
		{"a*b", "ab", true},
		{"a*b", "a", false},
		{"a**b", "axxb", true},
		{"*ab", "aab", true},
		{"*aab", "aaab", true},
		{"net/http.*Server*.Serve", "net/http.(*Server).Serve", true},
		{"a+b?[c]", "a+b?[c]", true},
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]), false);
}

static void test_receivers(void **state)
{
	static const struct row rows[] = {
		{"main.(*T).Foo", "main.(*T).Foo", true},
		{"main.(*T).Foo", "main.(xT).Foo", false},
		{"main.(*T).Foo", "main.(*TT).Foo", false},
		{"main.(*T).*", "main.(*T).Bar", true},
		{"main.(*T).*", "main.T.Bar", false},
		{"main.(*T*).*", "main.(*Table).Bar", true},
		{"main.(**).Foo", "main.(*Any).Foo", true},
		{"main.(**).Foo", "main.(Any).Foo", false},
		{"main.T.*", "main.(*T).Bar", false},
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]), false);
}

static void test_type_arguments(void **state)
{
	static const struct row rows[] = {
		{"main.Map", "main.Map[...]", true},
		{"main.Map", "main.Map[go.shape.int]", true},
		{"main.Map", "main.Map[go.shape.struct { a [3]int },[]string]", true},
		{"main.Map", "main.Map[...].func1", false},
		{"main.Map.func1", "main.Map[...].func1", true},
		{"main.Map", "main.Mapper[...]", false},
		{"main.Map", "main.Map[...", false},
		{"main.(*List).Push", "main.(*List[...]).Push", true},
		{"main.(*List).*", "main.(*List[...]).Push", true},
		{"*.Push", "main.(*List[...]).Push", true},
		{"*Map", "main.Map[...]", true},
		{"main.Map[...]", "main.Map[...]", true},
		{"main.Map[...]", "main.Map[go.shape.int]", true},
		{"main.Map[go.shape.int]", "main.Map[go.shape.int]", true},
		{"main.Map[go.shape.int]", "main.Map[go.shape.string]", false},
		{"main.Map[*]", "main.Map[go.shape.int]", true},
		{"type:.eq.string", "type:.eq.[4]string", false}, /* an array's length */
		{"type:.eq.[4]string", "type:.eq.[4]string", true},
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]), false);
}

static void test_escaped_paths(void **state)
{
	static const struct row rows[] = {
		{"gopkg.in/yaml.v2.Unmarshal", "gopkg.in/yaml%2ev2.Unmarshal", true},
		{"gopkg.in/yaml%2ev2.Unmarshal", "gopkg.in/yaml%2ev2.Unmarshal", true},
		{"gopkg.in/yaml.*", "gopkg.in/yaml%2ev2.Unmarshal", true},
		{"*.v2.Unmarshal", "gopkg.in/yaml%2ev2.Unmarshal", true},
		{"gopkg.in/yaml-v2.Unmarshal", "gopkg.in/yaml%2ev2.Unmarshal", false},
		{"x/\xc3\xbc.F", "x/%c3%bc.F", true},
		{"a.%", "a.%", true},
		{"a.", "a%2", false},
		{"runtime.memmove", "runtime.memmove.abi0", true},
		{"runtime.memmove.abi0", "runtime.memmove.abi0", true},
		{"runtime.mem", "runtime.memmove.abi0", false},
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]), false);
}

static void test_regex(void **state)
{
	static const struct row rows[] = {
		{"main\\.m", "main.main", true},
		{"main\\.m$", "main.main", false},
		{"ain", "main.main", false}, /* anchored at the start */
		{"x|main", "main.main", true},
		{"x|ain", "main.main", false},
		{"^main\\.(main|run)$", "main.run", true},
		{"main\\.\\(\\*T\\)\\.F", "main.(*T).Foo", true},
		{"main.Map$", "main.Map[...]", true},
		{"main.\\(\\*List\\).Push$", "main.(*List[...]).Push", true},
		{"gopkg.in/yaml\\.v2\\.U", "gopkg.in/yaml%2ev2.Unmarshal", true},
		{"", "main.main", true},
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]), true);
}

static void test_bad_regex(void **state)
{
	static const char *const bad[] = {"main.(", "a)(b", "[", "*(", "a{2", "\\", "(a)\\1"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct errmsg err = {0};
		struct pattern *pat = pattern_new(bad[i], true, &err);

		if (pat)
			fail_msg("\"%s\" is taken", bad[i]);
		assert_non_null(strstr(err.text, bad[i]));
		assert_non_null(strstr(err.text, "bad regular expression"));
	}
}

/* A long name would take longer than anybody waits. */
static void test_back_reference(void **state)
{
	struct errmsg err = {0};

	(void)state;
	assert_null(pattern_new("(.*)(.*)\\2\\1x", true, &err));
	assert_string_equal(err.text, "bad regular expression \"(.*)(.*)\\2\\1x\": "
				      "back-references are not supported");
	assert_string_equal(err.hint, "a long name would take hours to match");
}

static void test_is_name(void **state)
{
	static const struct {
		const char *text;
		bool regex, is_name;
	} rows[] = {
		{"main.main", false, true},    {"main.(*T).Foo", false, true},
		{"main.*", false, false},      {"main.(*T).*", false, false},
		{"main.(**).F", false, false}, {"main.main", true, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pattern *pat = pattern_new(rows[i].text, rows[i].regex, NULL);

		assert_int_equal(pattern_is_name(pat), rows[i].is_name);
		assert_string_equal(pattern_text(pat), rows[i].text);
		pattern_free(pat);
	}
}

/* What stars mean, as plainly as it can be written. */
static bool matches_plainly(const char *pattern, const char *name)
{
	if (!*pattern)
		return !*name;
	if (*pattern != '*')
		return *pattern == *name && matches_plainly(pattern + 1, name + 1);
	for (;; name++) {
		if (matches_plainly(pattern + 1, name))
			return true;
		if (!*name)
			return false;
	}
}

static void fill(char *text, size_t len, const char *letters, unsigned *seed)
{
	for (size_t i = 0; i < len; i++)
		text[i] = letters[rand_r(seed) % strlen(letters)];
	text[len] = '\0';
}

static void test_against_plain_matching(void **state)
{
	unsigned seed = 1, matched = 0;

	(void)state;
	for (int i = 0; i < 50000; i++) {
		char text[8], name[10];

		fill(text, rand_r(&seed) % sizeof(text), "ab*", &seed);
		fill(name, rand_r(&seed) % sizeof(name), "ab", &seed);
		struct pattern *pat = pattern_new(text, false, NULL);
		bool expected = matches_plainly(text, name);

		if (pattern_match(pat, name) != expected)
			fail_msg("\"%s\", \"%s\": not %d", text, name, expected);
		matched += expected;
		pattern_free(pat);
	}
	assert_true(matched > 5000 && matched < 45000);
}

/* Would take ages if every star were tried with every other. */
static void test_many_stars_take_no_time(void **state)
{
	enum { LEN = 200000 };
	char *name = malloc(LEN + 1);
	struct pattern *pat = pattern_new("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", false, NULL);

	(void)state;
	memset(name, 'a', LEN);
	name[LEN] = '\0';
	assert_false(pattern_match(pat, name));
	for (size_t i = 1; i < LEN; i += 2)
		name[i] = '[';
	assert_false(pattern_match(pat, name));
	pattern_free(pat);
	free(name);
}

static void test_distance_orders_names(void **state)
{
	/* from the nearest to the farthest */
	static const char *const names[] = {"fmt.Println", "FMT.Println", "x/fmt.Println",
					    "fmt.Printl", "fmt.Prinl"};
	unsigned before = 0;

	(void)state;
	assert_int_equal(pattern_distance("fmt.Println", names[0]), 0);
	for (size_t i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
		unsigned distance = pattern_distance("fmt.Println", names[i]);

		assert_true(distance > before && distance < UINT_MAX);
		before = distance;
	}
	assert_int_equal(pattern_distance("fmt.Println", "runtime.gopark"), UINT_MAX);
}

static void test_distance_finds_what_was_meant(void **state)
{
	static const struct {
		const char *typed, *name;
		bool near;
	} rows[] = {
		{"Println", "fmt.Println", true},
		{"println", "fmt.Println", true},
		{"Printn", "fmt.Println", true},
		{"main.T.Foo", "main.(*T).Foo", true},
		{"(*T).Foo", "main.(*T).Foo", true},
		{"T.foo", "main.(*T).Foo", true},
		{"EtcdServer.Put", "go.etcd.io/etcd/server/v3/etcdserver.(*EtcdServer).Put", true},
		{"List.Push", "main.(*List[...]).Push", true},
		{"ntln", "fmt.Println", false}, /* no part of its own */
		{"a", "main.b", false},
		{"", "main.b", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((pattern_distance(rows[i].typed, rows[i].name) != UINT_MAX) != rows[i].near)
			fail_msg("\"%s\", \"%s\"", rows[i].typed, rows[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_stars),
		cmocka_unit_test(test_receivers),
		cmocka_unit_test(test_type_arguments),
		cmocka_unit_test(test_escaped_paths),
		cmocka_unit_test(test_regex),
		cmocka_unit_test(test_bad_regex),
		cmocka_unit_test(test_back_reference),
		cmocka_unit_test(test_is_name),
		cmocka_unit_test(test_against_plain_matching),
		cmocka_unit_test(test_many_stars_take_no_time),
		cmocka_unit_test(test_distance_orders_names),
		cmocka_unit_test(test_distance_finds_what_was_meant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
