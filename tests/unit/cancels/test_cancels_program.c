// SPDX-License-Identifier: Apache-2.0
/* gocancels's kernel side, run on this side: what is told of a context that is cancelled. */
#include "fakegoroutine.h"
#include "unit.h"

#define CONTEXTS 3
#define CALLS 2
#define RING_PAGES 1
#define JOIN_METHOD
#define CONTEXT_DONE 8
#define CONTEXT_ERR 16
#define CONTEXT_CAUSE 32
#define SUDOG_CHANNEL 24
#define STACKS 16

#include "bpf-src/gocancels.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum {
	CONTEXT = FAKEGOROUTINE_FREE, /* three of them, 0x100 bytes each */
	SUDOG = FAKEGOROUTINE_FREE + 0x1000,
	ITAB = SUDOG + 0x100,
	VALUE = ITAB + 0x100,
	TEXT = VALUE + 0x100,
	DONE = 0xd000, /* the first one's channel; the next one's is one higher */
};

static u64 context(unsigned i)
{
	return CONTEXT + i * 0x100;
}

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(8);
	*active.lookup(&zero) = 1;
	for (unsigned i = 0; i < 3; i++)
		fakemem_put(context(i) + CONTEXT_DONE, DONE + i);
	for (unsigned n = 1; n <= 8; n++) {
		fakemem_put(fakegoroutine_hi(n) - 96, 0x1000 * n);            /* who calls */
		fakemem_put(fakegoroutine_g(n) + G_SCHED_SP + 8, 0x2000 * n); /* where it waits */
	}
	return 0;
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

static void expect_loss(u32 which, u64 count)
{
	for (u32 i = 0; i < CANCEL_LOSSES; i++)
		if (loss(i) != (i == which ? count : 0))
			fail_msg("loss %u: %llu", i, loss(i));
}

static void hit(unsigned n, unsigned depth, u32 func, enum cookie_kind kind, u64 arg)
{
	fakegoroutine_runs(n, depth);
	regs.bp = fakegoroutine_hi(n) - 16;
	regs.ip = 0x7000 + func;
	regs.ax = arg;
	fakekernel.cookie = cookie_make(func, kind, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

static void join(unsigned n, unsigned i)
{
	hit(n, 96, CANCEL_FUNC_JOIN, COOKIE_CALL, context(i));
}

static void cancel(unsigned n, unsigned depth, unsigned i)
{
	hit(n, depth, CANCEL_FUNC_CALL, COOKIE_CALL, context(i));
}

static void cancelled(unsigned n, unsigned depth)
{
	hit(n, depth, CANCEL_FUNC_CALL, COOKIE_RETURN, 0);
}

/* cancel() sets the error. */
static void set_error(unsigned i, u64 at)
{
	fakemem_put(context(i) + at, ITAB);
	fakemem_put(context(i) + at + 8, VALUE);
	fakemem_put(ITAB + 8, 0x4242);
	fakemem_put(VALUE, TEXT);
	fakemem_put(VALUE + 8, 5);
	fakemem_put(TEXT, 0x6f6c6c6568); /* hello */
}

/* On goroutine n's thread, `woken` goes on that has waited for the context. */
static void ready(unsigned n, unsigned woken, unsigned i)
{
	u64 m = fakegoroutine_m(n);

	fakemem_put(fakegoroutine_g(0) + G_M, m);
	fakemem_put(fakegoroutine_g(woken) + G_PARAM, SUDOG);
	fakemem_put(SUDOG + SUDOG_CHANNEL, DONE + i);
	hit(0, 96, CANCEL_FUNC_READY, COOKIE_CALL, fakegoroutine_g(woken));
}

static u64 frame_of(u64 hash)
{
	struct stack *stack = stacks.lookup(&hash);

	return stack ? stack->frames[0] : 0;
}

static const struct cancel_event *event(size_t i)
{
	assert_true(i < fakekernel.event_count);
	assert_int_equal(fakekernel.events[i].len, sizeof(struct cancel_event));
	return (void *)fakekernel.events[i].data;
}

static void test_told(void **state)
{
	const struct cancel_event *e;

	(void)state;
	join(2, 0);
	cancel(1, 96, 0);
	set_error(0, CONTEXT_ERR);
	set_error(0, CONTEXT_CAUSE);
	ready(1, 3, 0);
	ready(1, 4, 0);
	ready(1, 5, 1); /* for something else */
	cancelled(1, 96);
	assert_int_equal(fakekernel.event_count, 1);
	e = event(0);
	assert_int_equal(e->begin_ns, 1010);
	assert_int_equal(e->time_ns, 1060);
	assert_int_equal(e->who.id, 1);
	assert_int_equal(e->who.process.tgid, FAKEGOROUTINE_PID);
	assert_int_equal(e->depth, 96);
	assert_int_equal(e->context, context(0));
	assert_int_equal(e->created_ns, 1000);
	assert_int_equal(e->created_goid, 2);
	assert_int_equal(frame_of(e->created_stack), 0x2000);
	assert_int_equal(frame_of(e->stack), 0x1000);
	assert_int_equal(e->probe, 0x7000 + CANCEL_FUNC_CALL);
	assert_int_equal(e->pid, FAKEGOROUTINE_PID);
	assert_int_equal(e->children, 0);
	assert_int_equal(e->woken, 2);
	assert_int_equal(e->contested, 0);
	assert_int_equal(e->by[0].goid, 3);
	assert_int_equal(frame_of(e->by[0].stack), 0x6000);
	assert_int_equal(e->by[1].goid, 4);
	assert_int_equal(frame_of(e->by[1].stack), 0x8000);
	assert_int_equal(e->by[2].goid, 0);
	assert_int_equal(e->error.type, 0x4242);
	assert_int_equal(e->error.len, 5);
	assert_string_equal(e->error.text, "hello");
	assert_string_equal(e->cause.text, "hello");
	assert_int_equal(births_map.count, 0);
	assert_int_equal(contexts_map.count, 0);
	assert_int_equal(frames_map.count, 0);
	assert_int_equal(calls_map.count, 0);
	expect_loss(CANCEL_LOSSES, 0);
}

/* Nobody has waited for it. */
static void test_untold(void **state)
{
	(void)state;
	cancel(1, 96, 0);
	cancelled(1, 96);
	assert_int_equal(fakekernel.event_count, 0);
	assert_int_equal(calls_map.count, 0);
	cancelled(1, 96);
	assert_int_equal(contexts_map.count, 0);
}

/* cancel() calls itself for children: their waiters are told as its own. */
static void test_children(void **state)
{
	(void)state;
	join(2, 0);
	join(2, 1);
	join(3, 2);
	cancel(1, 96, 0);
	cancel(1, 192, 1);
	ready(1, 4, 1);
	ready(1, 5, 0); /* for the one that is being cancelled last */
	cancelled(1, 192);
	assert_int_equal(fakekernel.event_count, 0);
	cancelled(1, 96);
	assert_int_equal(event(0)->children, 1);
	assert_int_equal(event(0)->woken, 1);
	assert_int_equal(event(0)->created_goid, 2);
	assert_int_equal(event(0)->by[0].goid, 4);
	assert_int_equal(births_map.count, 1);
	expect_loss(CANCEL_LOSSES, 0);
}

static void test_many_woken(void **state)
{
	(void)state;
	cancel(1, 96, 0);
	for (unsigned i = 0; i < CANCEL_WOKEN + 2; i++)
		ready(1, 1 + i % 8, 0);
	cancelled(1, 96);
	assert_int_equal(event(0)->woken, CANCEL_WOKEN + 2);
	for (unsigned i = 0; i < CANCEL_WOKEN; i++)
		assert_int_equal(event(0)->by[i].goid, 1 + i % 8);
}

/* Of one that is cancelled already nothing is told; of two that cancel it at once, the first. */
static void test_twice(void **state)
{
	(void)state;
	set_error(0, CONTEXT_ERR);
	cancel(1, 96, 0);
	assert_int_equal(contexts_map.count, 0);
	cancelled(1, 96);
	assert_int_equal(fakekernel.event_count, 0);
	begin(state);
	cancel(1, 96, 0);
	cancel(2, 96, 0);
	assert_int_equal(calls_map.count, 1);
	cancelled(2, 96);
	cancelled(1, 96);
	assert_int_equal(fakekernel.event_count, 1);
	assert_int_equal(event(0)->who.id, 1);
	assert_int_equal(event(0)->contested, 1);
	assert_int_equal(contexts_map.count, 0);
	expect_loss(CANCEL_LOSSES, 0);
	/* one that comes when it is done is not another one */
	begin(state);
	cancel(1, 96, 0);
	set_error(0, CONTEXT_ERR);
	cancel(2, 96, 0);
	ready(1, 3, 0);
	cancelled(1, 96);
	assert_int_equal(event(0)->contested, 0);
}

/* A call that a panic has ended leaves its goroutine's entry: the next one replaces it. */
static void test_not_returned(void **state)
{
	(void)state;
	for (unsigned depth = 64; depth <= 128; depth += 32) {
		begin(state);
		cancel(1, 96, 0);
		cancel(1, depth, 1);
		expect_loss(CANCEL_LOSS_ENDS, depth <= 96);
		assert_int_equal(calls.lookup(fakemap_key(&calls_map, 0))->children, depth > 96);
		assert_int_equal(calls.lookup(fakemap_key(&calls_map, 0))->last, context(1));
	}
}

static void test_no_room(void **state)
{
	(void)state;
	cancel(1, 96, 0);
	cancel(2, 96, 1);
	cancel(3, 96, 2);
	expect_loss(CANCEL_LOSS_ROOM, 1);
	begin(state);
	fakekernel.refuses = "calls";
	cancel(1, 96, 0);
	expect_loss(CANCEL_LOSS_ROOM, 1);
	assert_int_equal(contexts_map.count, 0);
	fakekernel.refuses = "frames";
	cancel(1, 96, 0);
	expect_loss(CANCEL_LOSS_ROOM, 2);
	assert_int_equal(contexts_map.count, 0);
	begin(state);
	fakekernel.refuses = "processes";
	cancel(1, 96, 0);
	expect_loss(CANCEL_LOSS_ROOM, 1);
	begin(state);
	fakekernel.refuses = "stacks";
	join(1, 0);
	expect_loss(CANCEL_LOSS_STACKS, 1);
	cancel(1, 96, 0);
	ready(1, 2, 0);
	expect_loss(CANCEL_LOSS_STACKS, 2);
	fakekernel.ring_room = 0;
	cancelled(1, 96);
	assert_int_equal(loss(CANCEL_LOSS_STACKS), 3);
	assert_int_equal(loss(CANCEL_LOSS_EVENTS), 1);
}

static void test_births(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CONTEXTS + 2; i++) {
		join(1, i);
		assert_int_equal(births_map.count, i < CONTEXTS ? i + 1 : CONTEXTS);
	}
	join(2, CONTEXTS + 1); /* the address is used again */
	cancel(1, 96, CONTEXTS + 1);
	ready(1, 2, 0);
	assert_int_equal(births_map.count, CONTEXTS - 1);
	assert_int_equal(calls.lookup(fakemap_key(&calls_map, 0))->created_goid, 2);
}

static void test_unreadable(void **state)
{
	(void)state;
	hit(1, 96, CANCEL_FUNC_CALL, COOKIE_CALL, 0x10);
	expect_loss(CANCEL_LOSS_UNREADABLE, 1);
	assert_int_equal(contexts_map.count, 0);
	regs.r14 = 0x10;
	fakekernel.cookie = cookie_make(CANCEL_FUNC_CALL, COOKIE_CALL, 0, 0);
	on_probe(&regs);
	expect_loss(CANCEL_LOSS_UNREADABLE, 2);
}

/* Errors whose value has no text, a longer one than is told, or a word that leads nowhere */
static void test_errors(void **state)
{
	static const struct {
		u64 type, data, text, len; /* 0: as they are */
		u64 wanted_type, wanted_len;
	} rows[] = {
		{0, 0, 0, 0, 0x4242, 5},
		{0, 0, 0, CANCEL_TEXT, 0x4242, CANCEL_TEXT},
		{0, 0, 0, CANCEL_TEXT + 1, 0x4242, CANCEL_TEXT + 1},
		{0, 0, 0, 1ULL << 40, 0x4242, 1ULL << 40},
		{0, 0, 0x10, 0, 0x4242, 0},
		{0, 0x10, 0, 0, 0x4242, 0},
		{0x10, 0, 0, 0, 0, 5},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(state);
		cancel(1, 96, 0);
		set_error(0, CONTEXT_ERR);
		if (rows[i].type)
			fakemem_put(context(0) + CONTEXT_ERR, rows[i].type);
		if (rows[i].data)
			fakemem_put(context(0) + CONTEXT_ERR + 8, rows[i].data);
		if (rows[i].text)
			fakemem_put(VALUE, rows[i].text);
		if (rows[i].len)
			fakemem_put(VALUE + 8, rows[i].len);
		ready(1, 2, 0);
		cancelled(1, 96);
		assert_int_equal(event(0)->error.type, rows[i].wanted_type);
		assert_int_equal(event(0)->error.len, rows[i].wanted_len);
		assert_int_equal(event(0)->error.text[0], rows[i].wanted_len ? 'h' : 0);
		assert_int_equal(event(0)->cause.type, 0);
	}
}

/* Who goes on, but not for a context that is closed: nobody calls cancel() here, or nil */
static void test_not_woken(void **state)
{
	(void)state;
	ready(1, 2, 0);
	cancel(1, 96, 0);
	ready(2, 3, 0); /* another thread */
	fakemem_put(context(0) + CONTEXT_DONE, 0);
	fakemem_put(SUDOG + SUDOG_CHANNEL, 0);
	hit(0, 96, CANCEL_FUNC_READY, COOKIE_CALL, fakegoroutine_g(2));
	fakemem_put(fakegoroutine_g(2) + G_PARAM, 0);
	hit(0, 96, CANCEL_FUNC_READY, COOKIE_CALL, fakegoroutine_g(2));
	hit(0, 96, CANCEL_FUNC_READY, COOKIE_CALL, 0x10);
	fakemem_put(fakegoroutine_m(1) + M_CURG, 0);
	ready(1, 2, 0);
	cancelled(1, 96);
	assert_int_equal(fakekernel.event_count, 0);
}

static void test_no_hits(void **state)
{
	u32 zero = 0;

	(void)state;
	*active.lookup(&zero) = 0;
	cancel(1, 96, 0);
	*active.lookup(&zero) = 1;
	regs.flags = 1;
	hit(1, 96, CANCEL_FUNC_CALL, COOKIE_CALL_IF_CHECKED, context(0));
	assert_int_equal(calls_map.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_told, begin),
		cmocka_unit_test_setup(test_untold, begin),
		cmocka_unit_test_setup(test_children, begin),
		cmocka_unit_test_setup(test_many_woken, begin),
		cmocka_unit_test_setup(test_twice, begin),
		cmocka_unit_test_setup(test_not_returned, begin),
		cmocka_unit_test_setup(test_no_room, begin),
		cmocka_unit_test_setup(test_births, begin),
		cmocka_unit_test_setup(test_unreadable, begin),
		cmocka_unit_test_setup(test_errors, begin),
		cmocka_unit_test_setup(test_not_woken, begin),
		cmocka_unit_test_setup(test_no_hits, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
