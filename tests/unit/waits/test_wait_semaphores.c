// SPDX-License-Identifier: Apache-2.0
/* Who waits for which semaphore, as the runtime's table has it before Go 1.26: in a program's
 * memory that is made up. */
#include "fakemem.h"
#include "unit.h"

#include <stdlib.h>

#include "goroutines/snapshot.h"
#include "waits/wait_semaphores.h"

enum {
	ROOTS = 251,
	GS = 150, /* more than are looked at again together */
	G = FAKEMEM_BASE + 0x1000,
	G_SIZE = 0x200,
	TABLE = FAKEMEM_BASE + 0x20000,
	OTHER_TABLE = FAKEMEM_BASE + 0x28000,
	SUDOG = FAKEMEM_BASE + 0x30000,
	SUDOG_SIZE = 0x80,
	SIZE = 0x40000,
	UNREAD = 0x1000,
	SEMAPHORE = 0xc000000008,
};
/* words of a sudog */
enum { OF_G = 0, RIGHT = 1, LEFT = 2, ELEM = 3, LINK = 8 };

static struct goroutine all[GS];
static struct snapshot snap;
static const struct snapshot_source from = {.mem = &fakemem_memory, .rt = &fakemem_layout};

static uint64_t g_at(size_t i)
{
	return G + i * G_SIZE;
}

static uint64_t sudog_at(size_t i)
{
	return SUDOG + i * SUDOG_SIZE;
}

static int begin(void **state)
{
	(void)state;
	fakemem_begin(SIZE);
	snap = (struct snapshot){.all = all, .count = GS};
	for (size_t i = 0; i < GS; i++) {
		all[i] = (struct goroutine){.goid = i + 1,
					    .status = GOROUTINE_WAITING,
					    .addr = g_at(i),
					    .sp = 0x5000 + i};
		fakemem_put(g_at(i) + fakemem_layout.g_sched_sp, 0x5000 + i);
		fakemem_put(g_at(i) + fakemem_layout.g_status, GOROUTINE_WAITING);
		fakemem_put(g_at(i) + fakemem_layout.g_goid, i + 1);
	}
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(snap.waits.all);
	return 0;
}

static void put_root(uint64_t table, uint64_t semaphore, uint64_t sudog)
{
	fakemem_put(table + semaphore / 8 % ROOTS * 64 + 8, sudog);
}

/* Goroutine i waits for a semaphore, by sudog i. */
static void put_sudog(size_t i, uint64_t semaphore)
{
	fakemem_put(sudog_at(i) + 8 * OF_G, g_at(i));
	fakemem_put(sudog_at(i) + 8 * ELEM, semaphore);
}

static void put_next(size_t i, unsigned word, uint64_t sudog)
{
	fakemem_put(sudog_at(i) + 8 * word, sudog);
}

static void find_in(const uint64_t *tables, size_t count)
{
	free(snap.waits.all);
	snap.waits = (struct waits){0};
	for (size_t i = 0; i < GS; i++)
		all[i].wait_count = 0;
	wait_semaphores(&from, tables, count, &snap);
}

static void find(void)
{
	find_in((const uint64_t[]){TABLE}, 1);
}

static void expect(size_t i, uint64_t semaphore)
{
	const struct wait *wait = &snap.waits.all[all[i].waits];

	assert_int_equal(all[i].wait_count, 1);
	assert_int_equal(wait->kind, WAIT_SEMAPHORE);
	assert_int_equal(wait->object, semaphore);
	assert_int_equal(wait->sudog, sudog_at(i));
}

static void expect_none(size_t i)
{
	assert_int_equal(all[i].wait_count, 0);
}

static void test_trees(void **state)
{
	/* all of one root; and one of another */
	const uint64_t same = SEMAPHORE + 8 * ROOTS, more = SEMAPHORE - 8 * ROOTS, other = 0x10;

	(void)state;
	put_root(TABLE, SEMAPHORE, sudog_at(0));
	put_sudog(0, SEMAPHORE);
	put_next(0, LEFT, sudog_at(1));
	put_next(0, RIGHT, sudog_at(2));
	put_next(0, LINK, sudog_at(3));
	put_sudog(1, same);
	put_sudog(2, more);
	put_sudog(3, SEMAPHORE);
	put_next(3, LINK, sudog_at(4));
	put_next(3, LEFT, sudog_at(9)); /* is no tree's: it is in a list */
	put_sudog(4, SEMAPHORE);
	put_next(2, LINK, sudog_at(5));
	put_sudog(5, more);
	put_next(1, RIGHT, sudog_at(6));
	put_sudog(6, same + 8 * ROOTS);
	put_root(TABLE, other, sudog_at(7));
	put_sudog(7, other);
	put_sudog(9, SEMAPHORE);
	find();
	assert_int_equal(snap.waits.count, 8);
	expect(0, SEMAPHORE);
	expect(1, same);
	expect(2, more);
	expect(3, SEMAPHORE);
	expect(4, SEMAPHORE);
	expect(5, more);
	expect(6, same + 8 * ROOTS);
	expect(7, other);
	expect_none(9);
}

/* What belongs to no root that it stands in, is no sudog. */
static void test_others(void **state)
{
	(void)state;
	put_root(TABLE, SEMAPHORE, sudog_at(0));
	put_sudog(0, SEMAPHORE);
	put_next(0, LEFT, sudog_at(1));
	put_sudog(1, SEMAPHORE + 8);
	put_next(0, RIGHT, sudog_at(2) + 1);
	fakemem_put(sudog_at(2) + 1, g_at(2));
	fakemem_put(sudog_at(2) + 1 + 8 * ELEM, SEMAPHORE);
	put_next(0, LINK, sudog_at(3));
	put_sudog(3, SEMAPHORE);
	put_next(3, LINK, sudog_at(4));
	put_sudog(4, SEMAPHORE - 8);
	put_next(4, LINK, sudog_at(5));
	put_sudog(5, SEMAPHORE);
	find();
	assert_int_equal(snap.waits.count, 2);
	expect(0, SEMAPHORE);
	expect(3, SEMAPHORE);
	put_next(3, LINK, UNREAD);
	find();
	assert_int_equal(snap.waits.count, 2);
}

/* The first that is a table: of sudogs that all belong where they are, and not of none */
static void test_tables(void **state)
{
	const uint64_t tables[] = {UNREAD, OTHER_TABLE, TABLE};

	(void)state;
	put_root(TABLE, SEMAPHORE, sudog_at(0));
	put_sudog(0, SEMAPHORE);
	find_in(tables, 3);
	expect(0, SEMAPHORE);
	find_in(tables, 2);
	assert_int_equal(snap.waits.count, 0);
	/* the last root: sudog 1 is of another */
	fakemem_put(OTHER_TABLE + (ROOTS - 1) * 64 + 8, sudog_at(1));
	put_sudog(1, 0);
	put_root(OTHER_TABLE, SEMAPHORE, sudog_at(2));
	put_sudog(2, SEMAPHORE);
	find_in(tables, 3);
	expect(0, SEMAPHORE);
	expect_none(2);
	put_sudog(1, (ROOTS - 1) * 8);
	find_in(tables, 3);
	expect_none(0);
	expect(1, (ROOTS - 1) * 8);
	expect(2, SEMAPHORE);
	assert_int_equal(snap.waits.count, 2);
}

/* Who does not wait, waits for something else, or has gone on since, and who is in no snapshot */
static void test_goroutines(void **state)
{
	(void)state;
	put_root(TABLE, SEMAPHORE, sudog_at(0));
	for (size_t i = 0; i < 6; i++) {
		put_sudog(i, SEMAPHORE);
		put_next(i, LINK, sudog_at(i + 1));
	}
	put_sudog(6, SEMAPHORE);
	put_next(6, LINK, sudog_at(0)); /* in a circle: each is found once all the same */
	all[1].status = GOROUTINE_RUNNABLE;
	fakemem_put(g_at(2) + fakemem_layout.g_sched_sp, 0x5003);
	fakemem_put(sudog_at(3), g_at(GS));
	put_next(6, LINK, 0);
	find();
	assert_int_equal(snap.waits.count, 4);
	for (size_t i = 0; i < 7; i++)
		if (i == 0 || i > 3)
			expect(i, SEMAPHORE);
		else
			expect_none(i);
	/* it keeps what it is known to wait for */
	free(snap.waits.all);
	snap.waits = (struct waits){0};
	for (size_t i = 0; i < GS; i++)
		all[i].wait_count = i == 4 ? 2 : 0;
	wait_semaphores(&from, (const uint64_t[]){TABLE}, 1, &snap);
	assert_int_equal(all[4].wait_count, 2);
	assert_int_equal(snap.waits.count, 3);
}

/* Each once, though the list goes round */
static void test_round(void **state)
{
	(void)state;
	put_root(TABLE, SEMAPHORE, sudog_at(0));
	put_sudog(0, SEMAPHORE);
	put_sudog(1, SEMAPHORE);
	put_next(0, LINK, sudog_at(1));
	put_next(1, LINK, sudog_at(0));
	find();
	assert_int_equal(snap.waits.count, 2);
	expect(0, SEMAPHORE);
	expect(1, SEMAPHORE);
}

/* When its page is read for the second time */
static void goes_on(void)
{
	static unsigned times;

	if (fakemem.addr == G && ++times == 2)
		fakemem_put(g_at(0) + fakemem_layout.g_sched_sp, 0x6000);
}

/* More than are looked at together; the last of them are looked at anew. */
static void test_many(void **state)
{
	(void)state;
	put_root(TABLE, SEMAPHORE, sudog_at(0));
	for (size_t i = 0; i < GS; i++) {
		put_sudog(i, SEMAPHORE);
		put_next(i, LINK, i + 1 < GS ? sudog_at(i + 1) : 0);
	}
	find();
	assert_int_equal(snap.waits.count, GS);
	for (size_t i = 0; i < GS; i++)
		expect(i, SEMAPHORE);
	fakemem_put(sudog_at(0), g_at(100));
	fakemem_put(sudog_at(100), g_at(0));
	fakemem.before_read = goes_on;
	find();
	assert_int_equal(snap.waits.count, GS - 1);
	expect_none(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_trees, begin, end),
		cmocka_unit_test_setup_teardown(test_others, begin, end),
		cmocka_unit_test_setup_teardown(test_tables, begin, end),
		cmocka_unit_test_setup_teardown(test_goroutines, begin, end),
		cmocka_unit_test_setup_teardown(test_round, begin, end),
		cmocka_unit_test_setup_teardown(test_many, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
