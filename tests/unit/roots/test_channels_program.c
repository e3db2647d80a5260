// SPDX-License-Identifier: Apache-2.0
/* Which goroutines receive what others have sent below a call of ROOT, as the kernel side knows it,
 * run on this side. */
#include "fakegoroutine.h"
#include "unit.h"

#define GOROUTINES 8
#define ROWS 3
#define UNIT 1
#define PLACES 200
#define DEEP_CALLS 200
#define ROOTS 6
#define CHANNELS
#define CHANNEL_VALUES 6
#define CALLER_SECOND

#include "bpf-src/gofunclatency.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum {
	CHANNEL = FAKEGOROUTINE_FREE,
	SUDOG = FAKEGOROUTINE_FREE + 0x100,
	TYPE = FAKEGOROUTINE_FREE + 0x200, /* of 8 bytes */
	EMPTY = FAKEGOROUTINE_FREE + 0x240,
	TIME = FAKEGOROUTINE_FREE + 0x280,
	BUFFER = FAKEGOROUTINE_FREE + 0x300,
};

static void make_channel(u64 size, u64 value_size)
{
	fakemem_put(CHANNEL + 8, size);
	fakemem_put(CHANNEL + 16, BUFFER);
	fakemem_put(CHANNEL + 24, value_size);
	fakemem_put(CHANNEL + HCHAN_NEXT, 0);
}

static int begin(void **state)
{
	(void)state;
	fakegoroutine_begin(9);
	fakemem_put(TYPE, 8);
	fakemem_put(EMPTY, 0);
	fakemem_put(TIME, 24);
	make_channel(0, 8);
	return 0;
}

static void root(unsigned n, enum cookie_kind kind)
{
	fakegoroutine_runs(n, 64);
	fakekernel.cookie = cookie_make(0, kind, 0, 0);
	assert_int_equal(on_root(&regs), 0);
}

static void hit(unsigned n, enum channels_site what, u64 ax, u64 bx)
{
	fakegoroutine_runs(n, 256);
	regs.ax = ax;
	regs.bx = bx;
	fakekernel.cookie = cookie_make(9, COOKIE_CALL, 0, what);
	assert_int_equal(on_root_channel(&regs), 0);
}

/* Goroutine n sends to one that waits, or receives from it. */
static void meet(unsigned n, enum channels_site what, unsigned waiter)
{
	fakemem_put(SUDOG, fakegoroutine_g(waiter));
	hit(n, what, CHANNEL, SUDOG);
}

static void put_in(unsigned n, unsigned place)
{
	hit(n, CHANNEL_PUT, TYPE, BUFFER + 8 * place);
}

static void take_out(unsigned n, unsigned place)
{
	hit(n, CHANNEL_TAKE, TYPE, BUFFER + 8 * place);
}

static u32 below(unsigned n)
{
	struct goroutine_key who = {.id = n};

	goroutine_process(&who);
	u32 number = root_number(&who);

	assert_int_equal(who.id, n);
	return number;
}

static void expect_loss(u32 which, u64 count)
{
	for (u32 i = 0; i < ROOT_LOSSES; i++)
		if (FAKEGOROUTINE_COUNT(root_losses, i) != (i == which ? count : 0))
			fail_msg("loss %u: %llu", i, FAKEGOROUTINE_COUNT(root_losses, i));
}

/* Either may have waited for the other. */
static void test_direct(void **state)
{
	(void)state;
	root(1, COOKIE_CALL);
	root(2, COOKIE_CALL);
	meet(1, CHANNEL_SEND, 3);
	meet(4, CHANNEL_RECEIVE, 2);
	assert_int_equal(below(3), 1);
	assert_int_equal(below(4), 2);
	meet(3, CHANNEL_SEND, 5); /* handed on */
	assert_int_equal(below(5), 1);
	meet(2, CHANNEL_SEND, 3); /* the next one */
	assert_int_equal(below(3), 2);
	meet(9, CHANNEL_SEND, 3); /* and one of nobody */
	assert_int_equal(below(3), 0);
	root(1, COOKIE_RETURN);
	assert_int_equal(below(5), 0);
	assert_int_equal(below(4), 2);
	expect_loss(ROOT_LOSSES, 0);
}

static void test_buffered(void **state)
{
	(void)state;
	root(1, COOKIE_CALL);
	root(2, COOKIE_CALL);
	put_in(1, 0);
	put_in(2, 1);
	put_in(9, 2);
	take_out(3, 0);
	take_out(4, 1);
	assert_int_equal(below(3), 1);
	assert_int_equal(below(4), 2);
	take_out(3, 2);
	assert_int_equal(below(3), 0);
	take_out(4, 0); /* what was there has been taken */
	assert_int_equal(below(4), 0);
	put_in(1, 0);
	put_in(9, 0); /* of a channel that is gone */
	take_out(4, 0);
	assert_int_equal(below(4), 0);
	assert_int_equal(channel_values_map.count, 0);
	expect_loss(ROOT_LOSSES, 0);
}

/* The buffer is full: the receiver takes the oldest value, and who waits puts his there. */
static void test_full(void **state)
{
	(void)state;
	make_channel(2, 8);
	fakemem_put(CHANNEL + HCHAN_NEXT, 1);
	root(1, COOKIE_CALL);
	root(2, COOKIE_CALL);
	put_in(1, 1);
	meet(3, CHANNEL_RECEIVE, 2);
	assert_int_equal(below(3), 1);
	take_out(4, 1);
	assert_int_equal(below(4), 2);
}

/* Who makes a call of ROOT is below that; who is started below one is there again after values of
 * others. */
static void test_own(void **state)
{
	struct goroutine_key newborn = {.id = 5};
	struct starting it = {.by.id = 1};

	(void)state;
	root(1, COOKIE_CALL);
	root(2, COOKIE_CALL);
	meet(2, CHANNEL_SEND, 1);
	assert_int_equal(below(1), 1);
	goroutine_process(&it.by);
	newborn.process = it.by.process;
	starts_begun(&it, &newborn, 0);
	assert_int_equal(below(5), 1);
	meet(2, CHANNEL_SEND, 5);
	assert_int_equal(below(5), 2);
	meet(9, CHANNEL_SEND, 5);
	assert_int_equal(below(5), 1);
	meet(2, CHANNEL_SEND, 5);
	root(2, COOKIE_RETURN);
	assert_int_equal(below(5), 1);
	meet(1, CHANNEL_SEND, 5);
	starts_ended(&newborn, 0);
	root(1, COOKIE_RETURN);
	assert_int_equal(root_members_map.count, 0);
}

/* Values without a size, and those of timers, are nothing. */
static void test_nothing(void **state)
{
	(void)state;
	root(1, COOKIE_CALL);
	meet(1, CHANNEL_SEND, 3);
	make_channel(0, 0);
	meet(9, CHANNEL_SEND, 3);
	meet(3, CHANNEL_RECEIVE, 9);
	meet(1, CHANNEL_SEND, 4);
	hit(3, CHANNEL_TAKE, EMPTY, BUFFER);
	assert_int_equal(below(3), 1);
	assert_int_equal(below(4), 0);
	make_channel(1, 24);
	hit(3, CHANNEL_TAKE, TIME, BUFFER); /* of who is no timer, as far as is known */
	assert_int_equal(below(3), 0);
	make_channel(0, 8);
	meet(1, CHANNEL_SEND, 3);
	hit(0, CHANNEL_PUT, TIME, BUFFER);
	hit(3, CHANNEL_TAKE, TIME, BUFFER);
	meet(0, CHANNEL_SEND, 3);
	assert_int_equal(below(3), 1);
	expect_loss(ROOT_LOSSES, 0);
}

static void test_lost(void **state)
{
	(void)state;
	root(1, COOKIE_CALL);
	for (unsigned i = 0; i <= ROOTS; i++)
		put_in(1, i);
	expect_loss(ROOT_LOSS_VALUES, 1);
	begin(state);
	root(1, COOKIE_CALL);
	for (unsigned n = 2; n <= ROOTS + 1; n++)
		meet(1, CHANNEL_SEND, n);
	expect_loss(ROOT_LOSS_VALUES, 1);
	begin(state);
	hit(1, CHANNEL_SEND, CHANNEL, 0x10);
	hit(1, CHANNEL_PUT, 0x10, BUFFER);
	expect_loss(ROOT_LOSS_CHANNELS, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_direct, begin),
		cmocka_unit_test_setup(test_buffered, begin),
		cmocka_unit_test_setup(test_full, begin),
		cmocka_unit_test_setup(test_own, begin),
		cmocka_unit_test_setup(test_nothing, begin),
		cmocka_unit_test_setup(test_lost, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
