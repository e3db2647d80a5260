// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "program/typedesc_dialect_internal.h"
#include "program/typedesc_gccgo.h"
#include "unit.h"

static void test_symbols(void **state)
{
	static const char *const yes[] = {"main.T..d", "int..d", "main.T..p",
					  "type..map_6string_7int"};
	static const char *const no[] = {"", "..d", "main.T..eq", "main.main", "main..types"};

	(void)state;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(typedesc_gccgo_is_symbol(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(typedesc_gccgo_is_symbol(no[i]));
}

static void test_names(void **state)
{
	static const char *const rows[][2] = {
		{"main.T", "main.T"},
		{"\tnet/http\thttp.Request", "http.Request"},
		{"map[string]*\texample.com/lib\tlib.Thing", "map[string]*lib.Thing"},
		{"", ""},
		{"\tunclosed", ""},
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = typedesc_gccgo.plain(rows[i][0], strlen(rows[i][0]), out);

		assert_int_equal(len, strlen(rows[i][1]));
		assert_memory_equal(out, rows[i][1], len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
