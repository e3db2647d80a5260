// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "gotrace/traceprint_names_internal.h"
#include "selection/selection.h"
#include "unit.h"

static void test_names(void **state)
{
	static const struct {
		const char *full, *shown;
	} cases[] = {
		{"main.f", "main.f"},
		{"go.etcd.io/etcd/etcdserver.(*EtcdServer).Put", "etcdserver.(*EtcdServer).Put"},
		{"crypto/rand.Read", "crypto/rand.Read"}, /* two are called rand.Read */
		{"net/http.Get", "http.Get"},
		{"math/rand.Read", "math/rand.Read"},
		{"net/http.Get", "http.Get"}, /* of another PROBE */
		{"rand.Intn", "rand.Intn"},
		{"math/rand.Intn", "math/rand.Intn"},
	};
	enum { COUNT = sizeof(cases) / sizeof(*cases) };
	struct selection_row rows[COUNT] = {0};
	struct selection sel = {.rows = rows, .row_count = COUNT};

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		rows[i].name = cases[i].full;
	const char **names = traceprint_names(&sel, false), **full = traceprint_names(&sel, true);

	for (size_t i = 0; i < COUNT; i++) {
		assert_string_equal(names[i], cases[i].shown);
		assert_string_equal(full[i], cases[i].full);
	}
	free(names);
	free(full);
	sel.row_count = 0;
	free(traceprint_names(&sel, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
