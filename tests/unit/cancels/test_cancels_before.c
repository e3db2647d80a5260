// SPDX-License-Identifier: Apache-2.0
/* gocancels's kernel side, run on this side, as it is for earlier releases of Go: a function joins
 * contexts, and no sudog tells whom a closed channel has woken. */
#include "fakegoroutine.h"
#include "unit.h"

#define CONTEXTS 3
#define CALLS 2
#define RING_PAGES 1
#define CONTEXT_DONE 8
#define CONTEXT_ERR 16
#define SUDOG_CHANNEL 24
#define STACKS 16

#include "bpf-src/gocancels.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum {
	CONTEXT = FAKEGOROUTINE_FREE,
	SUDOG = FAKEGOROUTINE_FREE + 0x1000,
	DONE = 0xd000, /* its channel */
};

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(4);
	*active.lookup(&zero) = 1;
	fakemem_put(CONTEXT + CONTEXT_DONE, DONE);
	return 0;
}

static void hit(unsigned n, u32 func, enum cookie_kind kind, u64 first, u64 fourth)
{
	fakegoroutine_runs(n, 96);
	regs.bp = fakegoroutine_hi(n) - 16;
	regs.ip = 0x7000 + func;
	regs.ax = first;
	regs.di = fourth;
	fakekernel.cookie = cookie_make(func, kind, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

/* propagateCancel(parent, child): an interface's two words, then the child's */
static void test_join(void **state)
{
	struct cancel_birth *birth;

	(void)state;
	fakemem_put(fakegoroutine_hi(2) - 96, 0x2000); /* who calls */
	hit(2, CANCEL_FUNC_JOIN, COOKIE_CALL, 0xbad, CONTEXT);
	assert_int_equal(births_map.count, 1);
	birth = births.lookup(fakemap_key(&births_map, 0));
	assert_int_equal(((struct goroutine_key *)fakemap_key(&births_map, 0))->id, CONTEXT);
	assert_int_equal(birth->goid, 2);
	for (u32 i = 0; i < CANCEL_LOSSES; i++)
		assert_int_equal(FAKEGOROUTINE_COUNT(losses, i), 0);
}

/* How many are told to have gone on, of one goroutine that has this sudog, and waits for `waiting`
 */
static u64 woken(u64 sudog, u64 waiting)
{
	u64 gp = fakegoroutine_g(3), count = 0;

	begin(NULL);
	hit(1, CANCEL_FUNC_CALL, COOKIE_CALL, CONTEXT, 0);
	fakemem_put(fakegoroutine_g(0) + G_M, fakegoroutine_m(1));
	fakemem_put(gp + G_PARAM, sudog);
	fakemem_put(gp + G_WAITING, waiting);
	fakemem_put(SUDOG + SUDOG_CHANNEL, DONE);
	hit(0, CANCEL_FUNC_READY, COOKIE_CALL, gp, 0);
	hit(1, CANCEL_FUNC_CALL, COOKIE_RETURN, 0, 0);
	if (fakekernel.event_count)
		count = ((struct cancel_event *)(void *)fakekernel.events[0].data)->woken;
	return count;
}

/* A sudog's channel tells; without one, it waited for a channel at all, and not for a semaphore. */
static void test_woken(void **state)
{
	(void)state;
	assert_int_equal(woken(SUDOG, 0), 1);
	assert_int_equal(woken(SUDOG + 8, SUDOG), 0);
	assert_int_equal(woken(0, SUDOG), 1);
	assert_int_equal(woken(0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_join, begin),
		cmocka_unit_test_setup(test_woken, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
