// SPDX-License-Identifier: Apache-2.0
/* The rows of gotop: their order, which are shown, and the line above them. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "gotop/toptable_internal.h"

enum { SECOND_NS = 1000000000 };

/* With a number in place of each that is known. */
static struct stats numbers(uint64_t when_ns, uint64_t goroutines, uint64_t cpu_ns)
{
	struct stats stats = {.when_ns = when_ns};

	stats.all[STATS_GOROUTINES].known = stats.all[STATS_CPU_NS].known = true;
	stats.all[STATS_GOROUTINES].n = goroutines;
	stats.all[STATS_CPU_NS].n = cpu_ns;
	return stats;
}

static void put(struct toptable *table, int pid, const char *name, uint64_t second,
		uint64_t goroutines, uint64_t cpu_ns)
{
	const struct stats now = numbers(second * SECOND_NS, goroutines, cpu_ns);

	toptable_put(table, pid, name, &now);
}

/* Three programs, after two looks a second apart: 7 has used half of a processor, 8 all of one, 9
 * nothing. */
static struct toptable three(void)
{
	struct toptable table = {.sort = TOPTABLE_CPU};

	put(&table, 7, "etcd", 1, 30, 0);
	put(&table, 9, "caddy", 1, 20, 5);
	put(&table, 8, "api", 1, 10, 3 * (uint64_t)SECOND_NS);
	put(&table, 7, "etcd", 2, 31, SECOND_NS / 2);
	put(&table, 9, "caddy", 2, 20, 5);
	put(&table, 8, "api", 2, 10, 4 * (uint64_t)SECOND_NS);
	return table;
}

static void check_order(struct toptable *table, int first, int second, int third)
{
	const int pids[] = {first, second, third};

	toptable_order(table);
	assert_int_equal(table->shown_count, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(table->shown[i]->pid, pids[i]);
}

static void test_order(void **state)
{
	struct toptable table = three();

	(void)state;
	check_order(&table, 8, 7, 9);
	table.reverse = true;
	check_order(&table, 9, 7, 8);
	table.sort = TOPTABLE_GORS;
	check_order(&table, 8, 9, 7);
	table.reverse = false;
	check_order(&table, 7, 9, 8);
	table.sort = TOPTABLE_PID;
	check_order(&table, 7, 8, 9);
	table.sort = TOPTABLE_COMMAND;
	check_order(&table, 8, 9, 7);
	/* none is known of any: by PID */
	table.sort = TOPTABLE_HEAP;
	check_order(&table, 7, 8, 9);
	toptable_free(&table);
}

/* How much it has risen is known from the second look on; of one that has fallen, nothing is. */
static void test_unknown_last(void **state)
{
	struct toptable table = three();

	(void)state;
	toptable_remove(&table, 8);
	put(&table, 6, "new", 2, 1, 9 * (uint64_t)SECOND_NS);
	check_order(&table, 7, 9, 6);
	put(&table, 7, "etcd", 3, 31, 0);
	put(&table, 6, "new", 3, 1, 10 * (uint64_t)SECOND_NS);
	check_order(&table, 6, 9, 7);
	toptable_free(&table);
}

static void check_shown(struct toptable *table, const char *filter, size_t count, int first)
{
	strcpy(table->filter, filter);
	toptable_order(table);
	assert_int_equal(table->shown_count, count);
	if (count)
		assert_int_equal(table->shown[0]->pid, first);
}

static void test_filter(void **state)
{
	struct toptable table = three();

	(void)state;
	check_shown(&table, "d", 2, 7);
	check_shown(&table, "api", 1, 8);
	check_shown(&table, "9", 1, 9);
	check_shown(&table, "99", 0, 0);
	check_shown(&table, "", 3, 8);
	toptable_remove(&table, 8);
	toptable_remove(&table, 5); /* there is none */
	check_shown(&table, "", 2, 7);
	toptable_free(&table);
}

static void check_title(struct toptable *table, const char *wanted)
{
	toptable_order(table);
	char *title = toptable_title(table);

	assert_string_equal(title, wanted);
	free(title);
}

static void test_title(void **state)
{
	struct toptable table = three();

	(void)state;
	check_title(&table, "3 Go programs, 61 goroutines, 150% CPU, sorted by CPU");
	table.sort = TOPTABLE_RUNQ;
	table.reverse = true;
	strcpy(table.filter, "etcd");
	check_title(&table, "1 Go program, 31 goroutines, 50% CPU, sorted by RUNQ, reversed");
	toptable_free(&table);
}

static void test_lines(void **state)
{
	struct toptable table = three();
	char *head = toptable_head();

	(void)state;
	toptable_order(&table);
	char *line = toptable_line(table.shown[1]);

	assert_int_equal(strlen(line), strlen(head));
	assert_non_null(strstr(line, "      7 etcd          31 "));
	assert_string_equal(line + strlen(line) - 4, " 50%");
	assert_null(strchr(line, '\n'));
	free(line);
	free(head);
	toptable_free(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),  cmocka_unit_test(test_unknown_last),
		cmocka_unit_test(test_filter), cmocka_unit_test(test_title),
		cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
