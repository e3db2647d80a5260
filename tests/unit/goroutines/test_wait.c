// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "waits/wait_holders_internal.h"
#include "waits/wait_objects.h"
#include "waits/wait_semaphores.h"
#include "goroutines/wait_internal.h"
#include "waits/wait_circles_internal.h"
#include "waits/wait_targets_internal.h"
#include "fakemem.h"
#include "unit.h"

enum {
	BASE = FAKEMEM_BASE,
	SIZE = 0x20000,
	G = BASE,
	SUDOGS = BASE + 0x4000,
	TABLE = BASE + 0x8000
};
enum {
	WRONG = BASE + 0xc000, /* what looks like the table, but for what is in it */
	CHANNEL = BASE + 0x18000,
	POLL = BASE + 0x1c000,
	ROOTS = 251,
	CASES = 3
};

/* A stack's words are looked at only if they may be where mmap puts things. */
#define MAPPED 0x7f0000000000

static uint64_t sudog_at(size_t i)
{
	return SUDOGS + i * 0x80;
}

/* Go 1.25's */
static void put_sudog(size_t i, uint64_t g, uint64_t elem, uint64_t link, uint64_t channel)
{
	fakemem_put(sudog_at(i), g);
	fakemem_put(sudog_at(i) + 24, elem);
	fakemem_put(sudog_at(i) + 64, link);
	fakemem_put(sudog_at(i) + 80, channel);
}

static int setup(void **state)
{
	(void)state;
	fakemem_begin(SIZE);
	fakemem.again = MAPPED;
	return 0;
}

static struct waits read_waits(int release, const struct wait_source *from)
{
	struct wait_layout waits_layout = wait_layout(ARCH_AMD64, &fakemem_layout, release, true);
	struct waits waits = {0};

	wait_read(&fakemem_memory, &waits_layout, from, &waits);
	return waits;
}

static void test_select(void **state)
{
	struct wait_source from = {.g = G, .waiting = sudog_at(0)};

	(void)state;
	for (size_t i = 0; i < CASES; i++)
		put_sudog(i, G, 0, i + 1 < CASES ? sudog_at(i + 1) : 0, CHANNEL + i * 0x100);
	struct waits waits = read_waits(25, &from);

	assert_int_equal(waits.count, CASES);
	for (size_t i = 0; i < CASES; i++) {
		assert_int_equal(waits.all[i].kind, WAIT_CHANNEL);
		assert_int_equal(waits.all[i].object, CHANNEL + i * 0x100);
		assert_int_equal(waits.all[i].sudog, sudog_at(i));
	}
	free(waits.all);
}

static void test_select_circle(void **state)
{
	struct wait_source from = {.g = G, .waiting = sudog_at(0)};

	(void)state;
	put_sudog(0, G, 0, sudog_at(1), CHANNEL);
	put_sudog(1, G, 0, sudog_at(0), CHANNEL);
	struct waits waits = read_waits(25, &from);

	assert_int_equal(waits.count, WAIT_CASES_MAX);
	assert_true(fakemem.reads <= WAIT_CASES_MAX);
	free(waits.all);
}

/* A goroutine that is read again and again, since it changes, is not read for ever. */
static void test_budget(void **state)
{
	struct wait_layout waits_layout = wait_layout(ARCH_AMD64, &fakemem_layout, 25, true);
	struct wait_source from = {.g = G, .waiting = sudog_at(0)};
	struct waits waits = {0};

	(void)state;
	put_sudog(0, G, 0, sudog_at(0), CHANNEL);
	for (size_t i = 0; i < 2 * WAIT_READS_MAX / WAIT_CASES_MAX; i++) {
		waits.count = 0;
		wait_read(&fakemem_memory, &waits_layout, &from, &waits);
	}
	assert_int_equal(fakemem.reads, WAIT_READS_MAX);
	free(waits.all);
}

/* It has been given to another goroutine; or there is none. */
static void test_others(void **state)
{
	struct wait_source from = {.g = G, .waiting = sudog_at(0)};

	(void)state;
	put_sudog(0, G + 0x200, 0, 0, CHANNEL);
	assert_int_equal(read_waits(25, &from).count, 0);
	from.waiting = 8;
	assert_int_equal(read_waits(25, &from).count, 0);
	from.waiting = UINT64_MAX - 7;
	assert_int_equal(read_waits(25, &from).count, 0);
}

/* From Go 1.26 on, what is waited for is in two words each, of which the second counts. */
static void test_wide(void **state)
{
	struct wait_source from = {.g = G, .waiting = sudog_at(0)};

	(void)state;
	fakemem_put(sudog_at(0), G);
	fakemem_put(sudog_at(0) + 32, 0x5008);
	struct waits waits = read_waits(26, &from);

	assert_int_equal(waits.count, 1);
	assert_int_equal(waits.all[0].kind, WAIT_SEMAPHORE);
	assert_int_equal(waits.all[0].object, 0x5008);
	free(waits.all);
}

/* --- polling --- */

static void put_poll(uint64_t reader, uint64_t writer)
{
	fakemem_put(POLL + 8, 17); /* fd */
	fakemem_put(POLL + 16, 5); /* fdseq */
	fakemem_put(POLL + 32, reader);
	fakemem_put(POLL + 40, writer);
	fakemem_put(POLL + 200, MAPPED + POLL); /* self */
}

static void assert_poll(uint64_t word, size_t count, bool writes)
{
	uint64_t stack[4] = {0, word, 1, 2};
	struct wait_source from = {
		.g = G, .polls = true, .stack = (uint8_t *)stack, .stack_len = sizeof(stack)};
	struct waits waits = read_waits(27, &from);

	assert_int_equal(waits.count, count);
	if (count) {
		assert_int_equal(waits.all[0].kind, WAIT_FD);
		assert_int_equal(waits.all[0].object, 17);
		assert_int_equal(waits.all[0].writes, writes);
	}
	free(waits.all);
}

/* The stack has the address of the pollDesc, of its field rg, or of wg. */
static void test_poll(void **state)
{
	static const unsigned offs[] = {0, 32, 40};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		put_poll(G, 0);
		assert_poll(MAPPED + POLL + offs[i], 1, false);
		put_poll(0, G);
		assert_poll(MAPPED + POLL + offs[i], 1, true);
		put_poll(G + 0x200, 0);
		assert_poll(MAPPED + POLL + offs[i], 0, false);
	}
	put_poll(G, 0);
	fakemem_put(POLL + 200, 0); /* something else that has the goroutine's address */
	assert_poll(MAPPED + POLL, 0, false);
	put_poll(G, 0);
	fakemem_put(POLL + 8, 1ULL << 40); /* no descriptor */
	assert_poll(MAPPED + POLL, 0, false);
	assert_poll(UINT64_MAX, 0, false);
	assert_poll(MAPPED + 1, 0, false);
}

/* --- semaphores --- */

static struct snapshot make_snapshot(size_t count)
{
	struct snapshot snap = {.count = count, .all = mem_zalloc(count, sizeof(*snap.all))};

	snap.stacks = snapshot_stacks_new();
	for (size_t i = 0; i < count; i++) {
		snap.all[i] = (struct goroutine){.goid = i + 1,
						 .addr = G + i * 0x200,
						 .status = GOROUTINE_WAITING,
						 .sp = 0x100};
		fakemem_put(G + i * 0x200 + 152, i + 1);
		fakemem_put(G + i * 0x200 + 144, GOROUTINE_WAITING);
		fakemem_put(G + i * 0x200 + 56, 0x100);
	}
	return snap;
}

static void put_tree(uint64_t semaphore, uint64_t sudog)
{
	fakemem_put(TABLE + (semaphore >> 3) % ROOTS * 64 + 8, sudog);
}

static void find_semaphores(struct snapshot *snap)
{
	static const uint64_t tables[] = {8, WRONG, TABLE};
	struct snapshot_source from = {.mem = &fakemem_memory, .rt = &fakemem_layout};

	wait_semaphores(&from, tables, 3, snap);
}

static uint64_t semaphore_of(const struct snapshot *snap, size_t i)
{
	const struct goroutine *g = &snap->all[i];

	return g->wait_count == 1 ? snap->waits.all[g->waits].object : 0;
}

/* Two wait for one, one for another with the same place in the table, and one for another. */
static void test_semaphores(void **state)
{
	const uint64_t one = 0x5004, same = 0x5004 + 8 * ROOTS, other = 0x6000;
	struct snapshot snap = make_snapshot(5);

	(void)state;
	put_tree(one, sudog_at(0));
	put_sudog(0, G, one, sudog_at(1), 0);
	put_sudog(1, G + 0x200, one, 0, 0);
	fakemem_put(sudog_at(0) + 8, sudog_at(2));
	put_sudog(2, G + 0x400, same, 0, 0);
	fakemem_put(WRONG + 8, sudog_at(4));
	put_sudog(4, G, one, 0, 0);
	put_tree(other, sudog_at(3));
	put_sudog(3, G + 0x600, other, 0, 0);
	find_semaphores(&snap);
	assert_int_equal(semaphore_of(&snap, 0), one);
	assert_int_equal(semaphore_of(&snap, 1), one);
	assert_int_equal(semaphore_of(&snap, 2), same);
	assert_int_equal(semaphore_of(&snap, 3), other);
	assert_int_equal(semaphore_of(&snap, 4), 0);
	snapshot_free(&snap);
}

/* It has gone on since it was read. */
static void test_semaphore_moved(void **state)
{
	struct snapshot snap = make_snapshot(1);

	(void)state;
	put_tree(0x5000, sudog_at(0));
	put_sudog(0, G, 0x5000, 0, 0);
	fakemem_put(G + 56, 0x108);
	find_semaphores(&snap);
	assert_int_equal(semaphore_of(&snap, 0), 0);
	snapshot_free(&snap);
}

/* Trees and lists that lead back to themselves end, sometime. */
static void test_semaphore_circles(void **state)
{
	struct snapshot snap = make_snapshot(2);

	(void)state;
	put_tree(0x5000, sudog_at(0));
	put_sudog(0, G, 0x5000, sudog_at(1), 0);
	put_sudog(1, G + 0x200, 0x5000, sudog_at(0), 0);
	fakemem_put(sudog_at(0) + 8, sudog_at(0));
	fakemem_put(sudog_at(0) + 16, sudog_at(1));
	fakemem_put(sudog_at(1) + 16, sudog_at(0));
	find_semaphores(&snap);
	assert_int_equal(semaphore_of(&snap, 0), 0x5000);
	assert_int_equal(semaphore_of(&snap, 1), 0x5000);
	assert_true(fakemem.reads < 1 << 22);
	snapshot_free(&snap);
}

/* --- channels and locks --- */

/* Queues that lead back to themselves; a channel that is not there. */
static void test_queue_circle(void **state)
{
	struct wait_layout waits_layout = wait_layout(ARCH_AMD64, &fakemem_layout, 25, true);
	struct snapshot_source from = {
		.mem = &fakemem_memory, .rt = &fakemem_layout, .waits = &waits_layout};
	struct snapshot snap = make_snapshot(2);

	(void)state;
	fakemem_put(CHANNEL + 40 + 24, sudog_at(0));
	fakemem_put(sudog_at(0) + 8, sudog_at(0));
	snap.waits.all = mem_zalloc(2, sizeof(*snap.waits.all));
	snap.waits.count = 2;
	snap.waits.all[0] =
		(struct wait){.kind = WAIT_CHANNEL, .object = CHANNEL, .sudog = sudog_at(0)};
	snap.waits.all[1] = (struct wait){.kind = WAIT_CHANNEL, .object = 16, .sudog = sudog_at(1)};
	snap.all[0].wait_count = 2;
	struct wait_objects *objects = wait_objects_new(&from, &snap, NULL, NULL);

	assert_true(wait_objects_channel(objects, &snap.waits.all[0])->is_read);
	assert_false(wait_objects_channel(objects, &snap.waits.all[1])->is_read);
	assert_int_equal(wait_objects_direction(objects, &snap.all[0], &snap.waits.all[0]),
			 WAIT_RECEIVES);
	assert_int_equal(wait_objects_direction(objects, &snap.all[0], &snap.waits.all[1]),
			 WAIT_UNKNOWN);
	assert_true(fakemem.reads < 1 << 22);
	wait_objects_free(objects);
	snapshot_free(&snap);
}

/* Goroutines that wait for a target each, and who may release it. */
#define POINTS CANDIDATE_POINTS
#define RELEASES CANDIDATE_RELEASES

struct circle_case {
	const char *what;
	uint8_t kinds[5]; /* of what each goroutine waits for; WAIT_TIMER: it sleeps */
	struct wait_candidate found[8];
	size_t count;
	uint32_t next[5];
	bool perhaps;
};

#define NO WAIT_NOBODY

static const struct circle_case circle_cases[] = {
	{"two locks, and one who waits for the first",
	 {WAIT_MUTEX, WAIT_MUTEX, WAIT_MUTEX},
	 {{0, 1, RELEASES}, {1, 0, RELEASES}, {2, 0, RELEASES}},
	 3,
	 {1, 0, NO, NO, NO},
	 false},
	{"a holder is known, main only has the pointers",
	 {WAIT_MUTEX, WAIT_MUTEX, WAIT_TIMER},
	 {{0, 1, RELEASES}, {0, 2, POINTS}, {1, 0, RELEASES}, {1, 2, POINTS}},
	 4,
	 {1, 0, NO, NO, NO},
	 false},
	{"no holder is known, the others sleep",
	 {WAIT_MUTEX, WAIT_MUTEX, WAIT_TIMER},
	 {{0, 1, POINTS}, {0, 2, POINTS}, {1, 0, POINTS}, {1, 2, POINTS}},
	 4,
	 {1, 0, NO, NO, NO},
	 true},
	{"no holder is known, another goes on",
	 {WAIT_MUTEX, WAIT_MUTEX, WAIT_FD},
	 {{0, 1, POINTS}, {0, 2, POINTS}, {1, 0, POINTS}},
	 3,
	 {NO, NO, NO, NO, NO},
	 false},
	{"the holder goes on",
	 {WAIT_MUTEX, WAIT_MUTEX, WAIT_FD},
	 {{0, 2, RELEASES}, {0, 1, POINTS}, {1, 0, RELEASES}},
	 3,
	 {NO, NO, NO, NO, NO},
	 false},
	{"one reader of two waits in the circle",
	 {WAIT_RWMUTEX, WAIT_MUTEX, WAIT_FD},
	 {{0, 1, RELEASES}, {0, 2, RELEASES}, {1, 0, RELEASES}},
	 3,
	 {1, 0, NO, NO, NO},
	 false},
	{"a channel that another serves",
	 {WAIT_CHANNEL, WAIT_MUTEX, WAIT_FD},
	 {{0, 1, RELEASES}, {0, 2, POINTS}, {1, 0, RELEASES}},
	 3,
	 {NO, NO, NO, NO, NO},
	 false},
	{"a channel that nobody is seen to send to",
	 {WAIT_CHANNEL, WAIT_MUTEX},
	 {{0, 1, POINTS}, {1, 0, RELEASES}},
	 2,
	 {NO, NO, NO, NO, NO},
	 false},
	{"a channel, a group and a lock",
	 {WAIT_CHANNEL, WAIT_WAITGROUP, WAIT_MUTEX, WAIT_FD},
	 {{0, 1, RELEASES}, {1, 2, RELEASES}, {1, 3, RELEASES}, {2, 0, RELEASES}},
	 4,
	 {1, 2, 0, NO, NO},
	 false},
	{"the likeliest of two leads out, the other round",
	 {WAIT_MUTEX, WAIT_MUTEX, WAIT_MUTEX, WAIT_MUTEX},
	 {{0, 1, POINTS}, {0, 2, POINTS}, {1, 3, RELEASES}, {2, 0, RELEASES}, {3, 1, RELEASES}},
	 5,
	 {2, 3, 0, 1, NO},
	 true},
};

static void find_circles(const struct circle_case *one, struct wait_circle_step *steps)
{
	struct snapshot snap = make_snapshot(5);
	struct wait_target all[5];
	uint32_t of[5];
	size_t first[6];
	struct wait_targets targets = {.all = all, .count = 5, .of = of};
	struct wait_candidate found[8];
	struct wait_candidates candidates = {.all = found, .count = one->count, .first = first};
	struct wait_holders_source source = {.snap = &snap, .targets = &targets};

	memcpy(found, one->found, sizeof(found));
	snap.waits.all = mem_zalloc(5, sizeof(*snap.waits.all));
	for (uint32_t i = 0; i < 5; i++) {
		bool waits = one->kinds[i] != WAIT_TIMER && one->kinds[i] != WAIT_FD;

		snap.all[i].waits = i;
		snap.all[i].wait_count = one->kinds[i] != 0;
		snap.waits.all[i].kind = one->kinds[i];
		all[i] = (struct wait_target){.kind = one->kinds[i], .waiter = i};
		of[i] = waits ? i : WAIT_NO_TARGET;
	}
	for (size_t i = 0, at = 0; i < 6; i++) {
		while (at < one->count && found[at].target < i)
			at++;
		first[i] = at;
	}
	wait_circles_find(&source, &candidates, steps);
	snapshot_free(&snap);
}

static void test_circles(void **state)
{
	(void)state;
	for (size_t n = 0; n < sizeof(circle_cases) / sizeof(*circle_cases); n++) {
		const struct circle_case *one = &circle_cases[n];
		struct wait_circle_step steps[5];
		bool perhaps = false;

		setup(state);
		find_circles(one, steps);
		for (size_t i = 0; i < 5; i++) {
			if (steps[i].next != one->next[i])
				fail_msg("%s: %zu waits for %u", one->what, i, steps[i].next);
			perhaps |= steps[i].next != WAIT_NOBODY && steps[i].how == CIRCLE_PERHAPS;
		}
		if (perhaps != one->perhaps)
			fail_msg("%s: perhaps %d", one->what, perhaps);
	}
}

/* Runtime/netpoll.go, struct pollDesc, of these releases: rg and wg, who reads and who writes */
static void test_poll_layout(void **state)
{
	static const struct {
		int release;
		uint32_t reader, writer;
	} rows[] = {{15, 40, 136}, {17, 40, 136}, {18, 24, 32},
		    {20, 24, 32},  {21, 32, 40},  {27, 32, 40}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct wait_layout got =
			wait_layout(ARCH_AMD64, &fakemem_layout, rows[i].release, true);

		assert_int_equal(got.poll_reader, rows[i].reader);
		assert_int_equal(got.poll_writer, rows[i].writer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_poll_layout),
		cmocka_unit_test_setup(test_select, setup),
		cmocka_unit_test_setup(test_select_circle, setup),
		cmocka_unit_test_setup(test_budget, setup),
		cmocka_unit_test_setup(test_others, setup),
		cmocka_unit_test_setup(test_wide, setup),
		cmocka_unit_test_setup(test_poll, setup),
		cmocka_unit_test_setup(test_semaphores, setup),
		cmocka_unit_test_setup(test_semaphore_moved, setup),
		cmocka_unit_test_setup(test_semaphore_circles, setup),
		cmocka_unit_test_setup(test_queue_circle, setup),
		cmocka_unit_test_setup(test_circles, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
