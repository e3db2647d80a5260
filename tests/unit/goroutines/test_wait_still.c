// SPDX-License-Identifier: Apache-2.0
/* Whether goroutines have waited all the time, in a program that is made up; pauses take no time,
 * but the program goes on in them. */
#include <stdlib.h>
#include <time.h>

#include "base/errmsg.h"
#include "fakemem.h"
#include "files/process_stop.h"
#include "frames/unwinder.h"
#include "goroutines/snapshot.h"
#include "goroutines/wait_still.h"
#include "unit.h"

enum {
	ALLGS = FAKEMEM_BASE,
	LIST = FAKEMEM_BASE + 0x100,
	SUDOGS = FAKEMEM_BASE + 0x800,
	MUTEX = FAKEMEM_BASE + 0xf00,
	SEMAPHORE = MUTEX + 4,
	G = FAKEMEM_BASE + 0x1000,
	STACKS = FAKEMEM_BASE + 0x8000,
	SEQ = 189,
	COUNT = 2, /* the first waits for the mutex, the second for a channel */
	LOOKS = 6,
};

static struct wait_layout layout;
static struct snapshot_source from;
static struct snapshot snap;
static unsigned pauses, change_at;
static void (*change)(void); /* in that pause */

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): names of libc */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)left;
	assert_int_equal(time->tv_sec, 0);
	assert_int_equal(time->tv_nsec, 50000000);
	if (++pauses == change_at)
		change();
	return 0;
}

static struct frame_rule rule(void *ctx, uint64_t pc)
{
	(void)ctx;
	return (struct frame_rule){.sp_delta = 8, .kind = pc == 1 ? FRAME_FIRST : FRAME_PLAIN};
}

static uint64_t g_at(size_t i)
{
	return G + i * 0x200;
}

static uint64_t sudog_at(size_t i)
{
	return SUDOGS + i * 0x80;
}

static void put_g(size_t i)
{
	uint64_t stack = STACKS + i * 0x1000;

	fakemem_put(LIST + i * 8, g_at(i));
	fakemem_put(g_at(i), stack);
	fakemem_put(g_at(i) + 8, stack + 0x1000);
	fakemem_put(g_at(i) + 56, stack + 0x800);
	fakemem_put(g_at(i) + 64, 0x1000);
	fakemem_put(g_at(i) + 144, GOROUTINE_WAITING);
	fakemem_put(g_at(i) + 152, i + 1);
	fakemem_put(g_at(i) + layout.g_waiting, sudog_at(i));
	fakemem_put(stack + 0x808, 1);
	fakemem_put(sudog_at(i), g_at(i));
	fakemem_put(sudog_at(i) + layout.sudog_elem, SEMAPHORE);
	fakemem_put(sudog_at(i) + layout.sudog_channel, 0x4000);
}

static int setup(void **state)
{
	struct errmsg err = {0};

	(void)state;
	fakemem_begin(0x10000);
	layout = wait_layout(ARCH_AMD64, &fakemem_layout, 25, true);
	fakemem_put(ALLGS, LIST);
	fakemem_put(ALLGS + 8, COUNT);
	fakemem_put(ALLGS + 16, COUNT);
	fakemem_put(MUTEX, 3); /* locked, and a waiter is woken */
	for (size_t i = 0; i < COUNT; i++)
		put_g(i);
	from = (struct snapshot_source){.mem = &fakemem_memory,
					.rt = &fakemem_layout,
					.allgs = ALLGS,
					.rule = rule,
					.waits = &layout,
					.g_tracking_seq = SEQ};
	snap = (struct snapshot){0};
	assert_int_equal(snapshot_take(&from, &snap, &err), 0);
	assert_int_equal(snap.count, COUNT);
	assert_int_equal(snap.waits.count, COUNT);
	snap.waits.all[snap.all[0].waits] = (struct wait){
		.object = MUTEX, .sudog = sudog_at(0), .semaphore = SEMAPHORE, .kind = WAIT_MUTEX};
	pauses = change_at = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	snapshot_free(&snap);
	return 0;
}

static void expect(bool mutex, bool channel, unsigned looks)
{
	static const uint32_t both[COUNT] = {0, 1};
	bool still[COUNT] = {!mutex, !channel};

	wait_still_look(&from, &snap, both, COUNT, still);
	assert_int_equal(still[0], mutex);
	assert_int_equal(still[1], channel);
	assert_int_equal(pauses, looks);
}

static void unlock(void)
{
	fakemem_put(MUTEX, 2);
}

static void run(void)
{
	fakemem.bytes[g_at(0) + SEQ - FAKEMEM_BASE]++;
}

static void run_both(void)
{
	run();
	fakemem.bytes[g_at(1) + SEQ - FAKEMEM_BASE]++;
}

static void use_other_sudog(void)
{
	fakemem_put(sudog_at(0), g_at(1));
	fakemem_put(sudog_at(1), g_at(0));
}

static void use_other_semaphore(void)
{
	for (size_t i = 0; i < COUNT; i++)
		fakemem_put(sudog_at(i) + layout.sudog_elem, SEMAPHORE + 8);
}

static void wake(void)
{
	fakemem_put(g_at(1) + 144, GOROUTINE_RUNNABLE);
}

static void test_still(void **state)
{
	(void)state;
	expect(true, true, LOOKS);
}

/* What happens in each of the pauses; a channel's sudog is not looked at. */
static void test_changes(void **state)
{
	static const struct {
		void (*change)(void);
		bool mutex, channel;
	} rows[] = {
		{unlock, false, true},
		{run, false, true},
		{use_other_sudog, false, true},
		{use_other_semaphore, false, true},
		{wake, true, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (unsigned at = 1; at <= LOOKS; at++) {
			teardown(state);
			setup(state);
			change = rows[i].change;
			change_at = at;
			expect(rows[i].mutex, rows[i].channel, LOOKS);
		}
}

/* Where none is left, it is not looked again. */
static void test_none_left(void **state)
{
	(void)state;
	change = run_both;
	change_at = 2;
	expect(false, false, 2);
}

/* What has changed since the snapshot */
static void test_before(void **state)
{
	(void)state;
	unlock();
	wake();
	expect(false, false, 1);
}

/* A mutex that cannot be read, and one whose waiter has no sudog */
static void test_unreadable(void **state)
{
	struct wait *wait = &snap.waits.all[snap.all[0].waits];

	(void)state;
	wait->sudog = 0;
	use_other_sudog();
	expect(true, true, LOOKS);
	wait->object = FAKEMEM_BASE - 8;
	pauses = 0;
	expect(false, true, LOOKS);
}

static bool no_registers(const void *ctx, pid_t tid, struct process_registers *out)
{
	(void)ctx;
	(void)tid;
	*out = (struct process_registers){0};
	return false;
}

static void test_stopped(void **state)
{
	(void)state;
	from.registers = no_registers;
	unlock();
	expect(true, true, 0);
}

static void test_nobody(void **state)
{
	bool still = false;

	(void)state;
	wait_still_look(&from, &snap, NULL, 0, &still);
	assert_false(still);
	assert_int_equal(pauses, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_still, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_none_left, setup, teardown),
		cmocka_unit_test_setup_teardown(test_before, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unreadable, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
