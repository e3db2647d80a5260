// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/mem.h"
#include "gostacks/leaks.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "unit.h"

#define SECOND 1000000000ull

enum { A = 0x1000, B = 0x2000 }; /* go statements */

/* Goroutines `from` to `to` - 1 of each of two go statements, at second `when`: of A those with
 * even IDs, of B those with odd ones. */
static struct snapshot make(uint64_t when, uint64_t from_a, uint64_t to_a, uint64_t from_b,
			    uint64_t to_b)
{
	struct snapshot snap = {.when_ns = when * SECOND, .stacks = snapshot_stacks_new()};

	snap.all = mem_zalloc(1000, sizeof(*snap.all));
	for (uint64_t i = 0; i < 400; i++) {
		struct goroutine *g = &snap.all[snap.count];

		*g = (struct goroutine){.status = GOROUTINE_WAITING, .reason = i % 4 == 3 ? 2 : 1};
		if (i >= from_a && i < to_a) {
			g->goid = 2 * i + 2;
			g->created_by = A;
			snap.count++;
		}
		g = &snap.all[snap.count];
		*g = (struct goroutine){.status = GOROUTINE_RUNNABLE};
		if (i >= from_b && i < to_b) {
			g->goid = 2 * i + 3;
			g->created_by = B;
			snap.count++;
		}
	}
	return snap;
}

static struct leak look(struct leaks *leaks, struct snapshot snap, uint64_t created_by)
{
	struct leak found = {0};
	size_t count;

	snap.reasons[1] = mem_strdup("chan send");
	snap.reasons[2] = mem_strdup("select");
	assert_int_equal(leaks_look(leaks, &snap, NULL, NULL, 0), 0);
	struct leak *all = leaks_all(leaks, &count);

	for (size_t i = 0; i < count; i++)
		if (all[i].created_by == created_by)
			found = all[i];
	if (found.live && created_by == A)
		assert_string_equal(found.state, "chan send");
	free(all);
	snapshot_free(&snap);
	return found;
}

static void assert_leak(const struct leak *leak, size_t live, size_t born, size_t ended)
{
	assert_int_equal(leak->live, live);
	assert_int_equal(leak->born, born);
	assert_int_equal(leak->ended, ended);
}

/* Of two states with as many goroutines the first is told: look() insists on it. */
static void test_equal_states(void **state)
{
	struct leaks *leaks = leaks_new();

	(void)state;
	look(leaks, make(10, 2, 4, 0, 5), A);
	leaks_free(leaks);
}

static void test_counts(void **state)
{
	struct leaks *leaks = leaks_new();
	struct leak a;

	(void)state;
	a = look(leaks, make(10, 0, 8, 0, 5), A);
	assert_leak(&a, 8, 0, 0);
	assert_int_equal(a.first_live, 8);
	assert_int_equal(a.oldest_ns, 0);
	a = look(leaks, make(12, 1, 20, 0, 5), A);
	assert_leak(&a, 19, 12, 1);
	assert_int_equal(a.oldest_ns, 2 * SECOND);
	a = look(leaks, make(15, 20, 24, 0, 5), A); /* all of them are others */
	assert_leak(&a, 4, 4, 19);
	assert_int_equal(a.oldest_ns, 0);
	a = look(leaks, make(16, 0, 0, 0, 5), A);
	assert_leak(&a, 0, 0, 4);
	assert_int_equal(a.all_ended, 24);
	a = look(leaks, make(17, 0, 0, 0, 5), A);
	assert_int_equal(a.created_by, 0); /* it is not among them any more */
	leaks_free(leaks);
}

/* The oldest: since it was seen first, or has waited, whichever is longer ago. */
static void test_oldest(void **state)
{
	static const struct {
		uint64_t waits_since, oldest;
	} rows[] = {{3, 17}, {10, 10}, {12, 10}, {0, 10}}; /* seconds */

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		bool both = i >= sizeof(rows) / sizeof(*rows);
		struct leaks *leaks = leaks_new();
		struct snapshot snap = make(20, 0, 2, 0, 0);
		struct leak a;

		look(leaks, make(10, 0, 2, 0, 0), A);
		for (size_t k = !both; k < 2; k++)
			snap.all[k].waitsince = rows[i % 4].waits_since * SECOND;
		a = look(leaks, snap, A);
		assert_int_equal(a.oldest_ns, rows[i % 4].oldest * SECOND);
		leaks_free(leaks);
	}
}

/* Rounded, to either side */
static void test_a_minute(void **state)
{
	(void)state;
	assert_int_equal(leak_a_minute(3, 60 * SECOND), 3);
	assert_int_equal(leak_a_minute(-3, 60 * SECOND), -3);
	assert_int_equal(leak_a_minute(-3, 30 * SECOND), -6);
	assert_int_equal(leak_a_minute(5, 120 * SECOND), 3);
	assert_int_equal(leak_a_minute(-5, 120 * SECOND), -3);
	assert_int_equal(leak_a_minute(1, 180 * SECOND), 0);
	assert_int_equal(leak_a_minute(-1, 180 * SECOND), 0);
	assert_int_equal(leak_a_minute(0, SECOND), 0);
}

/* Which comes first, and since when */
static void test_order(void **state)
{
	struct leaks *leaks = leaks_new();
	struct snapshot snap = make(10, 0, 20, 0, 0);
	size_t count;

	(void)state;
	leaks_look(leaks, &snap, NULL, NULL, 0);
	snapshot_free(&snap);
	snap = make(14, 0, 20, 0, 3);
	leaks_look(leaks, &snap, NULL, NULL, 0);
	struct leak *all = leaks_all(leaks, &count);

	assert_int_equal(count, 2);
	assert_int_equal(all[0].created_by, B);
	assert_int_equal(all[0].first_live, 0);
	assert_int_equal(all[0].first_ns, 10 * SECOND);
	assert_leak(&all[0], 3, 3, 0);
	free(all);
	snapshot_free(&snap);
	leaks_free(leaks);
}

static void test_only_grows(void **state)
{
	static const struct {
		uint64_t to[5];
		bool grows;
	} rows[] = {
		{{3, 4, 5, 6, 7}, true},  {{3, 4, 4, 5, 5}, true},  {{3, 3, 3, 3, 9}, false},
		{{3, 9, 9, 9, 9}, false}, {{3, 4, 5, 4, 9}, false}, {{3, 3, 3, 3, 3}, false},
		{{0, 1, 2, 3, 4}, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct leaks *leaks = leaks_new();
		struct leak a = {0};

		for (size_t j = 0; j < 5; j++) {
			a = look(leaks, make(10 + j, 0, rows[i].to[j], 0, 1), A);
			assert_true(j >= 2 || !leak_only_grows(&a)); /* too early to tell */
		}
		assert_int_equal(leak_only_grows(&a), rows[i].grows);
		leaks_free(leaks);
	}
}

/* A list that names one goroutine several times; go statements without end. */
static void test_hostile(void **state)
{
	struct leaks *leaks = leaks_new();
	const struct leak_births more[] = {{LEAKS_MAX + 9, 0, 30, 20}, {5, 0, 3, 3}};
	struct snapshot snap = {.count = LEAKS_MAX + 5, .stacks = snapshot_stacks_new()};

	(void)state;
	snap.all = mem_zalloc(snap.count, sizeof(*snap.all));
	for (size_t i = 0; i < snap.count; i++)
		snap.all[i] = (struct goroutine){
			.goid = i / 3 + 2, .created_by = i + 1, .status = GOROUTINE_RUNNING};
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(leaks_look(leaks, &snap, NULL, NULL, 0), 5);
	assert_int_equal(leaks_look(leaks, &snap, NULL, more, 2), 5 + 30);
	snapshot_free(&snap);
	leaks_free(leaks);
}

/* --- counted one by one --- */

static size_t count_of(struct leaks *leaks, uint64_t created_by, struct leak *out)
{
	size_t count;
	struct leak *all = leaks_all(leaks, &count);

	*out = (struct leak){0};
	for (size_t i = 0; i < count; i++)
		if (all[i].created_by == created_by)
			*out = all[i];
	free(all);
	return count;
}

/* Those that nobody has seen alive count as well; before the first look none does. */
static void test_births(void **state)
{
	const struct leak_births births[] = {{A, 0, 100, 98}, {A, 0, 7, 7}, {0x3000, 0, 50, 50}};
	struct leaks *leaks = leaks_new();
	struct snapshot snap = make(1, 0, 3, 0, 4);
	struct leak leak;

	(void)state;
	leaks_look(leaks, &snap, NULL, births, 3);
	count_of(leaks, A, &leak);
	assert_leak(&leak, 3, 0, 0);
	snapshot_free(&snap);
	snap = make(2, 1, 6, 1, 5);
	leaks_look(leaks, &snap, NULL, births, 3);
	assert_int_equal(count_of(leaks, A, &leak), 3);
	assert_leak(&leak, 5, 107, 105);
	assert_int_equal(leak.all_ended, 105);
	count_of(leaks, B, &leak);
	assert_leak(&leak, 4, 0, 0); /* whatever the looks differ in */
	count_of(leaks, 0x3000, &leak);
	assert_leak(&leak, 0, 50, 50);
	assert_int_equal(leak.first_live, 0);
	snapshot_free(&snap);
	snap = make(3, 1, 6, 1, 5);
	leaks_look(leaks, &snap, NULL, births, 0);
	assert_int_equal(count_of(leaks, A, &leak), 2);
	assert_leak(&leak, 5, 0, 0);
	snapshot_free(&snap);
	leaks_free(leaks);
}

/* Of those that are created by nobody knows whom, the looks alone tell. */
static void test_births_unknown(void **state)
{
	const struct leak_births births[] = {{0, 0, 9, 9}};
	struct leaks *leaks = leaks_new();
	struct leak leak;

	(void)state;
	for (uint64_t i = 0; i < 2; i++) {
		struct snapshot snap = make(i, 0, 1 + 2 * i, 0, 0);

		for (size_t j = 0; j < snap.count; j++)
			snap.all[j].created_by = 0;
		leaks_look(leaks, &snap, NULL, births, 1);
		count_of(leaks, 0, &leak);
		assert_leak(&leak, 1 + 2 * i, 2 * i, 0);
		snapshot_free(&snap);
	}
	leaks_free(leaks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oldest),         cmocka_unit_test(test_a_minute),
		cmocka_unit_test(test_equal_states),   cmocka_unit_test(test_counts),
		cmocka_unit_test(test_order),          cmocka_unit_test(test_only_grows),
		cmocka_unit_test(test_hostile),        cmocka_unit_test(test_births),
		cmocka_unit_test(test_births_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
