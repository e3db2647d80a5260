// SPDX-License-Identifier: Apache-2.0
/* gotree's kernel side, run on this side: goroutines that receive what is sent below calls of ROOT.
 */
#include "fakegoroutine.h"
#include "unit.h"

#define TREES 8
#define ROOT_ROWS 2
#define SLOWER_NS 20
#define RING_PAGES 1
#define FOLLOW
#define CHANNELS
#define CHANNEL_VALUES 6
#define CALLER_SECOND

#include "bpf-src/gotree.bpf.c" /* NOLINT(bugprone-suspicious-include) */
#include "treeprogram.h"
#include "treetext.h"

enum {
	CHANNEL = FAKEGOROUTINE_FREE,
	SUDOG = FAKEGOROUTINE_FREE + 0x100,
	TYPE = FAKEGOROUTINE_FREE + 0x200, /* of 8 bytes */
	BUFFER = FAKEGOROUTINE_FREE + 0x300,
};

static int start(void **state)
{
	begin(state);
	fakemem_put(TYPE, 8);
	fakemem_put(CHANNEL + 24, 8);
	return 0;
}

static void channel(unsigned n, enum channels_site what, u64 ax, u64 bx)
{
	fakegoroutine_runs(n, 512);
	regs.ax = ax;
	regs.bx = bx;
	fakekernel.cookie = cookie_make(9, COOKIE_CALL, 0, what);
	assert_int_equal(on_probe_2(&regs), 0);
}

static void send_to(unsigned n, unsigned waiter)
{
	fakemem_put(SUDOG, fakegoroutine_g(waiter));
	channel(n, CHANNEL_SEND, CHANNEL, SUDOG);
}

static void put_in(unsigned n, unsigned place)
{
	channel(n, CHANNEL_PUT, TYPE, BUFFER + 8 * place);
}

static void take_out(unsigned n, unsigned place)
{
	channel(n, CHANNEL_TAKE, TYPE, BUFFER + 8 * place);
}

static void newborn(unsigned by, unsigned n)
{
	struct starting it = {.by.id = by};
	struct goroutine_key key = {.id = n};

	goroutine_process(&it.by);
	key.process = it.by.process;
	assert_true(starts_wanted(&it.by));
	starts_begun(&it, &key, 5000);
}

/* What began with values: by whom, which number it has, what sent it from where, and its calls */
static void expect_given(const char *wanted)
{
	size_t at = 0;

	text[0] = '\0';
	for (u64 request = 1; request < 4; request++)
		for (u64 n = 1; n <= 8; n++) {
			struct goroutine_key key = {.id = tree_given_id(request, n)};
			const struct tree *tree;

			goroutine_process(&key);
			tree = trees.lookup(&key);
			if (!tree)
				continue;
			assert_int_equal(tree_id(&tree->head), key.id);
			assert_int_equal(tree->head.pid, FAKEGOROUTINE_PID);
			at += snprintf(text + at, TEXT_MAX - at,
				       "%llu.%llu g%llu of g%llu by g%llu call %u%s:", request, n,
				       tree->head.who.id, tree->head.request.who.id, tree->head.by,
				       tree->head.call, tree->head.end_ns ? " over" : "");
			for (u32 i = 1; i < tree->head.count; i++)
				at += snprintf(text + at, TEXT_MAX - at, " %d^%d%s",
					       (int)tree->calls[i].row, tree->calls[i].parent,
					       tree->calls[i].how ? "" : "+");
			at += snprintf(text + at, TEXT_MAX - at, "\n");
		}
	assert_string_equal(text, wanted);
}

/* Each value that is worked for has a branch below the call that has sent it; who does nothing
 * hands on what is another's. */
static void test_branches(void **state)
{
	(void)state;
	call(1, 64, 0);
	call(1, 128, 3);
	send_to(1, 2);
	put_in(1, 0);
	ret(1, 128, 3);
	call(2, 64, 5);
	ret(2, 64, 5);
	take_out(3, 0);
	send_to(3, 4); /* it has done nothing itself */
	call(4, 64, 6);
	send_to(4, 5);
	call(5, 64, 7);
	ret(5, 64, 7);
	send_to(1, 2); /* the next one */
	look(2, 64);
	call(2, 64, 8);
	send_to(8, 2); /* of nobody */
	call(2, 64, 9);
	expect_given("1.1 g2 of g1 by g1 call 1 over: 5^0\n"
		     "1.2 g4 of g1 by g1 call 1: 6^0+\n"
		     "1.3 g5 of g1 by g4 call 1: 7^0\n"
		     "1.4 g2 of g1 by g1 call 0 over: 8^0+\n");
	assert_int_equal(received_map.count, 3);
	expect_losses(0, 0, 0, 0, 0, 0);
}

/* In a call that goes on, what is received of the same request belongs to it; and in a goroutine
 * that was started there. */
static void test_goes_on(void **state)
{
	(void)state;
	call(1, 64, 0);
	call(2, 64, 0);
	send_to(1, 3);
	call(3, 64, 5);
	send_to(1, 3);
	call(3, 128, 6);
	ret(3, 128, 6);
	newborn(3, 4);
	send_to(1, 4);
	call(4, 64, 7);
	expect_given("1.1 g3 of g1 by g1 call 0: 5^0+ 6^1 -1^1\n");
	send_to(2, 4); /* of another request */
	call(4, 128, 8);
	send_to(2, 3);
	call(3, 128, 9);
	send_to(1, 4);
	call(4, 192, 5); /* where it was started */
	send_to(2, 1);   /* which has a call of ROOT itself */
	call(1, 128, 9);
	expect_given("1.1 g3 of g1 by g1 call 0 over: 5^0+ 6^1 -1^1\n"
		     "2.1 g4 of g2 by g2 call 0 over: 8^0+\n"
		     "2.2 g3 of g2 by g2 call 0: 9^0+\n");
	struct goroutine_key who = {.id = 3};

	goroutine_process(&who);
	starts_ended(&who, 9000);
	assert_int_equal(received_map.count, 0);
	expect_losses(0, 0, 0, 0, 0, 0);
}

/* When ROOT's call has ended nothing begins, and what goes on may end; when the tool has read it,
 * it is deleted. */
static void test_over(void **state)
{
	struct tree_request *request;

	(void)state;
	call(1, 64, 0);
	send_to(1, 2);
	send_to(1, 3);
	send_to(1, 4);
	put_in(1, 0);
	call(2, 64, 5);
	call(3, 64, 6);
	ret(3, 64, 6);
	ret(1, 64, 0);
	call(2, 128, 6);
	call(3, 64, 7);
	call(4, 64, 8);
	take_out(5, 0);
	call(5, 64, 8);
	expect_given("1.1 g2 of g1 by g1 call 0: 5^0+\n"
		     "1.2 g3 of g1 by g1 call 0: 6^0\n");
	ret(2, 64, 5);
	expect_given("1.1 g2 of g1 by g1 call 0: 5^0\n"
		     "1.2 g3 of g1 by g1 call 0: 6^0\n");
	assert_int_equal(received_map.count, 1);
	request = (void *)fakemap_key(&requests_map, 0);
	assert_non_null(request);
	requests.delete(request);
	look(2, 64);
	expect_given("1.2 g3 of g1 by g1 call 0: 6^0\n");
	assert_int_equal(received_map.count, 0);
	call(2, 64, 1); /* a call of ROOT */
	assert_int_equal(trees_map.count, 2);
}

static void test_lost(void **state)
{
	(void)state;
	call(1, 64, 0);
	for (unsigned i = 0; i <= CHANNEL_VALUES; i++)
		put_in(1, i);
	assert_int_equal(loss(TREE_VALUES), 1);
	channel(1, CHANNEL_SEND, CHANNEL, 0x10);
	assert_int_equal(loss(TREE_CHANNELS), 1);
	fakekernel.refuses = "received";
	send_to(1, 2);
	assert_int_equal(loss(TREE_VALUES), 2);
	fakekernel.refuses = "trees";
	send_to(1, 3);
	call(3, 64, 5);
	call(3, 128, 5); /* told once */
	assert_int_equal(loss(TREE_FOLLOWED), 1);
	fakekernel.refuses = NULL;
	*active.lookup(&(u32){0}) = 0;
	send_to(1, 4);
	*active.lookup(&(u32){0}) = 1;
	call(4, 64, 5);
	expect_given("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_branches, start),
		cmocka_unit_test_setup(test_goes_on, start),
		cmocka_unit_test_setup(test_over, start),
		cmocka_unit_test_setup(test_lost, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
