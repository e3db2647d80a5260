// SPDX-License-Identifier: Apache-2.0
/* The kernel side of gorunqlat --slower, run on this side: which waits for a processor are told,
 * and who had it meanwhile. */
#include "fakegoroutine.h"
#include "unit.h"

#define GOROUTINES 3
#define MIN_NS 50
#define RING_PAGES 1

#include "bpf-src/runqslower.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { P = FAKEGOROUTINE_FREE, IDLE = 0, SYSCALL = 3, DEAD = 6 };

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(8);
	*active.lookup(&zero) = 1;
	for (unsigned n = 1; n <= 8; n++) {
		fakemem_put(fakegoroutine_m(n) + M_P, P + n % 2); /* two processors */
		fakemem_put(fakegoroutine_g(n) + G_GOPC + 16, 0x9000 + n);
		fakemem_put(fakegoroutine_g(n) + GOID_OFF, 100 + n);
	}
	return 0;
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

/* On a thread of processor n % 2, at this time */
static void change_at(u64 ns, unsigned thread, unsigned n, u32 from, u32 to)
{
	fakekernel.ns = ns;
	fakegoroutine_runs(thread, 96);
	regs.ip = 0x7777;
	regs.ax = fakegoroutine_g(n);
	regs.bx = from | 0xffULL << 32; /* the upper halves are undefined */
	regs.cx = to | 0xffULL << 32;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 0, 0);
	fakekernel.cpu = thread;
	assert_int_equal(on_probe(&regs), 0);
}

static const struct runq_slow *event(size_t count)
{
	assert_int_equal(fakekernel.event_count, count);
	assert_int_equal(fakekernel.events[count - 1].len, sizeof(struct runq_slow));
	assert_int_equal(fakekernel.events[count - 1].flags, BPF_RB_NO_WAKEUP);
	return (void *)fakekernel.events[count - 1].data;
}

static void check_turn(const struct runq_turn *turn, unsigned n, u64 from, u64 to)
{
	assert_int_equal(turn->g, fakegoroutine_g(n));
	assert_int_equal(turn->goid, 100 + n);
	assert_int_equal(turn->start, 0x9000 + n);
	assert_int_equal(turn->from_ns, from);
	assert_int_equal(turn->to_ns, to);
}

static void test_slow(void **state)
{
	const struct runq_slow *e;

	(void)state;
	change_at(1000, 1, 3, WAITING, RUNNABLE);
	change_at(1010, 1, 1, RUNNABLE, RUNNING); /* its wait was not seen to begin */
	change_at(1020, 1, 1, RUNNING, WAITING);
	change_at(1030, 1, 5, RUNNABLE, RUNNING); /* never seen to end */
	change_at(1035, 2, 4, RUNNABLE, RUNNING); /* on the other processor */
	change_at(1060, 1, 3, RUNNABLE, RUNNING);
	e = event(1);
	assert_int_equal(e->time_ns, 1060);
	assert_int_equal(e->wait_ns, 60);
	assert_int_equal(e->goid, 103);
	assert_int_equal(e->start, 0x9003);
	assert_int_equal(e->probe, 0x7777);
	assert_int_equal(e->pid, FAKEGOROUTINE_PID);
	assert_int_equal(e->tid, FAKEGOROUTINE_TID);
	assert_int_equal(e->cpu, 1);
	assert_int_equal(e->count, 2);
	assert_string_equal(e->comm, "bank");
	check_turn(&e->turns[0], 1, 1010, 1020);
	check_turn(&e->turns[1], 5, 1030, 1060);
	assert_int_equal(e->turns[2].g, 0);
	assert_int_equal(waiting_map.count, 0);
	assert_int_equal(loss(RUNQ_LOSS_UNREADABLE), 0);
	/* the turn that has just begun is the next one's */
	change_at(2000, 1, 7, WAITING, RUNNABLE);
	change_at(2050, 1, 7, RUNNABLE, RUNNING);
	check_turn(&event(2)->turns[2], 3, 1060, 2050);
	assert_int_equal(event(2)->count, 3);
}

/* The shortest wait that is told, and waits that end in no turn */
static void test_shorter(void **state)
{
	(void)state;
	change_at(1000, 1, 3, WAITING, RUNNABLE);
	change_at(1049, 1, 3, RUNNABLE, RUNNING);
	change_at(1100, 1, 3, RUNNING, RUNNABLE); /* preempted */
	change_at(1150, 1, 3, RUNNABLE, RUNNING);
	assert_int_equal(event(1)->wait_ns, 50);
	change_at(1200, 1, 4, DEAD, RUNNABLE);
	change_at(1300, 1, 4, RUNNABLE, WAITING); /* a coroutine's, say */
	change_at(1400, 1, 4, WAITING, RUNNING);
	change_at(1500, 1, 4, IDLE, RUNNABLE);
	change_at(1510, 1, 4, IDLE, RUNNABLE); /* a new one at this address */
	change_at(1600, 1, 4, SYSCALL, RUNNING);
	change_at(1700, 1, 4, RUNNABLE, RUNNING);
	assert_int_equal(event(2)->wait_ns, 190);
	assert_int_equal(waiting_map.count, 0);
}

/* Only who has the processor gives it up; a system call may have ended the turn unseen. */
static void test_turns(void **state)
{
	(void)state;
	change_at(1000, 1, 1, RUNNABLE, RUNNING);
	change_at(1010, 1, 3, RUNNING, WAITING); /* not who is known to have it */
	change_at(1020, 1, 1, RUNNING, SYSCALL);
	change_at(1030, 1, 1, RUNNING, WAITING); /* it is over already */
	change_at(1040, 1, 5, WAITING, RUNNABLE);
	change_at(1100, 1, 5, RUNNABLE, RUNNING);
	check_turn(&event(1)->turns[0], 1, 1000, 1020);
}

static void test_ring(void **state)
{
	const struct runq_slow *e;

	(void)state;
	for (unsigned i = 0; i < RUNQ_TURNS + 3; i++)
		change_at(1000 + i, 1, 1 + 2 * (i % 3), IDLE, RUNNING);
	change_at(2000, 1, 7, WAITING, RUNNABLE);
	change_at(2100, 1, 7, RUNNABLE, RUNNING);
	e = event(1);
	assert_int_equal(e->count, RUNQ_TURNS);
	for (unsigned i = 3; i < RUNQ_TURNS + 3; i++)
		check_turn(&e->turns[i % RUNQ_TURNS], 1 + 2 * (i % 3), 1000 + i,
			   i == RUNQ_TURNS + 2 ? 2100 : 1001 + i);
}

static void test_lost(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= GOROUTINES + 1; n++)
		change_at(1000, 1, n, WAITING, RUNNABLE);
	assert_int_equal(loss(RUNQ_LOSS_WAITS), 1);
	fakekernel.ring_room = 0;
	change_at(1200, 1, 1, RUNNABLE, RUNNING);
	assert_int_equal(loss(RUNQ_LOSS_EVENTS), 1);
	fakemem_put(fakegoroutine_m(1) + M_P, 0); /* no processor */
	change_at(1300, 1, 2, RUNNABLE, RUNNING);
	assert_int_equal(loss(RUNQ_LOSS_EVENTS), 1);
	assert_int_equal(waiting_map.count, 1);
	fakemem_put(fakegoroutine_m(1) + M_P, P);
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 0, 0);
	regs.ax = 0x10;
	on_probe(&regs);
	assert_int_equal(loss(RUNQ_LOSS_UNREADABLE), 1);
	assert_int_equal(loss(RUNQ_LOSS_WAITS), 1);
}

static void test_no_hits(void **state)
{
	u32 zero = 0;

	(void)state;
	*active.lookup(&zero) = 0;
	change_at(1000, 1, 3, WAITING, RUNNABLE);
	*active.lookup(&zero) = 1;
	regs.flags = 1;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL_IF_CHECKED, 0, 0);
	on_probe(&regs);
	assert_int_equal(waiting_map.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_slow, begin),
		cmocka_unit_test_setup(test_shorter, begin),
		cmocka_unit_test_setup(test_turns, begin),
		cmocka_unit_test_setup(test_ring, begin),
		cmocka_unit_test_setup(test_lost, begin),
		cmocka_unit_test_setup(test_no_hits, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
