// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/shortnum.h"
#include "unit.h"

static void test_units(void **state)
{
	static const struct {
		double n;
		const char *bytes, *ns;
	} rows[] = {
		{0, "0", "0ns"},
		{9, "9", "9.0ns"},
		{999, "999", "999ns"},
		{1000, "1000", "1.0us"},
		{1023, "1023", "1.0us"},
		{1024, "1.0K", "1.0us"},
		{9940, "9.7K", "9.9us"},
		{9951, "9.7K", "10us"},
		{10240, "10K", "10us"},
		{999400, "976K", "999us"},
		{999600, "976K", "1.0ms"},
		{1048000, "1023K", "1.0ms"},
		{1048570, "1.0M", "1.0ms"},
		{3e9, "2.8G", "3.0s"},
		{7200e9, "6.5T", "7200s"},
		{1e16, "9095T", "10000000s"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char bytes[SHORTNUM], ns[SHORTNUM];

		shortnum_bytes(bytes, rows[i].n);
		shortnum_ns(ns, rows[i].n);
		if (strcmp(bytes, rows[i].bytes) != 0 || strcmp(ns, rows[i].ns) != 0)
			fail_msg("%.0f: \"%s\" \"%s\"", rows[i].n, bytes, ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_units)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
