// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "golang/funcname.h"
#include "unit.h"

static const struct row {
	const char *name, *package, *receiver; /* "": none */
	bool pointer, closure, shapes;
} rows[] = {
	{"main.main", "main", "", false, false, false},
	{"net/http.(*Server).Serve", "net/http", "Server", true, false, false},
	{"main.T.M", "main", "T", false, false, false},
	{"gopkg.in/yaml%2ev2.(*Node).Line", "gopkg.in/yaml%2ev2", "Node", true, false, false},
	{"main.main.func1", "main", "", false, true, false},
	{"main.main.func1.2", "main", "", false, true, false},
	{"main.(*T).M.func1", "main", "", false, true, false},
	{"main.T.M-fm", "main", "", false, true, false},
	{"main.glob..func3", "main", "", false, true, false},
	{"main.init.0", "main", "", false, true, false},
	{"main.f.gowrap1", "main", "", false, true, false},
	{"main.f.deferwrap2", "main", "", false, true, false},
	{"main.f-range1", "main", "", false, true, false},
	{"main.funcs.Do", "main", "funcs", false, false, false},
	{"main.Map[go.shape.int,go.shape.string]", "main", "", false, false, true},
	{"main.Map[go.shape.int,go.shape.string].func1", "main", "", false, true, false},
	{"main.(*Stack[go.shape.int_0]).Push", "main", "Stack[go.shape.int_0]", true, false, true},
	{"main.Stack[go.shape.int].Push", "main", "Stack[go.shape.int]", false, false, true},
	{"main.(*Stack[int]).Push", "main", "Stack[int]", true, false, false},
	{"main.Box[a/b.T].Get", "main", "Box[a/b.T]", false, false, false},
	{"main.F[go.shape.struct { a/b.x int }]", "main", "", false, false, true},
	{"type:.eq.main.T[go.shape.int]", "type:", "", false, true, false},
	{"type:.eq.a/b.T[go.shape.int]", "type:.eq.a/b", "", false, true, false},
	{"memeqbody", "", "", false, false, false},
	{"", "", "", false, false, false},
	{"main.(*", "main", "", false, false, false},
	{"a]/b)).c.d", "a]/b))", "c", false, false, false},
};

static void test_rows(void **state)
{
	struct funcname got;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];
		size_t receiver = strlen(row->receiver);

		funcname_parse(row->name, &got);
		if (got.package_len != strlen(row->package) || got.closure != row->closure ||
		    got.shapes != row->shapes || got.pointer != row->pointer)
			fail_msg("%s: %zu, %d, %d, %d", row->name, got.package_len, got.closure,
				 got.shapes, got.pointer);
		if (!receiver && got.receiver)
			fail_msg("%s: has a receiver, %s", row->name, got.receiver);
		if (receiver && (!got.receiver || got.receiver_len != receiver ||
				 strncmp(got.receiver, row->receiver, receiver) != 0))
			fail_msg("%s: its receiver is not %s", row->name, row->receiver);
	}
}

static void test_short(void **state)
{
	static const char *const names[][2] = {
		{"main.run", "main.run"},
		{"main.Map[go.shape.int]", "main.Map[...]"},
		{"main.Map[...]", "main.Map[...]"},
		{"main.Map[go.shape.[]int,go.shape.string].func1", "main.Map[...].func1"},
		{"main.(*T[go.shape.[4]uint8]).M", "main.(*T[...]).M"},
		{"main.(*T[go.shape.[]int]).M[go.shape.string]", "main.(*T[...]).M[...]"},
		{"main.(*T[int]).M[main.P[int]].func1", "main.(*T[...]).M[...].func1"},
		{"main.]broken[", "main.]broken["},
		{"main.[", "main.["},
		{"main.a[b]c]", "main.a[b]c]"},
		{"[lost]", "[lost]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *got = funcname_short(names[i][0]);

		assert_string_equal(got, names[i][1]);
		free(got);
	}
}

/* as the linker of Go 1.19 writes the path gopkg.in/yaml.v2 */
static void test_escaped_byte(void **state)
{
	static const char name[] = "yaml%2ev2%2Ea%c3%";

	(void)state;
	assert_int_equal(funcname_escaped_byte(name, 4, sizeof(name) - 1), '.');
	assert_int_equal(funcname_escaped_byte(name, 4, 6), -1); /* cut */
	assert_int_equal(funcname_escaped_byte(name, 0, sizeof(name) - 1), -1);
	assert_int_equal(funcname_escaped_byte(name, 9, sizeof(name) - 1), -1); /* a capital */
	assert_int_equal(funcname_escaped_byte(name, 13, sizeof(name) - 1), 0xc3);
	assert_int_equal(funcname_escaped_byte(name, 16, sizeof(name) - 1), -1);
	for (int c = 0; c < 256; c++) {
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;
		const char high[] = {'%', (char)c, '1'}, low[] = {'%', '7', (char)c};

		assert_int_equal(funcname_escaped_byte(high, 0, 3),
				 digit < 0 ? -1 : digit * 16 + 1);
		assert_int_equal(funcname_escaped_byte(low, 0, 3), digit < 0 ? -1 : 0x70 + digit);
	}
}

static void test_without_path(void **state)
{
	static const char *const names[][2] = {
		{"main.main", "main.main"},
		{"net/http.(*Server).Serve", "http.(*Server).Serve"},
		{"a.b/c/d.T.M", "d.T.M"},
		{"a.b/raft/v3.Campaign", "raft/v3.Campaign"},
		{"v3/c.F", "c.F"},
		{"a.b/vet.F", "vet.F"},
		{"main.Map[a/b.T]", "main.Map[a/b.T]"},
		{"x/y.(*Box[a/b.T]).Get", "y.(*Box[a/b.T]).Get"},
		{"", ""},
		{"a/", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_string_equal(funcname_without_path(names[i][0]), names[i][1]);
}

static void test_begins_system(void **state)
{
	(void)state;
	assert_true(funcname_begins_system("runtime.gcBgMarkWorker"));
	assert_false(funcname_begins_system("runtime.main"));
	assert_false(funcname_begins_system("runtime.corostart"));
	assert_false(funcname_begins_system("runtime/pprof.profileWriter"));
	assert_false(funcname_begins_system("main.worker"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows), cmocka_unit_test(test_short),
		cmocka_unit_test(test_escaped_byte), cmocka_unit_test(test_without_path),
		cmocka_unit_test(test_begins_system)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
