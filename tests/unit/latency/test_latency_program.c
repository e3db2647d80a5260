// SPDX-License-Identifier: Apache-2.0
/* gofunclatency's kernel side, run on this side: each call's latency, how calls end that do not
 * return, which of them have failed, and what hits cost. */
#include "fakegoroutine.h"
#include "unit.h"

#define GOROUTINES 2
#define ROWS 3
#define UNIT 1
#define PER_ROW
#define PLACES 200
#define DEEP_CALLS 2000
#define ERRORS
#define COST_ROWS 2

#include "bpf-src/gofunclatency.bpf.c" /* NOLINT(bugprone-suspicious-include) */

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	fakegoroutine_begin(6);
	control.lookup(&zero)->active = 1;
	return 0;
}

static void hit_copy(unsigned n, unsigned depth, u32 row, enum cookie_kind kind, u32 copy)
{
	fakegoroutine_runs(n, depth);
	fakekernel.cookie = cookie_make(row, kind, 0, copy);
	assert_int_equal(on_probe(&regs), 0);
}

static void hit(unsigned n, unsigned depth, u32 row, enum cookie_kind kind)
{
	hit_copy(n, depth, row, kind, 0);
}

static void call(unsigned n, unsigned depth, u32 row)
{
	hit(n, depth, row, COOKIE_CALL);
}

static void ret(unsigned n, unsigned depth, u32 row)
{
	hit(n, depth, row, COOKIE_RETURN);
}

static const struct call_sums *sum(u32 row)
{
	return sums.lookup(&row);
}

static void expect_sum(u32 row, u64 count, u64 total, u64 panicked, u64 exited, u64 switched,
		       u64 lost)
{
	const struct call_sums *s = sum(row);

	if (s->count != count || s->total_ns != total || s->panicked != panicked ||
	    s->exited != exited || s->switched != switched || s->lost != lost)
		fail_msg("row %u: %llu calls of %llu ns, %llu %llu %llu %llu", row, s->count,
			 s->total_ns, s->panicked, s->exited, s->switched, s->lost);
}

static u64 loss(u32 which)
{
	return FAKEGOROUTINE_COUNT(losses, which);
}

static void expect_loss(u32 which, u64 count)
{
	for (u32 i = 0; i < LOSSES; i++)
		if (loss(i) != (i == which ? count : 0))
			fail_msg("loss %u: %llu", i, loss(i));
}

static u64 placed(u32 row, u64 ns)
{
	u64 key = latency_place(row, histogram_index(ns)), *count = places.lookup(&key);

	return count ? *count : 0;
}

static void test_calls(void **state)
{
	u32 zero = 0, index;

	(void)state;
	call(1, 64, 0);  /* begins at 1010 */
	call(1, 128, 1); /* 1030 */
	ret(1, 128, 1);  /* 1040 */
	call(2, 64, 1);  /* 1060 */
	call(1, 128, 1); /* 1080 */
	ret(1, 128, 1);  /* 1090 */
	ret(1, 64, 0);   /* 1100 */
	control.lookup(&zero)->epoch = 1;
	ret(2, 64, 1); /* 1110 */
	ret(2, 64, 1); /* of none */
	expect_sum(0, 1, 90, 0, 0, 0, 0);
	expect_sum(1, 3, 70, 0, 0, 0, 0);
	expect_sum(2, 0, 0, 0, 0, 0, 0);
	assert_int_equal(placed(0, 90), 1);
	assert_int_equal(placed(1, 10), 2);
	assert_int_equal(placed(1, 50), 1);
	index = 2;
	assert_int_equal(extremes.lookup(&index)->max_ns, 10);
	assert_int_equal(~extremes.lookup(&index)->not_min_ns, 10);
	index = 3;
	assert_int_equal(extremes.lookup(&index)->max_ns, 50);
	index = 0;
	assert_int_equal(extremes.lookup(&index)->max_ns, 90);
	assert_int_equal(goroutines_map.count, 0);
	expect_loss(LOSSES, 0);
}

/* What its goroutine's stack no longer reaches down to is over. */
static void test_lost_ends(void **state)
{
	(void)state;
	call(1, 64, 0);
	call(1, 128, 1);
	call(1, 192, 2);
	call(1, 128, 1);
	expect_sum(1, 0, 0, 0, 0, 0, 1);
	expect_sum(2, 0, 0, 0, 0, 0, 1);
	ret(1, 64, 0);
	expect_sum(1, 0, 0, 0, 0, 0, 2);
	assert_int_equal(sum(0)->count, 1);
	assert_int_equal(goroutines_map.count, 0);
	/* on a system stack it was left by a switch */
	call(0, 64, 0);
	call(0, 128, 1);
	call(0, 64, 0);
	expect_sum(1, 0, 0, 0, 0, 1, 2);
	assert_int_equal(sum(0)->switched, 1);
}

static void test_hooks(void **state)
{
	static const struct {
		enum cookie_kind kind;
		u64 panicked, exited, left;
	} rows[] = {{COOKIE_RECOVERED, 2, 0, 1}, {COOKIE_GOEXIT, 0, 3, 0}, {COOKIE_FATAL, 3, 0, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(state);
		call(1, 64, 1);
		call(1, 128, 1);
		call(1, 192, 1);
		fakemem_put(fakegoroutine_g(1) + G_SCHED_SP, fakegoroutine_hi(1) - 128);
		hit(1, 256, 0, rows[i].kind);
		expect_sum(1, 0, 0, rows[i].panicked, rows[i].exited, 0, 0);
		assert_int_equal(goroutines_map.count, rows[i].left);
	}
}

/* Of a goroutine that is resumed, but is nowhere */
static void test_not_resumed(void **state)
{
	static const u64 depths[] = {0x1001, 0x1000, 0xfff, 1, 0};

	(void)state;
	call(1, 64, 1);
	for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
		begin(state);
		call(1, 8, 1);
		fakemem_put(fakegoroutine_g(1) + G_SCHED_SP, fakegoroutine_hi(1) - depths[i]);
		hit(1, 256, 0, COOKIE_RECOVERED);
		expect_sum(1, 0, 0, depths[i] < 8, 0, 0, 0);
	}
	begin(state);
	call(1, 64, 1);
	fakemem_put(fakegoroutine_g(1) + G_SCHED_SP, fakegoroutine_hi(1) - 8);
	fakemem_put(fakegoroutine_g(1) + GOID_OFF, 0);
	hit(1, 256, 0, COOKIE_RECOVERED);
	expect_sum(1, 0, 0, 0, 0, 0, 0);
	expect_loss(LOSSES, 0);
}

/* --- several calls at one depth --- */

static void test_copies(void **state)
{
	(void)state;
	hit_copy(1, 64, 0, COOKIE_CALL, 1);   /* 1010 */
	hit_copy(1, 64, 1, COOKIE_CALL, 2);   /* 1030 */
	hit_copy(1, 64, 2, COOKIE_CALL, 3);   /* 1050 */
	hit_copy(1, 64, 1, COOKIE_RETURN, 3); /* none is this one's */
	hit_copy(1, 64, 2, COOKIE_RETURN, 2);
	hit_copy(1, 64, 0, COOKIE_RETURN, 1); /* 1080, the outermost first */
	expect_sum(0, 1, 70, 0, 0, 0, 0);
	hit_copy(1, 64, 2, COOKIE_RETURN, 3);
	hit_copy(1, 64, 1, COOKIE_RETURN, 2);
	expect_sum(2, 1, 40, 0, 0, 0, 0);
	expect_sum(1, 1, 70, 0, 0, 0, 0);
	assert_int_equal(goroutines_map.count, 0);
}

/* So many at one depth are looked through. */
static void test_many_copies(void **state)
{
	for (unsigned copies = SAME_DEPTH_MAX; copies <= SAME_DEPTH_MAX + 1; copies++) {
		begin(state);
		for (u32 i = 1; i <= copies; i++)
			hit_copy(1, 64, 0, COOKIE_CALL, i);
		hit_copy(1, 64, 0, COOKIE_RETURN, 1);
		assert_int_equal(sum(0)->count, copies == SAME_DEPTH_MAX);
		for (u32 i = copies; i > 1; i--)
			hit_copy(1, 64, 0, COOKIE_RETURN, i);
		assert_int_equal(sum(0)->count, copies == SAME_DEPTH_MAX ? copies : copies - 1);
	}
}

static void test_tails(void **state)
{
	(void)state;
	fakemem_put(fakegoroutine_hi(1) - 64, 0x4444);
	hit_copy(1, 64, 0, COOKIE_CALL, COOKIE_TAIL);   /* 1010 */
	hit_copy(1, 64, 1, COOKIE_CALL, COOKIE_TAIL);   /* 1030: by a jump */
	hit_copy(1, 64, 1, COOKIE_RETURN, COOKIE_TAIL); /* both end, one for each probe */
	hit_copy(1, 64, 1, COOKIE_RETURN, COOKIE_TAIL);
	expect_sum(1, 1, 10, 0, 0, 0, 0);
	expect_sum(0, 1, 40, 0, 0, 0, 0);
	hit_copy(1, 64, 0, COOKIE_CALL, COOKIE_TAIL);
	hit_copy(1, 64, 0, COOKIE_CALL, COOKIE_TAIL); /* not by a jump: the other one is over */
	assert_int_equal(sum(0)->lost, 1);
	fakemem_put(fakegoroutine_hi(1) - 64, 0x5555);
	hit_copy(1, 64, 1, COOKIE_CALL, COOKIE_TAIL);
	assert_int_equal(sum(0)->lost, 2);
}

static void test_jumps(void **state)
{
	(void)state;
	call(1, 64, 0);
	call(1, 128, 1);
	hit(1, 128, 1, COOKIE_JUMP);
	assert_int_equal(sum(1)->jumped, 1);
	expect_sum(1, 0, 0, 0, 0, 0, 0);
	ret(1, 64, 0);
	expect_sum(0, 1, 40, 0, 0, 0, 0);
	hit(1, 128, 1, COOKIE_JUMP); /* of none */
	assert_int_equal(sum(1)->jumped, 1);
}

/* --- calls deep inside others --- */

static void test_deep(void **state)
{
	const unsigned count = 100;

	(void)state;
	for (unsigned i = 0; i < count; i++)
		call(1, 64 + 8 * i, i % 3);
	assert_int_equal(deep_calls_map.count, count - CALLS_INLINE);
	for (unsigned i = count; i-- > 0;)
		ret(1, 64 + 8 * i, i % 3);
	/* each begins 20 after the one before, and the i-th one from the end ends after 10 * i */
	u64 total[3] = {0};

	for (unsigned i = 0; i < count; i++)
		total[i % 3] += 1000 + 20 * count + 10 * (count - 1 - i) - (1010 + 20 * i);
	for (u32 row = 0; row < 3; row++)
		expect_sum(row, (count + 2 - row) / 3, total[row], 0, 0, 0, 0);
	assert_int_equal(deep_calls_map.count, 0);
	assert_int_equal(goroutines_map.count, 0);
	expect_loss(LOSSES, 0);
}

/* Any number of them may end at once, at any depth. */
static void test_deep_ends(void **state)
{
	for (unsigned left = 1; left < 40; left++) {
		begin(state);
		for (unsigned i = 0; i < 40; i++)
			call(1, 64 + 8 * i, 0);
		call(1, 64 + 8 * left, 1);
		expect_sum(0, 0, 0, 0, 0, 0, 40 - left);
		assert_int_equal(deep_calls_map.count,
				 left + 1 > CALLS_INLINE ? left + 1 - CALLS_INLINE : 0);
		ret(1, 64 + 8 * left, 1);
		ret(1, 64 + 8 * (left - 1), 0);
		assert_int_equal(sum(0)->count, 1);
		assert_int_equal(sum(1)->count, 1);
		hit(1, 512, 0, COOKIE_GOEXIT);
		expect_sum(0, 1, sum(0)->total_ns, 0, left - 1, 0, 40 - left);
		assert_int_equal(deep_calls_map.count, 0);
		assert_int_equal(goroutines_map.count, 0);
		assert_int_equal(marks_map.count, 0);
	}
}

/* More than can be counted at once: the others are when others take their place, as they ended. */
static void test_marked(void **state)
{
	const unsigned at_once = DELETED_MAX * 64, count = CALLS_INLINE + at_once + 50;

	for (unsigned panics = 0; panics < 2; panics++) {
		begin(state);
		const unsigned long long *ended = panics ? &sum(0)->panicked : &sum(0)->exited;

		for (unsigned i = 0; i < count; i++)
			call(1, 64 + 1 * i, 0);
		hit(1, 0xff8, 0, panics ? COOKIE_FATAL : COOKIE_GOEXIT);
		assert_int_equal(*ended, CALLS_INLINE + at_once);
		assert_int_equal(deep_calls_map.count, 50);
		assert_int_equal(marks_map.count, !panics);
		for (unsigned i = 0; i < CALLS_INLINE + 60; i++)
			call(1, 64 + 8 * i, 1);
		assert_int_equal(*ended, count);
		assert_int_equal(sum(0)->panicked + sum(0)->exited, count);
		expect_sum(1, 0, 0, 0, 0, 0, 0);
	}
}

static void test_deep_copies(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CALLS_INLINE - 1; i++)
		call(1, 64 + 8 * i, 0);
	/* at the border: one is among the first, two are not */
	hit_copy(1, 512, 1, COOKIE_CALL, 1);
	hit_copy(1, 512, 1, COOKIE_CALL, 2);
	hit_copy(1, 512, 2, COOKIE_CALL, 3);
	hit_copy(1, 512, 1, COOKIE_RETURN, 1);
	assert_int_equal(sum(1)->count, 1);
	assert_int_equal(sum(1)->total_ns, 50);
	hit_copy(1, 512, 2, COOKIE_RETURN, 3);
	assert_int_equal(sum(2)->total_ns, 20);
	hit_copy(1, 512, 1, COOKIE_RETURN, 2);
	assert_int_equal(sum(1)->total_ns, 50 + 50);
	assert_int_equal(deep_calls_map.count, 0);
}

/* --- losses --- */

static void test_no_room(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 4; n++)
		call(n, 64, 0);
	expect_loss(LOSS_GOROUTINES, 2);
	fakekernel.refuses = "deep_calls";
	for (unsigned i = 0; i < CALLS_INLINE + 3; i++)
		call(1, 128 + 8 * i, 0);
	assert_int_equal(loss(LOSS_MEMORY), 4);
	begin(state);
	fakekernel.refuses = "goroutines";
	call(1, 64, 0);
	expect_loss(LOSS_MEMORY, 1);
	begin(state);
	fakekernel.refuses = "processes";
	call(1, 64, 0);
	expect_loss(LOSS_MEMORY, 1);
	begin(state);
	for (unsigned i = 0; i < CALLS_INLINE + DEEP_CALLS + 2; i++)
		call(1, 64 + i, 0);
	expect_loss(LOSS_DEEP, 2);
}

static void test_places(void **state)
{
	(void)state;
	for (u64 i = 0, ns = 10; i < PLACES + 2; i++, ns += ns / 8 + 1) {
		call(1, 64, 0);
		fakekernel.ns += ns;
		ret(1, 64, 0);
	}
	expect_loss(LOSS_PLACES, 2);
	assert_int_equal(sum(0)->count, PLACES + 2);
	begin(state);
	fakekernel.refuses = "places";
	call(1, 64, 0);
	ret(1, 64, 0);
	expect_loss(LOSS_PLACES, 1);
}

static void test_no_hits(void **state)
{
	u32 zero = 0;

	(void)state;
	control.lookup(&zero)->active = 0;
	call(1, 64, 0);
	control.lookup(&zero)->active = 1;
	hit(1, 64, 0, COOKIE_NONE);
	regs.flags = 1;
	hit(1, 64, 0, COOKIE_CALL_IF_CHECKED);
	assert_int_equal(goroutines_map.count, 0);
	regs.flags = 0;
	hit(1, 64, 0, COOKIE_CALL_IF_CHECKED);
	assert_int_equal(goroutines_map.count, 1);
	regs.flags = 0x40;
	hit(1, 32, 0, COOKIE_CALL_IF_CHECKED);
	hit(1, 32, 0, COOKIE_NONE);
	assert_int_equal(goroutines_map.count, 1);
	regs.r14 = 0x10;
	on_probe(&regs);
	expect_loss(LOSSES, 0);
	fakekernel.cookie = cookie_make(0, COOKIE_RETURN, 0, 0);
	on_probe(&regs);
	expect_loss(LOSSES, 0);
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 0, 0);
	on_probe(&regs);
	expect_loss(LOSS_UNREADABLE, 1);
}

/* --- errors --- */

static void test_errors_in_registers(void **state)
{
	for (u32 n = 0; n < 10; n++) {
		begin(state);
		unsigned long *const at[] = {&regs.ax, &regs.bx, &regs.cx,  &regs.di, &regs.si,
					     &regs.r8, &regs.r9, &regs.r10, &regs.r11};
		u32 row = 0;

		*error_places.lookup(&row) = (struct error_place){ERROR_IN_REGISTER, n};
		for (unsigned i = 0; i < 9; i++) {
			call(1, 64, 0);
			*at[i] = 0x1234;
			ret(1, 64, 0);
			*at[i] = 0;
			assert_int_equal(sum(0)->errors, i >= n);
		}
		call(1, 64, 1); /* one whose last result is none */
		regs.ax = 1;
		ret(1, 64, 1);
		assert_int_equal(sum(1)->errors, 0);
		regs.ax = 0;
	}
}

static void test_errors_on_stack(void **state)
{
	u32 row = 0;

	(void)state;
	*error_places.lookup(&row) = (struct error_place){ERROR_ON_STACK, 24};
	call(1, 64, 0);
	ret(1, 64, 0);
	assert_int_equal(sum(0)->errors, 0);
	fakemem_put(fakegoroutine_hi(1) - 64 + 32, 5);
	call(1, 64, 0);
	ret(1, 64, 0);
	assert_int_equal(sum(0)->errors, 1);
	assert_int_equal(sum(0)->unread, 0);
	call(1, 64, 0);
	error_places.lookup(&row)->n = 1 << 30;
	ret(1, 64, 0);
	assert_int_equal(sum(0)->errors, 1);
	assert_int_equal(sum(0)->unread, 1);
	assert_int_equal(sum(0)->count, 3);
	ret(1, 64, 0);
	assert_int_equal(sum(0)->unread, 1);
}

/* --- costs --- */

static struct cost_cpu *spent_here(void)
{
	u32 zero = 0;

	return cost_cpus.lookup(&zero);
}

static void test_costs(void **state)
{
	u32 zero = 0, one = 1;
	struct cost_limit *limit = cost_limits.lookup(&zero);

	(void)state;
	*limit = (struct cost_limit){.entry = 100, .stepped = 700, .end = 300};
	cost_rows.lookup(&one)->stepped = 1;
	call(1, 64, 0);
	assert_int_equal(spent_here()->spent, 100);
	ret(1, 64, 0);
	assert_int_equal(spent_here()->spent, 400);
	call(1, 64, 1);
	assert_int_equal(spent_here()->spent, 1100);
	hit(1, 64, 1, COOKIE_JUMP);
	assert_int_equal(spent_here()->spent, 1400);
	hit(1, 64, 1, COOKIE_CALL_IF_CHECKED);
	assert_int_equal(spent_here()->spent, 2100);
	hit(1, 64, 0, COOKIE_GOEXIT);
	assert_int_equal(spent_here()->spent, 2200);
	call(1, 64, 2); /* beyond the rows */
	assert_int_equal(spent_here()->spent, 2300);
	assert_int_equal(spent_here()->hits, 7);
}

static void test_limit(void **state)
{
	u32 zero = 0, one = 1;
	struct cost_limit *limit = cost_limits.lookup(&zero);
	struct cost_sum *all = cost_sums.lookup(&zero);

	(void)state;
	*limit = (struct cost_limit){.entry = COST_BATCH_NS - 1, .end = 1};
	call(1, 64, 0);
	assert_int_equal(all->spent, 0);
	ret(1, 64, 1);
	assert_int_equal(all->spent, COST_BATCH_NS);
	assert_int_equal(cost_rows.lookup(&zero)->spent, 0);
	assert_int_equal(cost_rows.lookup(&one)->spent, COST_BATCH_NS);
	limit->entry = COST_BATCH_NS + 5;
	hit(1, 64, 0, COOKIE_GOEXIT); /* of no row */
	assert_int_equal(all->spent, 2 * COST_BATCH_NS + 5);
	assert_int_equal(spent_here()->told, all->spent);
	assert_int_equal(cost_rows.lookup(&zero)->spent, 0);
	limit->entry = COST_BATCH_NS;
	limit->spent = 3 * COST_BATCH_NS + 5;
	call(1, 64, 0);
	assert_int_equal(all->over, 0);
	assert_int_equal(goroutines_map.count, 1);
	call(2, 64, 0);
	assert_int_equal(all->over, 1);
	assert_int_equal(goroutines_map.count, 1); /* this one is not handled any more */
	limit->spent = 0;
	begin(state);
	limit = cost_limits.lookup(&zero);
	*limit = (struct cost_limit){.entry = 1U << 31};
	call(1, 64, 0);
	assert_int_equal(goroutines_map.count, 1); /* no limit */
}

/* --- histograms, and largest values --- */

static void test_index(void **state)
{
	u64 low = 0;

	(void)state;
	/* slots are one after the other, and 1/16 of an octave wide from 16 on */
	for (u32 slot = 0; slot < HISTOGRAM_SLOTS; slot++) {
		u64 width = slot < 32 ? 1 : 1ULL << (slot / 16 - 1);

		assert_int_equal(histogram_index(low), slot);
		assert_int_equal(histogram_index(low + width - 1), slot);
		low += width;
	}
	assert_int_equal(low, 0); /* after the largest number */
	for (unsigned i = 0; i < 64; i++)
		assert_int_equal(histogram_log2((1ULL << i) | (i ? 1ULL << (i - 1) : 0)), i);
}

static void test_raise(void **state)
{
	u64 slot = 5;

	(void)state;
	extremes_raise(&slot, 4);
	assert_int_equal(slot, 5);
	extremes_raise(&slot, 5);
	assert_int_equal(slot, 5);
	extremes_raise(&slot, 6);
	assert_int_equal(slot, 6);
	extremes_raise(&slot, ~0ULL);
	assert_int_equal(slot, ~0ULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_calls, begin),
		cmocka_unit_test_setup(test_lost_ends, begin),
		cmocka_unit_test_setup(test_hooks, begin),
		cmocka_unit_test_setup(test_not_resumed, begin),
		cmocka_unit_test_setup(test_copies, begin),
		cmocka_unit_test_setup(test_many_copies, begin),
		cmocka_unit_test_setup(test_tails, begin),
		cmocka_unit_test_setup(test_jumps, begin),
		cmocka_unit_test_setup(test_deep, begin),
		cmocka_unit_test_setup(test_deep_ends, begin),
		cmocka_unit_test_setup(test_marked, begin),
		cmocka_unit_test_setup(test_deep_copies, begin),
		cmocka_unit_test_setup(test_no_room, begin),
		cmocka_unit_test_setup(test_places, begin),
		cmocka_unit_test_setup(test_no_hits, begin),
		cmocka_unit_test_setup(test_errors_in_registers, begin),
		cmocka_unit_test_setup(test_errors_on_stack, begin),
		cmocka_unit_test_setup(test_costs, begin),
		cmocka_unit_test_setup(test_limit, begin),
		cmocka_unit_test_setup(test_index, begin),
		cmocka_unit_test_setup(test_raise, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
