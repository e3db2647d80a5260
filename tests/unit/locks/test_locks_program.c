// SPDX-License-Identifier: Apache-2.0
/* golocks's kernel side, run on this side: what is told of who waits for a lock, who gets it, who
 * lets go of it, and what is counted where that does not work. */
#include <stdio.h>

#include "fakegoroutine.h"
#include "unit.h"

#define ATTEMPTS 2
#define RING_PAGES 1
#define STACKS 8

#include "bpf-src/golocks.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { TEXT_MAX = 4096, MUTEX = FAKEGOROUTINE_FREE, SEMA = MUTEX + 4, OTHER = MUTEX + 0x100 };

static char text[TEXT_MAX];

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(8);
	*active.lookup(&zero) = 1;
	for (unsigned n = 1; n < 4; n++) { /* the caller's frame, then one more */
		u64 bp = fakegoroutine_hi(n) - 64;

		fakemem_put(bp, bp + 32);
		fakemem_put(bp + 8, 0x100 * n);
		fakemem_put(bp + 16, 0x111 * n);
		fakemem_put(bp + 40, 0x200 * n);
		fakemem_put(bp + 48, 0x222 * n);
		fakemem_put(fakegoroutine_hi(n) - 96, 0x1000 * n);
	}
	return 0;
}

static void hit(unsigned n, u32 func, enum cookie_kind kind, u64 arg)
{
	fakegoroutine_runs(n, 96);
	regs.bp = fakegoroutine_hi(n) - 64;
	regs.ip = 0x7000 + func;
	regs.ax = arg;
	fakekernel.cookie = cookie_make(func, kind, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

static void call(unsigned n, u32 func, u64 arg)
{
	hit(n, func, COOKIE_CALL, arg);
}

static void ret(unsigned n, u32 func)
{
	hit(n, func, COOKIE_RETURN, 0);
}

/* All events since the last look; a stack by its first frame */
static void expect(const char *wanted)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < fakekernel.event_count; i++) {
		static const char *const kinds[] = {"parks", "got",     "spun",
						    "free",  "unlocks", "releases"};
		const struct lock_event *e = (void *)fakekernel.events[i].data;
		struct stack *stack = stacks.lookup(&e->stack);

		assert_int_equal(fakekernel.events[i].len, sizeof(*e));
		assert_int_equal(e->none, 0);
		at += snprintf(
			text + at, TEXT_MAX - at,
			"%llu g%llu %s %llx begin %llu parked %llu from %llx at %llx p%u f%u "
			"mutex %u readers %u sleeps %u lost %llu words %llx %llx %llx\n",
			e->time_ns, e->who.id, kinds[e->kind], e->addr - MUTEX, e->begin_ns,
			e->parked_ns, stack ? stack->frames[0] : 0, e->probe, e->pid, e->func,
			e->is_mutex, e->readers, e->sleeps, e->lost, e->words[0], e->words[1],
			e->words[2]);
	}
	fakekernel.event_count = 0;
	assert_string_equal(text, wanted);
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

static void expect_loss(u32 which, u64 count)
{
	for (u32 i = 0; i < LOCK_LOSSES; i++)
		if (loss(i) != (i == which ? count : 0))
			fail_msg("loss %u: %llu", i, loss(i));
}

static void test_waits(void **state)
{
	(void)state;
	fakemem_put(MUTEX, 1);
	call(1, LOCK_FUNC_LOCK, MUTEX);
	call(1, LOCK_FUNC_ACQUIRE, SEMA);
	expect("");
	call(1, LOCK_FUNC_QUEUE, 0);
	ret(1, LOCK_FUNC_ACQUIRE);
	call(1, LOCK_FUNC_ACQUIRE, SEMA); /* woken in vain */
	call(1, LOCK_FUNC_QUEUE, 0);
	ret(1, LOCK_FUNC_ACQUIRE);
	ret(1, LOCK_FUNC_LOCK);
	expect("1020 g1 parks 4 begin 1000 parked 1020 from 1000 at 7001 p77 f1 mutex 1 readers 0 "
	       "sleeps 1 lost 0 words 111 222 0\n"
	       "1070 g1 got 4 begin 1000 parked 1020 from 1000 at 7001 p77 f1 mutex 1 readers 0 "
	       "sleeps 2 lost 0 words 111 222 0\n");
	assert_int_equal(attempts_map.count, 0);
	assert_int_equal(notes_map.count, 0);
	assert_int_equal(processes_map.count, 1);
	expect_loss(LOCK_LOSSES, 0);
}

/* Without a wait: by spinning, or it was free at first. */
static void test_spins(void **state)
{
	static const struct {
		u32 state;
		const char *kind;
	} rows[] = {{0, "free"}, {1, "spun"}, {2, "free"}, {4, "spun"}, {8, "free"}, {5, "spun"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char wanted[256];

		begin(state);
		fakemem_put(MUTEX, rows[i].state);
		call(2, LOCK_FUNC_LOCK, MUTEX);
		call(2, LOCK_FUNC_ACQUIRE, SEMA); /* it does not sleep in there */
		ret(2, LOCK_FUNC_ACQUIRE);
		ret(2, LOCK_FUNC_LOCK);
		snprintf(wanted, sizeof(wanted),
			 "1030 g2 %s 0 begin 1000 parked 0 from 0 at 7001 p77 f1 mutex 1 readers 0 "
			 "sleeps 0 lost 0 words 222 444 0\n",
			 rows[i].kind);
		expect(wanted);
	}
}

/* A semaphore that is no mutex's, as an RWMutex's, of which a writer waits for readers */
static void test_semaphores(void **state)
{
	(void)state;
	fakemem_put(OTHER + LOCK_READER_WAIT, 5);
	call(1, LOCK_FUNC_ACQUIRE, OTHER);
	call(1, LOCK_FUNC_QUEUE, 0);
	ret(1, LOCK_FUNC_ACQUIRE);
	call(2, LOCK_FUNC_ACQUIRE, OTHER); /* does not sleep */
	ret(2, LOCK_FUNC_ACQUIRE);
	expect("1010 g1 parks 100 begin 1000 parked 1010 from 1000 at 7001 p77 f1 mutex 0 readers "
	       "5 "
	       "sleeps 1 lost 0 words 111 222 0\n"
	       "1020 g1 got 100 begin 1000 parked 1010 from 1000 at 7001 p77 f1 mutex 0 readers 0 "
	       "sleeps 1 lost 0 words 111 222 0\n");
	/* while it wants a mutex, another semaphore takes that one's place */
	call(1, LOCK_FUNC_LOCK, MUTEX);
	call(1, LOCK_FUNC_ACQUIRE, OTHER);
	ret(1, LOCK_FUNC_ACQUIRE);
	assert_int_equal(attempts_map.count, 0);
	expect_loss(LOCK_LOSSES, 0);
}

static void test_lets_go(void **state)
{
	(void)state;
	call(1, LOCK_FUNC_UNLOCK, MUTEX);
	call(1, LOCK_FUNC_RELEASE, SEMA); /* by unlockSlow */
	call(1, LOCK_FUNC_RELEASE, OTHER);
	call(2, LOCK_FUNC_RELEASE, SEMA);
	expect("1000 g1 unlocks 0 begin 0 parked 0 from 1000 at 7002 p77 f2 mutex 0 readers 0 "
	       "sleeps 0 lost 0 words 0 0 0\n"
	       "1020 g1 releases 100 begin 0 parked 0 from 1000 at 7003 p77 f3 mutex 0 readers 0 "
	       "sleeps 0 lost 0 words 0 0 0\n"
	       "1030 g2 releases 4 begin 0 parked 0 from 2000 at 7003 p77 f3 mutex 0 readers 0 "
	       "sleeps 0 lost 0 words 0 0 0\n");
	expect_loss(LOCK_LOSSES, 0);
}

/* What began before the probes were there */
static void test_before(void **state)
{
	(void)state;
	ret(1, LOCK_FUNC_ACQUIRE);
	call(1, LOCK_FUNC_QUEUE, 0);
	expect_loss(LOCK_LOSSES, 0);
	ret(1, LOCK_FUNC_LOCK);
	expect_loss(LOCK_LOSS_BEFORE, 1);
	call(1, LOCK_FUNC_LOCK, MUTEX);
	call(1, LOCK_FUNC_QUEUE,
	     0); /* not of this mutex: its semaphore was not seen to be asked for */
	expect("");
	call(2, LOCK_FUNC_ACQUIRE, OTHER);
	ret(2, LOCK_FUNC_LOCK);
	expect_loss(LOCK_LOSS_BEFORE, 2);
	expect("");
}

static void fill(void)
{
	call(1, LOCK_FUNC_LOCK, MUTEX);
	call(2, LOCK_FUNC_LOCK, MUTEX);
	expect_loss(LOCK_LOSSES, 0);
}

/* There is no room for who wants a lock: it is told what that was, once it is over. */
static void test_no_room(void **state)
{
	fill();
	call(3, LOCK_FUNC_LOCK, MUTEX);
	call(3, LOCK_FUNC_ACQUIRE, SEMA);
	ret(3, LOCK_FUNC_ACQUIRE);
	expect_loss(LOCK_LOSSES, 0);
	ret(3, LOCK_FUNC_LOCK);
	expect_loss(LOCK_LOSS_ROOM_SPINS, 1);
	begin(state);
	fill();
	call(3, LOCK_FUNC_LOCK, MUTEX);
	call(3, LOCK_FUNC_ACQUIRE, SEMA);
	call(3, LOCK_FUNC_QUEUE, 0);
	call(3, LOCK_FUNC_ACQUIRE, SEMA);
	call(3, LOCK_FUNC_QUEUE, 0);
	ret(3, LOCK_FUNC_LOCK);
	expect_loss(LOCK_LOSS_ROOM_WAITS, 1);
	assert_int_equal(notes_map.count, 0);
	begin(state);
	fill();
	call(3, LOCK_FUNC_ACQUIRE, OTHER);
	ret(3, LOCK_FUNC_ACQUIRE);
	assert_int_equal(notes_map.count, 0);
	expect_loss(LOCK_LOSSES, 0);
	call(3, LOCK_FUNC_ACQUIRE, OTHER);
	call(3, LOCK_FUNC_QUEUE, 0);
	ret(3, LOCK_FUNC_ACQUIRE);
	expect_loss(LOCK_LOSS_ROOM_OTHERS, 1);
	assert_int_equal(notes_map.count, 0);
	expect("");
	begin(state);
	fakekernel.refuses = "processes";
	call(3, LOCK_FUNC_LOCK, MUTEX);
	ret(3, LOCK_FUNC_LOCK);
	expect_loss(LOCK_LOSS_ROOM_SPINS, 1);
	call(3, LOCK_FUNC_ACQUIRE, OTHER);
	call(3, LOCK_FUNC_QUEUE, 0);
	assert_int_equal(loss(LOCK_LOSS_ROOM_OTHERS), 1);
}

/* The ring buffer is full: what was lost is counted by what it is, and told with the next event. */
static void test_full(void **state)
{
	(void)state;
	fakekernel.ring_room = 0;
	call(1, LOCK_FUNC_LOCK, MUTEX);
	ret(1, LOCK_FUNC_LOCK);
	assert_int_equal(loss(LOCK_LOSS_SPINS), 1);
	fakemem_put(MUTEX, 1);
	call(1, LOCK_FUNC_LOCK, MUTEX);
	ret(1, LOCK_FUNC_LOCK);
	expect_loss(LOCK_LOSS_SPINS, 2);
	call(1, LOCK_FUNC_LOCK, MUTEX);
	call(1, LOCK_FUNC_ACQUIRE, SEMA);
	call(1, LOCK_FUNC_QUEUE, 0);
	assert_int_equal(loss(LOCK_LOSS_EVENTS), 1);
	ret(1, LOCK_FUNC_LOCK);
	assert_int_equal(loss(LOCK_LOSS_WAITS), 1);
	call(1, LOCK_FUNC_ACQUIRE, OTHER);
	call(1, LOCK_FUNC_QUEUE, 0);
	ret(1, LOCK_FUNC_ACQUIRE);
	assert_int_equal(loss(LOCK_LOSS_OTHERS), 1);
	call(1, LOCK_FUNC_UNLOCK, MUTEX);
	assert_int_equal(loss(LOCK_LOSS_EVENTS), 3);
	fakekernel.ring_room = 1;
	call(1, LOCK_FUNC_RELEASE, OTHER);
	expect("1120 g1 releases 100 begin 0 parked 0 from 1000 at 7003 p77 f3 mutex 0 readers 0 "
	       "sleeps 0 lost 7 words 0 0 0\n");
}

static void test_no_stack(void **state)
{
	(void)state;
	fakekernel.refuses = "stacks";
	call(1, LOCK_FUNC_RELEASE, OTHER);
	expect_loss(LOCK_LOSS_STACKS, 1);
	expect("1000 g1 releases 100 begin 0 parked 0 from 0 at 7003 p77 f3 mutex 0 readers 0 "
	       "sleeps 0 "
	       "lost 0 words 0 0 0\n");
	fakekernel.refuses = "reading";
	call(2, LOCK_FUNC_RELEASE, OTHER);
	expect_loss(LOCK_LOSS_STACKS, 2);
}

static void test_no_hits(void **state)
{
	u32 zero = 0;

	(void)state;
	*active.lookup(&zero) = 0;
	call(1, LOCK_FUNC_RELEASE, OTHER);
	*active.lookup(&zero) = 1;
	regs.flags = 1;
	hit(1, LOCK_FUNC_RELEASE, COOKIE_CALL_IF_CHECKED, OTHER);
	expect("");
	expect_loss(LOCK_LOSSES, 0);
	fakegoroutine_runs(1, 96);
	regs.r14 = 0x10;
	fakekernel.cookie = cookie_make(LOCK_FUNC_LOCK, COOKIE_CALL, 0, 0);
	on_probe(&regs);
	expect_loss(LOCK_LOSS_UNREADABLE, 1);
	fakekernel.cookie = cookie_make(LOCK_FUNC_LOCK, COOKIE_RETURN, 0, 0);
	on_probe(&regs);
	expect_loss(LOCK_LOSS_UNREADABLE, 2);
}

/* The reader is woken when an eighth of the buffer is new. */
static void test_wakes(void **state)
{
	const u64 each = sizeof(struct lock_event), enough = 4096 / 8;
	u64 sent_bytes = 0;

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		call(1, LOCK_FUNC_RELEASE, OTHER);
		sent_bytes += each;
		assert_int_equal(fakekernel.events[i].flags,
				 sent_bytes >= enough ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
		if (sent_bytes >= enough)
			sent_bytes = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_waits, begin),
		cmocka_unit_test_setup(test_spins, begin),
		cmocka_unit_test_setup(test_semaphores, begin),
		cmocka_unit_test_setup(test_lets_go, begin),
		cmocka_unit_test_setup(test_before, begin),
		cmocka_unit_test_setup(test_no_room, begin),
		cmocka_unit_test_setup(test_full, begin),
		cmocka_unit_test_setup(test_no_stack, begin),
		cmocka_unit_test_setup(test_no_hits, begin),
		cmocka_unit_test_setup(test_wakes, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
