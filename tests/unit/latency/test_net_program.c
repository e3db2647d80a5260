// SPDX-License-Identifier: Apache-2.0
/* What of the calls' time was work of their probes, by gofunclatency's kernel side, run on this
 * side: what is left is what the test itself let the goroutine work. */
#include "fakegoroutine.h"
#include "unit.h"

#define GOROUTINES 2
#define ROWS 3
#define UNIT 1
#define PER_ROW
#define PLACES 200
#define DEEP_CALLS 2000
#define NET
#define NESTED 24

#include "bpf-src/gofunclatency.bpf.c" /* NOLINT(bugprone-suspicious-include) */

/* what it takes until the kernel side runs, and prices of rows, which contain it: of row 0; of each
 * other twice what it is of the one before */
enum { IN = 400, ENTRY = 1000, END = 70000 };

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(6);
	control.lookup(&zero)->active = 1;
	for (u32 row = 0; row < ROWS; row++)
		*net_prices.lookup(&row) = (struct net_price){ENTRY << row, END << row};
	return 0;
}

static void work(u64 ns)
{
	fakekernel.ns += ns;
}

static void hit_copy(unsigned n, unsigned depth, u32 row, enum cookie_kind kind, u32 copy)
{
	fakegoroutine_runs(n, depth);
	fakekernel.cookie = cookie_make(row, kind, 0, copy);
	fakekernel.ns += IN;
	assert_int_equal(on_probe(&regs), 0);
	fakekernel.ns -= FAKEGOROUTINE_STEP; /* the last look at the time is what it does last */
	fakekernel.ns += ((kind == COOKIE_RETURN ? END : ENTRY) << row) - IN;
}

static void hit(unsigned n, unsigned depth, u32 row, enum cookie_kind kind)
{
	hit_copy(n, depth, row, kind, 0);
}

static void call(unsigned n, unsigned depth, u32 row)
{
	hit(n, depth, row, COOKIE_CALL);
}

static void ret(unsigned n, unsigned depth, u32 row)
{
	hit(n, depth, row, COOKIE_RETURN);
}

/* So many calls of a row have returned, in which the goroutine worked for so long. */
static void expect_work(u32 row, u64 count, u64 ns)
{
	const struct call_sums *s = sums.lookup(&row);

	assert_int_equal(s->count, count);
	assert_int_equal(s->unpriced, 0);
	assert_int_equal(s->total_ns - s->probes_ns, ns);
}

static void expect_nothing_left(void)
{
	assert_int_equal(goroutines_map.count, 0);
	assert_int_equal(clocks_then_map.count, 0);
}

static void test_nested(void **state)
{
	(void)state;
	call(1, 64, 0);
	work(3);
	call(1, 128, 1);
	work(5);
	ret(1, 128, 1);
	work(7);
	call(1, 128, 1);
	work(11);
	call(1, 256, 2);
	work(13);
	ret(1, 256, 2);
	ret(1, 128, 1);
	work(17);
	ret(1, 64, 0);
	expect_work(0, 1, 3 + 5 + 7 + 11 + 13 + 17);
	expect_work(1, 2, 5 + 11 + 13);
	expect_work(2, 1, 13);
	expect_nothing_left();
}

/* What another goroutine's probes take while it waits for it is not taken off. */
static void test_others(void **state)
{
	u64 before;

	(void)state;
	call(1, 64, 0);
	before = fakekernel.ns;
	call(2, 64, 1);
	work(5);
	ret(2, 64, 1);
	before = fakekernel.ns - before;
	ret(1, 64, 0);
	expect_work(0, 1, before);
	expect_work(1, 1, 5);
	expect_nothing_left();
}

static void test_deep(void **state)
{
	const unsigned count = NESTED;

	(void)state;
	for (unsigned i = 1; i <= count; i++) {
		call(1, 64 * i, 0);
		work(1);
	}
	for (unsigned i = count; i; i--)
		ret(1, 64 * i, 0);
	expect_work(0, count, count * (count + 1) / 2);
	expect_nothing_left();
}

/* Several calls at one depth, of which the outermost ends first */
static void test_copies(void **state)
{
	(void)state;
	hit_copy(1, 64, 0, COOKIE_CALL, 1);
	work(2);
	hit_copy(1, 64, 1, COOKIE_CALL, 2);
	work(3);
	hit_copy(1, 64, 2, COOKIE_CALL, 3);
	work(5);
	hit_copy(1, 64, 0, COOKIE_RETURN, 1);
	work(7);
	hit_copy(1, 64, 2, COOKIE_RETURN, 3);
	hit_copy(1, 64, 1, COOKIE_RETURN, 2);
	expect_work(0, 1, 2 + 3 + 5);
	expect_work(1, 1, 3 + 5 + 7);
	expect_work(2, 1, 5 + 7);
	expect_nothing_left();
}

/* Calls that do not return leave nothing, and their probes are part of those around them. */
static void test_panics(void **state)
{
	(void)state;
	call(1, 64, 0);
	for (unsigned i = 2; i <= CALLS_INLINE + 3; i++)
		call(1, 64 * i, 1);
	work(9);
	fakemem_put(fakegoroutine_g(1) + G_SCHED_SP, fakegoroutine_hi(1) - 100);
	hit(1, 256, 0, COOKIE_RECOVERED);
	ret(1, 64, 0);
	expect_work(0, 1, 9);
	expect_work(1, 0, 0);
	expect_nothing_left();
}

/* There is no room to keep what the clock was: that is said. */
static void test_no_room(void **state)
{
	const u32 row = 1;

	(void)state;
	for (unsigned i = 1; i <= NESTED; i++)
		call(1, 64 * i, 0);
	call(1, 64 * (NESTED + 1), 1);
	ret(1, 64 * (NESTED + 1), 1);
	assert_int_equal(sums.lookup((u32 *)&row)->unpriced, 1);
	assert_int_equal(sums.lookup((u32 *)&row)->probes_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nested, begin),
		cmocka_unit_test_setup(test_others, begin),
		cmocka_unit_test_setup(test_deep, begin),
		cmocka_unit_test_setup(test_copies, begin),
		cmocka_unit_test_setup(test_panics, begin),
		cmocka_unit_test_setup(test_no_room, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
