// SPDX-License-Identifier: Apache-2.0
/* gogc's kernel side, run on this side: what is told of collections, stops of the world, who stops
 * last and assists. */
#include "fakegoroutine.h"
#include "unit.h"

#define RING_PAGES 1
#define STOP_REASONS
#define WORLD_STOP 2
#define P_TICK 8
#define ASSISTS 2
#define STACKS 8

#include "bpf-src/gogc.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum {
	START = 0x7001, /* of the probe in startTheWorldWithSema, as it is loaded */
	BIAS = 0x1000,
	NUMBERS = FAKEGOROUTINE_FREE,
	P = FAKEGOROUTINE_FREE + 0x800, /* of goroutine 1's thread */
};

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(4);
	*active.lookup(&zero) = 1;
	*layout.lookup(&zero) = (struct gc_layout){.start = START - BIAS,
						   .times = NUMBERS - BIAS,
						   .heap = NUMBERS + 0x40 - BIAS,
						   .goal = NUMBERS + 0x80 - BIAS,
						   .assist = NUMBERS + 0x88 - BIAS,
						   .cycles = NUMBERS + 0x90 - BIAS};
	for (unsigned n = 1; n < 4; n++) { /* a frame that systemstack was called from */
		u64 sp = fakegoroutine_hi(n) - 64;

		fakemem_put(fakegoroutine_g(n) + G_SCHED_SP, sp);
		fakemem_put(fakegoroutine_g(n) + G_SCHED_BP, sp);
		fakemem_put(sp, 0);
		fakemem_put(sp + 8, 0x100 * n);
	}
	return 0;
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

/* On goroutine n's thread, on the system stack */
static void hit(unsigned n, u32 func, enum cookie_kind kind)
{
	fakegoroutine_runs(0, 96);
	fakemem_put(fakegoroutine_g(0) + G_M, fakegoroutine_m(n));
	fakekernel.ids = (u64)FAKEGOROUTINE_PID << 32 | n;
	regs.ip = 0x7000 + func;
	fakekernel.cookie = cookie_make(func, kind, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

static const struct gc_event *last_event(size_t count)
{
	assert_int_equal(fakekernel.event_count, count);
	assert_int_equal(fakekernel.events[count - 1].len, sizeof(struct gc_event));
	assert_int_equal(fakekernel.events[count - 1].flags, BPF_RB_NO_WAKEUP);
	return (void *)fakekernel.events[count - 1].data;
}

static u64 first_frame(u64 hash)
{
	struct stack *stack = stacks.lookup(&hash);

	return stack ? stack->frames[0] : 0;
}

static void check_event(const struct gc_event *e, u64 time, u32 kind, unsigned n, bool has_stack)
{
	assert_int_equal(e->time_ns, time);
	assert_int_equal(e->kind, kind);
	assert_int_equal(e->pid, FAKEGOROUTINE_PID);
	assert_int_equal(e->process.tgid, FAKEGOROUTINE_PID);
	assert_int_equal(e->process.start_ns, 5000);
	assert_int_equal(e->g, fakegoroutine_g(n));
	assert_int_equal(e->goid, n);
	assert_int_equal(first_frame(e->stack), has_stack ? 0x100 * n : 0);
}

static void test_stop_and_start(void **state)
{
	const struct gc_event *e;

	(void)state;
	for (u64 i = 0; i < 32; i++)
		fakemem_put(NUMBERS + 8 * i, 100 + i);
	regs.ax = 0x12345605;
	hit(1, GC_FUNC_STOP, COOKIE_CALL);
	e = last_event(1);
	check_event(e, 1000, GC_STOP, 1, true);
	assert_int_equal(e->told[0], 5);
	assert_int_equal(e->probe, 0x7000);
	hit(1, GC_FUNC_STOP, COOKIE_RETURN);
	e = last_event(2);
	check_event(e, 1010, GC_STOPPED, 1, false);
	assert_int_equal(e->told[0], 0);
	regs.cx = 77;
	regs.di = 78;
	hit(1, GC_FUNC_START, COOKIE_CALL);
	e = last_event(3);
	check_event(e, 1020, GC_START, 1, false);
	assert_int_equal(e->told[0], 77);
	assert_int_equal(e->told[1], 78);
	assert_int_equal(e->numbers.cycle, 0);
	regs.ax = 99;
	hit(1, GC_FUNC_START, COOKIE_RETURN);
	e = last_event(4);
	check_event(e, 1030, GC_STARTED, 1, false);
	assert_int_equal(e->told[0], 99);
	assert_int_equal(e->numbers.sweep_term_ns, 100);
	assert_int_equal(e->numbers.mark_ns, 101);
	assert_int_equal(e->numbers.mark_term_ns, 102);
	assert_int_equal(e->numbers.end_ns, 103);
	assert_int_equal(e->numbers.heap0, 108);
	assert_int_equal(e->numbers.heap1, 109);
	assert_int_equal(e->numbers.heap2, 110);
	assert_int_equal(e->numbers.goal, 116);
	assert_int_equal(e->numbers.assist_ns, 117);
	assert_int_equal(e->numbers.cycle, 118);
	for (u32 i = 0; i < GC_LOSSES; i++)
		assert_int_equal(loss(i), 0);
}

/* What the file does not tell the places of is 0, and all is where the start was not seen. */
static void test_unknown_numbers(void **state)
{
	const struct gc_numbers none = {0};
	u32 zero = 0;

	for (unsigned i = 0; i < 6; i++) {
		struct gc_numbers *n;
		struct gc_layout *at;

		begin(state);
		for (u64 k = 0; k < 32; k++)
			fakemem_put(NUMBERS + 8 * k, 100 + k);
		at = layout.lookup(&zero);
		u64 *const parts[] = {&at->times, &at->heap, &at->goal, &at->assist, &at->cycles};

		if (i < 5)
			*parts[i] = 0;
		if (i < 5)
			hit(1, GC_FUNC_STOP, COOKIE_CALL);
		hit(1, GC_FUNC_START, COOKIE_CALL);
		hit(1, GC_FUNC_START, COOKIE_RETURN);
		n = (void *)&last_event(i < 5 ? 3 : 2)->numbers;
		assert_int_equal(!n->sweep_term_ns, i == 0 || i == 5);
		assert_int_equal(!n->heap0, i == 1 || i == 5);
		assert_int_equal(!n->goal, i == 2 || i == 5);
		assert_int_equal(!n->assist_ns, i == 3 || i == 5);
		assert_int_equal(!n->cycle, i == 4 || i == 5);
		if (i == 5)
			assert_memory_equal(n, &none, sizeof(none));
	}
}

static void test_lost(void **state)
{
	(void)state;
	fakekernel.ring_room = 0;
	hit(1, GC_FUNC_STOP, COOKIE_CALL);
	assert_int_equal(loss(GC_LOSS_EVENTS), 1);
	fakekernel.ring_room = 9;
	fakemem_put(fakegoroutine_m(1) + M_CURG, 0);
	hit(1, GC_FUNC_STOP, COOKIE_CALL);
	assert_int_equal(loss(GC_LOSS_UNREADABLE), 1);
	fakemem_put(fakegoroutine_m(1) + M_CURG, fakegoroutine_g(1));
	fakekernel.refuses = "stacks";
	fakemem_put(fakegoroutine_hi(1) - 56, 0x999);
	hit(1, GC_FUNC_STOP, COOKIE_CALL);
	assert_int_equal(loss(GC_LOSS_STACKS), 1);
	check_event(last_event(1), 1020, GC_STOP, 1, false);
}

static void test_no_hits(void **state)
{
	u32 zero = 0;

	(void)state;
	*active.lookup(&zero) = 0;
	hit(1, GC_FUNC_STOP, COOKIE_CALL);
	*active.lookup(&zero) = 1;
	regs.flags = 1;
	hit(1, GC_FUNC_STOP, COOKIE_CALL_IF_CHECKED);
	assert_int_equal(fakekernel.event_count, 0);
}

/* --- who stops last --- */

static void begin_stopping(void)
{
	fakemem_put(fakegoroutine_m(2) + M_P, P);
	fakemem_put(P + P_TICK, 7);
	fakemem_put(fakegoroutine_g(2) + G_SCHED_SP + 8, 0x200); /* where it resumes */
	hit(1, GC_FUNC_STOP, COOKIE_CALL);
}

static void test_last(void **state)
{
	(void)state;
	begin_stopping();
	hit(2, GC_FUNC_YIELD, COOKIE_CALL);
	hit(2, GC_FUNC_LAST, COOKIE_CALL);
	check_event(last_event(2), 1020, GC_LAST, 2, true);
	hit(2, GC_FUNC_LAST, COOKIE_CALL); /* once */
	last_event(2);
	hit(2, GC_FUNC_YIELD_ASYNC, COOKIE_CALL);
	hit(3, GC_FUNC_LAST, COOKIE_CALL); /* another thread */
	last_event(2);
	fakemem_put(P + P_TICK, 8); /* the processor has run something since */
	hit(2, GC_FUNC_LAST, COOKIE_CALL);
	last_event(2);
	assert_int_equal(yields_map.count, 0);
	hit(2, GC_FUNC_YIELD_ASYNC, COOKIE_CALL);
	hit(2, GC_FUNC_LAST, COOKIE_CALL);
	check_event(last_event(3), 1080, GC_LAST, 2, true);
}

static void test_not_last(void **state)
{
	(void)state;
	hit(2, GC_FUNC_YIELD, COOKIE_CALL); /* nobody stops the world */
	assert_int_equal(yields_map.count, 0);
	begin_stopping();
	fakemem_put(fakegoroutine_m(2) + M_P, 0); /* it had no processor */
	hit(2, GC_FUNC_YIELD, COOKIE_CALL);
	hit(2, GC_FUNC_LAST, COOKIE_CALL);
	last_event(1);
	hit(1, GC_FUNC_START, COOKIE_CALL);
	hit(1, GC_FUNC_START, COOKIE_RETURN);
	hit(2, GC_FUNC_YIELD, COOKIE_CALL);
	assert_int_equal(yields_map.count, 0);
	hit(1, GC_FUNC_STOP, COOKIE_CALL);
	hit(2, GC_FUNC_YIELD, COOKIE_CALL);
	assert_int_equal(yields_map.count, 1);
}

/* --- assists --- */

static void assist(unsigned n, u64 ns)
{
	regs.ax = fakegoroutine_g(n);
	hit(n, GC_FUNC_ASSIST, COOKIE_CALL);
	fakekernel.ns += ns - FAKEGOROUTINE_STEP;
	hit(n, GC_FUNC_ASSIST, COOKIE_RETURN);
}

static const struct gc_assist_sum *assist_sum(size_t i)
{
	const struct gc_assist_key *key = fakemap_key(&assists_map, i);

	assert_int_equal(key->pid, FAKEGOROUTINE_PID);
	assert_int_equal(key->func, GC_FUNC_ASSIST);
	assert_int_equal(key->probe, 0x7000 + GC_FUNC_ASSIST);
	assert_int_equal(first_frame(key->stack), 0x100 * (i + 1));
	return assists.lookup(key);
}

static void test_assists(void **state)
{
	(void)state;
	assist(1, 100);
	assist(2, 300);
	assist(1, 500);
	assist(1, 200);
	assist(3, 700); /* no room */
	assert_int_equal(assist_sum(0)->assists, 3);
	assert_int_equal(assist_sum(0)->total_ns, 800);
	assert_int_equal(assist_sum(0)->max_ns, 500);
	assert_int_equal(assist_sum(1)->assists, 1);
	assert_int_equal(assist_sum(1)->total_ns, 300);
	assert_int_equal(assists_map.count, 2);
	assert_int_equal(assisting_map.count, 0);
	assert_int_equal(loss(GC_LOSS_ASSISTS), 1);
	hit(1, GC_FUNC_ASSIST, COOKIE_RETURN); /* its beginning was not seen */
	assert_int_equal(assist_sum(0)->assists, 3);
	fakekernel.refuses = "assisting";
	assist(1, 100);
	assert_int_equal(loss(GC_LOSS_ASSISTS), 2);
	fakekernel.refuses = "stacks";
	fakemem_put(fakegoroutine_hi(1) - 56, 0x999);
	assist(1, 100);
	assert_int_equal(loss(GC_LOSS_STACKS), 1);
	assert_int_equal(fakekernel.event_count, 0);
}

/* --- sweeping --- */

/* On goroutine 1's own stack, in a function with a frame that another one has called */
static void sweep(u64 ns, u64 pages)
{
	fakegoroutine_runs(1, 96);
	regs.bp = fakegoroutine_hi(1) - 64;
	fakemem_put(regs.bp, 0);
	fakemem_put(regs.bp + 8, 0x800);
	fakekernel.ids = (u64)FAKEGOROUTINE_PID << 32 | 1;
	regs.ip = 0x7000 + GC_FUNC_SWEEP;
	fakekernel.cookie = cookie_make(GC_FUNC_SWEEP, COOKIE_CALL, 40, 0);
	assert_int_equal(on_probe(&regs), 0);
	fakekernel.ns += ns - FAKEGOROUTINE_STEP;
	regs.ip = 0x7000 + GC_FUNC_SWEPT;
	regs.ax = pages;
	fakekernel.cookie = cookie_make(GC_FUNC_SWEPT, COOKIE_CALL, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

static void test_sweeps(void **state)
{
	const struct gc_assist_key *key;
	const struct gc_assist_sum *sum;

	(void)state;
	sweep(100, 0);
	sweep(300, 4);
	sweep(50, ~0ULL); /* there was none left */
	assert_int_equal(assists_map.count, 1);
	key = fakemap_key(&assists_map, 0);
	sum = assists.lookup(key);
	assert_int_equal(key->func, GC_FUNC_SWEEP);
	assert_int_equal(key->probe, 0x7000 + GC_FUNC_SWEEP);
	assert_int_equal(key->pid, FAKEGOROUTINE_PID);
	assert_int_equal(first_frame(key->stack), 0x800);
	assert_int_equal(sum->assists, 2);
	assert_int_equal(sum->total_ns, 450);
	assert_int_equal(sum->max_ns, 300);
	assert_int_equal(assisting_map.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_stop_and_start, begin),
		cmocka_unit_test_setup(test_unknown_numbers, begin),
		cmocka_unit_test_setup(test_lost, begin),
		cmocka_unit_test_setup(test_no_hits, begin),
		cmocka_unit_test_setup(test_last, begin),
		cmocka_unit_test_setup(test_not_last, begin),
		cmocka_unit_test_setup(test_assists, begin),
		cmocka_unit_test_setup(test_sweeps, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
