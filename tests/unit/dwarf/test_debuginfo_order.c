// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "dwarffile_open.h"
#include "golang/gofunc.h"
#include "unit.h"

/* DWARF of Go 1.15 lists parameters by place: (n, m, e), of which e has no size. */
static int open_empty(struct opened *o, int second, int empty, struct gofunc *fn)
{
	dwarffile_make(&o->d, 15);
	dwarffile_begin(&o->d, "runtime", "runtime");
	uint32_t integer = dwarffile_base(&o->d, "int", 8, DWARFFILE_INT);
	uint32_t nothing = dwarffile_struct(&o->d, "main.Empty", 0);

	dwarffile_close(&o->d);
	dwarffile_func(&o->d, "main.b", o->d.g.starts[1]);
	dwarffile_param_at(&o->d, "n", integer, 0);
	dwarffile_param_at(&o->d, "m", integer, second);
	if (empty >= 0)
		dwarffile_param_at(&o->d, "e", nothing, empty);
	else
		dwarffile_param(&o->d, "e", nothing, false);
	dwarffile_close(&o->d);
	dwarffile_end(&o->d);
	open_it(o);
	return debuginfo_func(o->dbg, o->d.g.starts[1], "main.b", fn);
}

static void check_order(const struct gofunc *fn, const char *order, size_t guesses)
{
	assert_int_equal(fn->param_count, strlen(order));
	for (size_t i = 0; i < fn->param_count; i++) {
		assert_int_equal(*fn->params[i].name, order[i]);
		assert_int_equal(fn->params[i].is_guess, i >= fn->param_count - guesses);
	}
}

static void test_order_of_empty(void **state)
{
	struct opened o;
	struct gofunc fn;

	(void)state;
	assert_int_equal(open_empty(&o, 8, 8, &fn), 0);
	check_order(&fn, "nem", 0);
	close_it(&o);
	assert_int_equal(open_empty(&o, 8, 16, &fn), 0);
	check_order(&fn, "nme", 0);
	close_it(&o);
	assert_int_equal(open_empty(&o, 8, -1, &fn), 0); /* before m or after it */
	check_order(&fn, "nme", 2);
	close_it(&o);
	assert_int_equal(open_empty(&o, 8, 0, &fn), -1); /* then it would be listed second */
	close_it(&o);
	assert_int_equal(open_empty(&o, 8, 12, &fn), -1);
	close_it(&o);
	assert_int_equal(open_empty(&o, 4, -1, &fn), -1);
	close_it(&o);
}

/* A receiver without size is listed behind the parameter that has its place: it is first all the
 * same. */
static void test_receiver_of_empty(void **state)
{
	struct opened o;
	struct gofunc fn;

	(void)state;
	dwarffile_make(&o.d, 15);
	dwarffile_begin(&o.d, "runtime", "runtime");
	uint32_t integer = dwarffile_base(&o.d, "int", 8, DWARFFILE_INT);
	uint32_t nothing = dwarffile_struct(&o.d, "main.Empty", 0);

	dwarffile_close(&o.d);
	dwarffile_func(&o.d, "main.Empty.Get", o.d.g.starts[1]);
	dwarffile_param_at(&o.d, "n", integer, 0);
	dwarffile_param_at(&o.d, "e", nothing, 0);
	dwarffile_param(&o.d, "~r1", integer, true);
	dwarffile_close(&o.d);
	dwarffile_end(&o.d);
	open_it(&o);
	assert_int_equal(debuginfo_func(o.dbg, o.d.g.starts[1], "main.Empty.Get", &fn), 0);
	check_order(&fn, "en", 0);
	assert_true(fn.receiver);
	close_it(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_of_empty),
		cmocka_unit_test(test_receiver_of_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
