// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "locks/locks_internal.h"
#include "unit.h"

enum { MUTEX = 0x1000, RW = 0x2000 };

/* Stacks are numbers here: these tell what is waited in. */
enum { IN_MUTEX = 10, IN_WRITER = 20, IN_WRITE = 30, IN_READ = 40, IN_GROUP = 50 };

static bool owner(void *ctx, const struct lock_event *event, struct lock_owner *out)
{
	static const struct lock_owner owners[] = {
		{LOCK_OP_MUTEX, 4}, {LOCK_OP_WRITER, 4}, {LOCK_OP_WRITE, 8}, {LOCK_OP_READ, 12}};

	(void)ctx;
	if (event->stack >= IN_GROUP)
		return false;
	*out = owners[event->stack / 10 - 1];
	return true;
}

static struct locks *locks;

static int setup(void **state)
{
	(void)state;
	locks = locks_new(3, owner, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	locks_free(locks);
	return 0;
}

static uint64_t lost, readers = 3;
static unsigned sleeps = 1;

static struct lock *event(uint64_t at, uint64_t goid, enum lock_event_kind kind, uint64_t addr,
			  uint64_t stack, uint64_t since)
{
	struct lock_event event = {.time_ns = at,
				   .lost = lost,
				   .who = {.id = goid, .process.tgid = 7},
				   .addr = addr,
				   .begin_ns = since,
				   .parked_ns = since,
				   .stack = stack,
				   .kind = kind,
				   .readers = readers,
				   .sleeps = sleeps};

	return locks_event(locks, &event);
}

static void parks(uint64_t at, uint64_t goid, uint64_t semaphore, uint64_t stack)
{
	event(at, goid, LOCK_PARKS, semaphore, stack, 0);
}

static void got(uint64_t at, uint64_t goid, uint64_t semaphore, uint64_t stack, uint64_t since)
{
	event(at, goid, LOCK_GOT, semaphore, stack, since);
}

static void unlocks(uint64_t at, uint64_t goid, uint64_t stack)
{
	event(at, goid, LOCK_UNLOCKS, MUTEX, stack, 0);
}

static void print_unwaited(FILE *out, const char *how, const struct lock_unwaited *sum)
{
	if (sum->count)
		fprintf(out, " %s %d, %d ns;", how, (int)sum->count, (int)sum->ns);
}

static void print_waiter(FILE *out, const struct lock_waiter *waiter)
{
	fprintf(out, " w%d %d %d", (int)waiter->stack.hash, (int)waiter->waits,
		(int)waiter->total_ns);
	if (waiter->waits > 1)
		fprintf(out, "<%d", (int)waiter->max_ns);
	if (waiter->sleeps != waiter->waits)
		fprintf(out, " slept %d", (int)waiter->sleeps);
}

static void print_held(FILE *out, const struct lock_held *held)
{
	static const char how[] = "hr-?";

	if (!held->ns && !held->readers)
		return;
	fprintf(out, " %c%d %d", how[held->how], (int)held->stack.hash, (int)held->ns);
	if (held->readers)
		fprintf(out, "/%d", (int)held->readers);
}

static void print(void *ctx, const struct lock *lock)
{
	FILE *out = ctx;

	fprintf(out, "%" PRIx64 "%s: %d, %d ns, at most %d;", lock->addr, lock->is_rw ? " rw" : "",
		(int)lock->waits, (int)lock->total_ns, (int)lock->max_ns);
	if (lock->sleeps != lock->waits)
		fprintf(out, " slept %d;", (int)lock->sleeps);
	print_unwaited(out, "spun", &lock->spun);
	print_unwaited(out, "free", &lock->found_free);
	for (size_t i = 0; i < lock->waiter_count; i++)
		print_waiter(out, &lock->waiters[i]);
	for (size_t i = 0; i < lock->held_count; i++)
		print_held(out, &lock->held[i]);
	for (const struct lock_wait *wait = lock->waiting; wait; wait = wait->next)
		fprintf(out, " g%d since %d", (int)wait->who.id, (int)wait->since_ns);
	if (lock->waiting && lock->holder)
		fprintf(out, " %s g%d", lock->is_certain ? "has" : "last", (int)lock->holder);
	fputc('\n', out);
}

static void expect(const char *expected)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	locks_each(locks, print, out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* Two wait, and the second for the first as well. */
static void test_convoy(void **state)
{
	(void)state;
	parks(1010, 2, MUTEX + 4, 10);
	parks(1020, 3, MUTEX + 4, 11);
	expect("1000: 0, 0 ns, at most 0; g2 since 1010 g3 since 1020\n");
	unlocks(1100, 1, 1);
	got(1103, 2, MUTEX + 4, 10, 1010);
	expect("1000: 1, 93 ns, at most 93; w10 1 93 -0 3 h1 90 g3 since 1020 has g2\n");
	unlocks(1153, 2, 2);
	got(1155, 3, MUTEX + 4, 11, 1020);
	expect("1000: 2, 228 ns, at most 135; w10 1 93 w11 1 135 -0 8 h1 170 h2 50\n");
}

/* Who finds the lock free, before the one that was woken, need not have waited for it. */
static void test_barging(void **state)
{
	(void)state;
	parks(1010, 2, MUTEX + 4, 10);
	unlocks(1100, 1, 1);
	unlocks(1150, 5, 5);
	unlocks(1190, 5, 5);
	got(1200, 2, MUTEX + 4, 10, 1010);
	expect("1000: 1, 190 ns, at most 190; w10 1 190 -0 10 h1 90 h5 90\n");
}

/* A lock is free a moment before that is told, and another one may have it by then. */
static void test_late(void **state)
{
	(void)state;
	parks(1010, 2, MUTEX + 4, 10);
	parks(1020, 3, MUTEX + 4, 10);
	unlocks(1100, 1, 1);
	got(1150, 2, MUTEX + 4, 10, 1010);
	expect("1000: 1, 140 ns, at most 140; w10 1 140 -0 50 h1 90 g3 since 1020 has g2\n");
	unlocks(1151, 5, 5);
	expect("1000: 1, 140 ns, at most 140; w10 1 140 h1 90 h5 50 g3 since 1020 has g2\n");
	unlocks(1180, 2, 2);
	got(1181, 3, MUTEX + 4, 10, 1020);
	expect("1000: 2, 301 ns, at most 161; w10 2 301<161 -0 1 h1 170 h5 100 h2 30\n");
}

/* ... and again, at the same place: what it had it adds up. */
static void test_late_again(void **state)
{
	(void)state;
	for (unsigned goid = 2; goid <= 4; goid++)
		parks(1000 + 10 * goid, goid, MUTEX + 4, 10);
	unlocks(1100, 1, 1);
	got(1150, 2, MUTEX + 4, 10, 1020);
	unlocks(1151, 5, 5);
	unlocks(1180, 2, 2);
	got(1200, 3, MUTEX + 4, 10, 1030);
	unlocks(1201, 5, 5);
	expect("1000: 2, 300 ns, at most 170; w10 2 300<170 h1 150 h5 120 h2 30 g4 since 1040 has "
	       "g3\n");
}

/* ... which began to wait when that one had it. */
static void test_late_to_new(void **state)
{
	(void)state;
	parks(1010, 2, MUTEX + 4, 10);
	parks(1020, 3, MUTEX + 4, 10);
	unlocks(1100, 1, 1);
	got(1150, 2, MUTEX + 4, 10, 1010);
	parks(1160, 4, MUTEX + 4, 11);
	unlocks(1170, 5, 5);
	unlocks(1180, 2, 2);
	got(1180, 4, MUTEX + 4, 11, 1160);
	expect("1000: 2, 160 ns, at most 140; w10 1 140 w11 1 20 h1 90 h5 50 h2 20 "
	       "g3 since 1020 has g4\n");
}

/* Such a moment is told once: to the first that comes late, and to nobody who came after another.
 */
static void test_late_once(void **state)
{
	(void)state;
	parks(1010, 2, MUTEX + 4, 10);
	parks(1020, 3, MUTEX + 4, 10);
	parks(1030, 7, MUTEX + 4, 10);
	unlocks(1100, 1, 1);
	got(1150, 2, MUTEX + 4, 10, 1010);
	unlocks(1151, 5, 5);
	unlocks(1152, 6, 6);
	expect("1000: 1, 140 ns, at most 140; w10 1 140 h1 90 h5 50 g3 since 1020 g7 since 1030 "
	       "has g2\n");
	got(1200, 3, MUTEX + 4, 10, 1020);
	event(1210, 4, LOCK_SPUN, MUTEX, 0, 1205);
	unlocks(1220, 6, 6);
	expect("1000: 2, 320 ns, at most 180; spun 1, 5 ns; w10 2 320<180 -0 50 h1 170 h5 100 g7 "
	       "since 1030 has g4\n");
}

/* Who has let go of it has it no more: the next one that does had it since then. */
static void test_holder_gone(void **state)
{
	(void)state;
	parks(1010, 2, MUTEX + 4, 10);
	parks(1020, 3, MUTEX + 4, 10);
	unlocks(1100, 1, 1);
	got(1150, 2, MUTEX + 4, 10, 1010);
	unlocks(1180, 2, 2);
	unlocks(1200, 5, 5);
	got(1210, 3, MUTEX + 4, 10, 1020);
	expect("1000: 2, 330 ns, at most 190; w10 2 330<190 -0 110 h1 170 h2 30 h5 20\n");
}

/* While nobody waits, locks are let go of unseen. */
static void test_unseen(void **state)
{
	(void)state;
	parks(1010, 2, MUTEX + 4, 10);
	unlocks(1100, 1, 1);
	got(1101, 2, MUTEX + 4, 10, 1010);
	parks(2000, 3, MUTEX + 4, 10);
	expect("1000: 1, 91 ns, at most 91; w10 1 91 -0 1 h1 90 g3 since 2000 last g2\n");
	unlocks(2100, 5, 5);
	got(2100, 3, MUTEX + 4, 10, 2000);
	expect("1000: 2, 191 ns, at most 100; w10 2 191<100 -0 1 h1 90 h5 100\n");
}

/* A wait that begins while the lock is free, or that somebody is known to have had before. */
static void test_begins_late(void **state)
{
	(void)state;
	parks(1010, 2, MUTEX + 4, 10);
	parks(1011, 9, MUTEX + 4, 12);
	unlocks(1100, 1, 1);
	parks(1110, 3, MUTEX + 4, 11);
	got(1150, 2, MUTEX + 4, 10, 1010);
	parks(1170, 4, MUTEX + 4, 13);
	unlocks(1200, 2, 2);
	got(1200, 3, MUTEX + 4, 11, 1110);
	unlocks(1200, 3, 3);
	got(1200, 4, MUTEX + 4, 13, 1170);
	expect("1000: 3, 260 ns, at most 140; w10 1 140 w11 1 90 w13 1 30 -0 90 h1 90 h2 80 "
	       "g9 since 1011 has g4\n");
}

static void test_spinning(void **state)
{
	(void)state;
	event(1050, 4, LOCK_SPUN, MUTEX, 0, 1047);
	event(1060, 4, LOCK_SPUN, MUTEX, 0, 1058);
	expect("1000: 0, 0 ns, at most 0; spun 2, 5 ns;\n");
}

/* That nobody had it, though it was not to be had at once, is another thing. */
static void test_found_free(void **state)
{
	(void)state;
	event(1050, 4, LOCK_WAS_FREE, MUTEX, 0, 1049);
	expect("1000: 0, 0 ns, at most 0; free 1, 1 ns;\n");
	event(1060, 4, LOCK_SPUN, MUTEX, 0, 1058);
	expect("1000: 0, 0 ns, at most 0; spun 1, 2 ns; free 1, 1 ns;\n");
	parks(1070, 2, MUTEX + 4, 10);
	expect("1000: 0, 0 ns, at most 0; spun 1, 2 ns; free 1, 1 ns; g2 since 1070 last g4\n");
	locks_clear(locks);
	expect("1000: 0, 0 ns, at most 0; g2 since 1070 last g4\n");
}

/* One wait, though it was woken in vain. */
static void test_sleeps(void **state)
{
	(void)state;
	parks(1010, 2, MUTEX + 4, 10);
	sleeps = 3;
	got(1100, 2, MUTEX + 4, 10, 1010);
	sleeps = 1;
	expect("1000: 1, 90 ns, at most 90; slept 3; w10 1 90 slept 3 -0 90\n");
	got(1100, 3, MUTEX + 4, 11, 1080);
	expect("1000: 2, 110 ns, at most 90; slept 4; w10 1 90 slept 3 w11 1 20 -0 90 ?0 20\n");
	got(1100, 4, MUTEX + 4, 10, 1070);
	expect("1000: 3, 140 ns, at most 90; slept 5; w10 2 120<90 slept 4 w11 1 20 -0 90 ?0 50\n");
}

/* A writer waits for readers, and a reader for the writer, that has not had the lock yet. */
static void test_readers(void **state)
{
	(void)state;
	parks(1000, 2, RW + 8, 30);
	parks(1020, 3, RW + 12, 40);
	event(1100, 1, LOCK_RELEASES, RW + 8, 1, 0);
	got(1105, 2, RW + 8, 30, 1000);
	event(1200, 2, LOCK_RELEASES, RW + 12, 2, 0);
	got(1202, 3, RW + 12, 40, 1020);
	expect("2000 rw: 2, 287 ns, at most 182; w30 1 105 w40 1 182 -0 12 r1 180/3 h2 95\n");
}

/* Of readers that have the lock none is its holder, not even one that has waited for it. */
static void test_behind_readers(void **state)
{
	(void)state;
	parks(1000, 3, RW + 12, 40);
	event(1100, 2, LOCK_RELEASES, RW + 12, 2, 0);
	got(1110, 3, RW + 12, 40, 1000);
	parks(1115, 4, RW + 8, 30);
	expect("2000 rw: 1, 110 ns, at most 110; w40 1 110 -0 10 h2 100 g4 since 1115\n");
	event(1200, 3, LOCK_RELEASES, RW + 8, 1, 0);
	got(1205, 4, RW + 8, 30, 1115);
	expect("2000 rw: 2, 200 ns, at most 110; w40 1 110 w30 1 90 -0 15 h2 100 r1 85/3\n");
}

/* Readers that two writers wait for; they came when another writer had the lock. */
static void test_readers_of_two(void **state)
{
	(void)state;
	parks(1000, 2, RW + 8, 30);
	parks(1010, 4, RW + 8, 30);
	event(1050, 9, LOCK_SPUN, RW, 0, 1045);
	event(1100, 1, LOCK_RELEASES, RW + 8, 1, 0);
	got(1105, 2, RW + 8, 30, 1000);
	expect("2000 rw: 1, 105 ns, at most 105; spun 1, 5 ns; w30 1 105 -0 55 r1 50/6 g4 since "
	       "1010 has g2\n");
}

static void add_readers(void *ctx, const struct lock *lock)
{
	uint64_t *sum = ctx;

	for (size_t i = 0; i < lock->held_count; i++)
		*sum += lock->held[i].readers;
}

/* Of a writer that waited while `readers` were told, and then for another one */
static uint64_t readers_of(uint64_t told)
{
	uint64_t sum = 0;

	readers = told;
	parks(1000, 2, RW + 8, 30);
	readers = 3;
	event(1100, 1, LOCK_RELEASES, RW + 8, 1, 0);
	got(1105, 2, RW + 8, 30, 1000);
	locks_each(locks, add_readers, &sum);
	locks_clear(locks);
	return sum;
}

/* A writer waits for one reader at least, though none may be left when they are counted. */
static void test_last_reader(void **state)
{
	(void)state;
	assert_int_equal(readers_of(5), 5);
	assert_int_equal(readers_of(1), 1);
	assert_int_equal(readers_of(0), 1);
}

/* A writer waits for a writer, by the mutex of the RWMutex. */
static void test_writers(void **state)
{
	(void)state;
	parks(1000, 2, RW + 4, 20);
	event(1100, 1, LOCK_UNLOCKS, RW, 1, 0);
	got(1105, 2, RW + 4, 20, 1000);
	expect("2000 rw: 1, 105 ns, at most 105; w20 1 105 -0 5 h1 100\n");
}

/* Semaphores that are no lock's, and locks that nobody is known to wait for. */
static void test_others(void **state)
{
	(void)state;
	parks(1000, 2, 0x3000, IN_GROUP);
	got(1100, 2, 0x3000, IN_GROUP, 1000);
	unlocks(1100, 1, 1);
	event(1100, 1, LOCK_RELEASES, RW + 12, 1, 0);
	expect("");
}

/* After events were lost it is not known who had the lock. */
static void test_lost(void **state)
{
	(void)state;
	parks(1000, 2, MUTEX + 4, 10);
	unlocks(1100, 1, 1);
	lost = 2;
	unlocks(1300, 5, 5);
	lost = 0;
	unlocks(1310, 6, 6);
	got(1320, 2, MUTEX + 4, 10, 1000);
	got(1500, 3, MUTEX + 4, 10, 1400);
	expect("1000: 2, 420 ns, at most 320; w10 2 420<320 -0 10 ?0 300 h1 100 h6 10\n");
}

static bool is_two(void *ctx, struct lock_wait *wait)
{
	(void)ctx;
	return wait->who.id == 2;
}

/* The sums begin anew; what goes on goes on. */
static void test_clear(void **state)
{
	(void)state;
	parks(1000, 2, MUTEX + 4, 10);
	parks(1010, 3, MUTEX + 4, 10);
	parks(1010, 4, RW + 8, 30);
	unlocks(1100, 1, 1);
	got(1100, 3, MUTEX + 4, 10, 1010);
	locks_prune(locks, is_two, NULL);
	locks_clear(locks);
	expect("1000: 0, 0 ns, at most 0; g2 since 1000 has g3\n");
	unlocks(1130, 3, 2);
	got(1130, 2, MUTEX + 4, 10, 1000);
	expect("1000: 1, 130 ns, at most 130; w10 1 130 h1 100 h2 30\n");
}

static void test_room(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		parks(1000 + i, i + 1, 0x4004 + 0x100 * i, 10);
	expect("4000: 0, 0 ns, at most 0; g1 since 1000\n4100: 0, 0 ns, at most 0; g2 since 1001\n"
	       "4200: 0, 0 ns, at most 0; g3 since 1002\n");
	got(1100, 5, 0x4404, 10, 1004);
	event(1100, 6, LOCK_SPUN, 0x4400, 0, 1090);
	event(1101, 7, LOCK_SPUN, 0x4500, 0, 1090);
	assert_int_equal(locks_refused(locks).waits, 1);
	assert_int_equal(locks_refused(locks).unwaited, 2);
}

/* Who lets go of a lock with ever another stack is told apart up to a bound; no time is missing. */
static void test_many_holders(void **state)
{
	enum { MANY = 3000, KNOWN = 1022 };
	char expected[100 + KNOWN * 20], *at = expected;

	(void)state;
	parks(1000, 1, MUTEX + 4, 10);
	for (uint64_t i = 0; i < MANY; i++)
		unlocks(1010 + 10 * i, 2, 100 + i);
	got(1000 + 10 * MANY, 1, MUTEX + 4, 10, 1000);
	at += sprintf(at, "1000: 1, %d ns, at most %d; w10 1 %d ?0 %d", 10 * MANY, 10 * MANY,
		      10 * MANY, 10 * (MANY - KNOWN));
	for (int i = 0; i < KNOWN; i++)
		at += sprintf(at, " h%d 10", 100 + i);
	strcpy(at, "\n");
	expect(expected);
}

/* The same address in another process, and after an execve, is another lock. */
static void test_processes(void **state)
{
	struct lock_event one = {.time_ns = 1, .who = {.id = 1}, .addr = MUTEX + 4, .stack = 10};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		one.who.process.tgid = i == 1;
		one.who.process.exec = i == 2;
		locks_event(locks, &one);
	}
	expect("1000: 0, 0 ns, at most 0; g1 since 1\n1000: 0, 0 ns, at most 0; g1 since 1\n"
	       "1000: 0, 0 ns, at most 0; g1 since 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_convoy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_barging, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late_to_new, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_holder_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_readers_of_two, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unseen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_begins_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_spinning, setup, teardown),
		cmocka_unit_test_setup_teardown(test_found_free, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sleeps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_readers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(test_behind_readers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_writers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_others, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_clear, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_holders, setup, teardown),
		cmocka_unit_test_setup_teardown(test_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_processes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
