// SPDX-License-Identifier: Apache-2.0
/* goallocs's kernel side, run on this side: which allocations are counted, as how many, and under
 * which type and stack. */
#include "fakegoroutine.h"
#include "unit.h"

#define PLACES 4
#define COUNTS 3
#define BY_STACK
#define EVERY 1000
#define HANDED_ON 128
#define STACKS 8

#include "bpf-src/goallocs.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { TYPE = FAKEGOROUTINE_FREE, BIAS = 0x1000, SITE = 0x7000, WHOLE = 1 << 16 };

static int begin(void **state)
{
	(void)state;
	fakegoroutine_begin(4);
	for (u32 i = 0; i < 2; i++)
		*places.lookup(&i) =
			(struct trace_place){.plan = i ? ALLOC_HANDS_ON : 0, .addr = SITE - BIAS};
	fakemem_put(TYPE, 48); /* its size */
	return 0;
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

static void alloc(u32 place, u64 size, u64 type)
{
	fakegoroutine_runs(1, 96);
	fakemem_put(regs.sp, 0x5555); /* who calls */
	regs.ip = SITE;
	regs.ax = size;
	regs.bx = type;
	fakekernel.cookie = cookie_make(place, COOKIE_CALL, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

static u64 bytes_of(size_t i)
{
	return *bytes.lookup(fakemap_key(&objects_map, i));
}

static u64 objects_of(size_t i)
{
	return *objects.lookup(fakemap_key(&objects_map, i));
}

static void test_counted(void **state)
{
	const struct alloc_key *key;
	const u64 large = 64000; /* each of these is a sample */
	struct stack *stack;

	(void)state;
	alloc(0, large, TYPE);
	alloc(0, large + 1, TYPE);
	alloc(0, large, 0);
	assert_int_equal(objects_map.count, 2);
	key = fakemap_key(&objects_map, 0);
	assert_int_equal(key->type, TYPE - BIAS);
	assert_int_equal(key->many, 1);
	assert_int_equal(key->place, 0);
	assert_int_equal(key->pid, FAKEGOROUTINE_PID);
	stack = stacks.lookup(&key->stack);
	assert_int_equal(stack->count, 2);
	assert_int_equal(stack->frames[0], SITE + 1);
	assert_int_equal(stack->frames[1], 0x5555);
	assert_int_equal(objects_of(0), 2 << ALLOC_PARTS_SHIFT);
	assert_int_equal(bytes_of(0), (2 * large + 1) << ALLOC_PARTS_SHIFT);
	assert_int_equal(((struct alloc_key *)fakemap_key(&objects_map, 1))->type, 0);
	assert_int_equal(((struct alloc_key *)fakemap_key(&objects_map, 1))->many, 0);
}

/* One value of its type, or more: by the size that the descriptor begins with */
static void test_many(void **state)
{
	const u64 large = 64000;

	for (u64 of = large - 1; of <= large + 1; of++) {
		begin(state);
		fakemem_put(TYPE, of);
		alloc(0, large, TYPE);
		assert_int_equal(((struct alloc_key *)fakemap_key(&objects_map, 0))->many,
				 large > of);
	}
	begin(state);
	fakemem_put(TYPE, 0);
	alloc(0, large, TYPE);
	assert_int_equal(((struct alloc_key *)fakemap_key(&objects_map, 0))->many, 0);
}

/* What another function allocates, which is called next, and nothing at all */
static void test_left_out(void **state)
{
	(void)state;
	alloc(0, 0, TYPE);
	alloc(1, HANDED_ON - 1, TYPE);
	alloc(PLACES, 64000, TYPE);
	assert_int_equal(objects_map.count, 0);
	alloc(1, HANDED_ON, TYPE);
	assert_int_equal(objects_of(0), stands_for(HANDED_ON) >> 8);
	alloc(0, HANDED_ON - 1, TYPE);
	assert_int_equal(objects_of(1), stands_for(HANDED_ON - 1) >> 8);
}

/* 1 - exp(-size / EVERY): the chance that it is a sample, and as how many it counts then */
static void test_chance(void **state)
{
	static const struct {
		u64 size, chance; /* in millionths */
	} rows[] = {{1, 1000},       {10, 9950},       {100, 95163},    {500, 393469},
		    {693, 499926},   {1000, 632121},   {2000, 864665},  {5000, 993262},
		    {10000, 999955}, {30000, 1000000}, {70000, 1000000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		u64 least = rows[i].chance * 9996 / 10000, most = rows[i].chance * 10004 / 10000;
		u64 number;

		begin(state);
		number = stands_for(rows[i].size);
		assert_in_range(number, 65536000000 / most, 65536000000 / least + 1);
		/* it is one up to that chance */
		fakekernel.random = (least << 30) / 1000000 << 2;
		assert_int_equal(stands_for(rows[i].size), number);
		fakekernel.random = (most << 30) / 1000000 << 2;
		if (rows[i].chance < 999000)
			assert_int_equal(stands_for(rows[i].size), 0);
	}
	fakekernel.random = 0xffffffff;
	assert_int_equal(stands_for(64000), WHOLE);
	assert_int_equal(stands_for(1ULL << 62), WHOLE);
	assert_int_equal(stands_for(50), 0);
}

static void test_lost(void **state)
{
	(void)state;
	for (u32 i = 0; i < COUNTS + 2; i++)
		alloc(0, 64000, TYPE + 8 * i);
	assert_int_equal(loss(ALLOC_LOSS_ROOM), 2);
	assert_int_equal(loss(ALLOC_LOSS_STACKS), 0);
	begin(state);
	fakekernel.refuses = "stacks";
	alloc(1, 64000, TYPE);
	assert_int_equal(loss(ALLOC_LOSS_STACKS), 1);
	assert_int_equal(((struct alloc_key *)fakemap_key(&objects_map, 0))->place, 0);
	begin(state);
	fakekernel.refuses = "bytes";
	alloc(0, 64000, TYPE);
	assert_int_equal(loss(ALLOC_LOSS_ROOM), 1);
	regs.flags = 1;
	fakekernel.refuses = NULL;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL_IF_CHECKED, 0, 0);
	on_probe(&regs);
	assert_int_equal(loss(ALLOC_LOSS_ROOM), 1);
	assert_int_equal(bytes_map.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_counted, begin),
		cmocka_unit_test_setup(test_many, begin),
		cmocka_unit_test_setup(test_left_out, begin),
		cmocka_unit_test_setup(test_chance, begin),
		cmocka_unit_test_setup(test_lost, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
