// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_stacks.h"
#include "goroutines/wait_holders.h"
#include "goroutines/wait_objects.h"
#include "goroutines/wait_semaphores.h"

enum { BASE = 0x10000, SIZE = 0x20000, G = BASE, SUDOGS = BASE + 0x4000, TABLE = BASE + 0x8000 };
enum {
	WRONG = BASE + 0xc000, /* what looks like the table, but for what is in it */
	CHANNEL = BASE + 0x18000,
	POLL = BASE + 0x1c000,
	ROOTS = 251,
	CASES = 3
};

/* A stack's words are looked at only if they may be where mmap puts things. */
#define MAPPED 0x7f0000000000

static uint8_t bytes[SIZE];
static size_t reads;

static bool fake_read(void *ctx, uint64_t addr, void *out, size_t len)
{
	(void)ctx;
	reads++;
	if (addr >= MAPPED)
		addr -= MAPPED;
	if (addr < BASE || len > SIZE || addr - BASE > SIZE - len)
		return false;
	memcpy(out, bytes + (addr - BASE), len);
	return true;
}

static const struct memory mem = {fake_read, NULL};
static const struct goruntime layout = {.g_stack_hi = 8,
					.g_m = 48,
					.g_sched_sp = 56,
					.g_goid = 152,
					.g_gopc = 288,
					.g_status = 144,
					.g_waitreason = 176,
					.g_waitsince = 168,
					.g_syscall_sp = 104};

static void put(uint64_t addr, uint64_t value)
{
	memcpy(bytes + (addr - BASE), &value, sizeof(value));
}

static uint64_t sudog_at(size_t i)
{
	return SUDOGS + i * 0x80;
}

/* Go 1.25's */
static void put_sudog(size_t i, uint64_t g, uint64_t elem, uint64_t link, uint64_t channel)
{
	put(sudog_at(i), g);
	put(sudog_at(i) + 24, elem);
	put(sudog_at(i) + 64, link);
	put(sudog_at(i) + 80, channel);
}

static int setup(void **state)
{
	(void)state;
	memset(bytes, 0, sizeof(bytes));
	reads = 0;
	return 0;
}

static struct waits read_waits(int release, const struct wait_source *from)
{
	struct wait_layout waits_layout = wait_layout(&layout, release, true);
	struct waits waits = {0};

	wait_read(&mem, &waits_layout, from, &waits);
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
	assert_true(reads <= WAIT_CASES_MAX);
	free(waits.all);
}

/* A goroutine that is read again and again, since it changes, is not read for ever. */
static void test_budget(void **state)
{
	struct wait_layout waits_layout = wait_layout(&layout, 25, true);
	struct wait_source from = {.g = G, .waiting = sudog_at(0)};
	struct waits waits = {0};

	(void)state;
	put_sudog(0, G, 0, sudog_at(0), CHANNEL);
	for (size_t i = 0; i < 2 * WAIT_READS_MAX / WAIT_CASES_MAX; i++) {
		waits.count = 0;
		wait_read(&mem, &waits_layout, &from, &waits);
	}
	assert_int_equal(reads, WAIT_READS_MAX);
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
	put(sudog_at(0), G);
	put(sudog_at(0) + 32, 0x5008);
	struct waits waits = read_waits(26, &from);

	assert_int_equal(waits.count, 1);
	assert_int_equal(waits.all[0].kind, WAIT_SEMAPHORE);
	assert_int_equal(waits.all[0].object, 0x5008);
	free(waits.all);
}

/* --- polling --- */

static void put_poll(uint64_t reader, uint64_t writer)
{
	put(POLL + 8, 17); /* fd */
	put(POLL + 16, 5); /* fdseq */
	put(POLL + 32, reader);
	put(POLL + 40, writer);
	put(POLL + 200, MAPPED + POLL); /* self */
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
	put(POLL + 200, 0); /* something else that has the goroutine's address */
	assert_poll(MAPPED + POLL, 0, false);
	put_poll(G, 0);
	put(POLL + 8, 1ULL << 40); /* no descriptor */
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
		put(G + i * 0x200 + 152, i + 1);
		put(G + i * 0x200 + 144, GOROUTINE_WAITING);
		put(G + i * 0x200 + 56, 0x100);
	}
	return snap;
}

static void put_tree(uint64_t semaphore, uint64_t sudog)
{
	put(TABLE + (semaphore >> 3) % ROOTS * 64 + 8, sudog);
}

static void find_semaphores(struct snapshot *snap)
{
	static const uint64_t tables[] = {8, WRONG, TABLE};
	struct snapshot_source from = {.mem = &mem, .rt = &layout};

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
	put(sudog_at(0) + 8, sudog_at(2));
	put_sudog(2, G + 0x400, same, 0, 0);
	put(WRONG + 8, sudog_at(4));
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
	put(G + 56, 0x108);
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
	put(sudog_at(0) + 8, sudog_at(0));
	put(sudog_at(0) + 16, sudog_at(1));
	put(sudog_at(1) + 16, sudog_at(0));
	find_semaphores(&snap);
	assert_int_equal(semaphore_of(&snap, 0), 0x5000);
	assert_int_equal(semaphore_of(&snap, 1), 0x5000);
	assert_true(reads < 1 << 22);
	snapshot_free(&snap);
}

/* --- channels and locks --- */

/* Queues that lead back to themselves; a channel that is not there. */
static void test_queue_circle(void **state)
{
	struct wait_layout waits_layout = wait_layout(&layout, 25, true);
	struct snapshot_source from = {.mem = &mem, .rt = &layout, .waits = &waits_layout};
	struct snapshot snap = make_snapshot(2);

	(void)state;
	put(CHANNEL + 40 + 24, sudog_at(0));
	put(sudog_at(0) + 8, sudog_at(0));
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
	assert_true(reads < 1 << 22);
	wait_objects_free(objects);
	snapshot_free(&snap);
}

/* 1 waits for 2, which waits for 3, and 3 for 2; 4 waits for what two may hold. */
static void test_deadlock(void **state)
{
	struct wait_lock locks[] = {{.addr = 0x100, .holders = {2}, .holder_count = 1},
				    {.addr = 0x200, .holders = {3}, .holder_count = 1},
				    {.addr = 0x300, .holders = {2}, .holder_count = 1},
				    {.addr = 0x400, .holders = {2, 3}, .holder_count = 2}};
	struct snapshot snap = make_snapshot(4);
	uint32_t next[4];
	struct index index = {0};

	(void)state;
	snap.waits.all = mem_zalloc(4, sizeof(*snap.waits.all));
	snap.waits.count = 4;
	for (size_t i = 0; i < 4; i++) {
		index_add(&index, index_hash(0, locks[i].addr));
		snap.waits.all[i] = (struct wait){.kind = WAIT_MUTEX, .object = locks[i].addr};
		snap.all[i].waits = i;
		snap.all[i].wait_count = 1;
	}
	wait_holders_circles(&snap, locks, &index, next);
	assert_memory_equal(next, ((uint32_t[]){WAIT_NOBODY, 2, 1, WAIT_NOBODY}), sizeof(next));
	locks[2].holder_count = 2; /* another may unlock it */
	wait_holders_circles(&snap, locks, &index, next);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(next[i], WAIT_NOBODY);
	index_free(&index);
	snapshot_free(&snap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		cmocka_unit_test_setup(test_deadlock, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
