// SPDX-License-Identifier: Apache-2.0
/* Where the runtime of each release has its numbers, by what its code refers to, which is made up.
 */
#include "unit.h"

#include <string.h>

#include "goroutines/runtime_refs.h"
#include "gostat/gc_vars.h"
#include "gostat/stats_vars_internal.h"
#include "program/program.h"

enum {
	LIVE = 0x10000,    /* gcController.heapLive */
	HEAP1 = 0x20000,   /* work.heap1 */
	LAST_GC = 0x30000, /* memstats.last_gc_unix */
	OLD = 0x40000,     /* gcController.assistTime of Go 1.15 */
	PROCS = 0x50000,   /* gomaxprocs */
	PERCENT = 0x60000, /* gcpercent of Go 1.15 */
	SLICES = 0x70000,  /* allp and another one */
	PAUSES = 8 * 256,
};

static struct coderef mark[32], last[8], procs[16];
static size_t mark_count, last_count, procs_count;

/* --- in place of goroutines/runtime_refs.c --- */

bool runtime_refs_add(const struct program *prog, const char *func, struct runtime_refs *refs)
{
	const struct coderef *from = procs;
	size_t count = procs_count;
	static const struct coderef trigger[] = {{PERCENT - 8, 8, ACCESS_LOAD},
						 {PERCENT, 4, ACCESS_LOAD}};

	(void)prog;
	if (!strcmp(func, "runtime.gcMarkTermination")) {
		from = mark;
		count = mark_count;
	} else if (!strcmp(func, "runtime.gcMarkTermination.func1")) {
		from = last;
		count = last_count;
	} else if (!strcmp(func, "runtime.gcSetTriggerRatio")) {
		from = trigger;
		count = sizeof(trigger) / sizeof(*trigger);
	} else {
		assert_string_equal(func, "runtime.procresize");
	}
	memcpy(refs->all + refs->count, from, count * sizeof(*from));
	refs->count += count;
	return true;
}

bool runtime_refs_has(const struct runtime_refs *refs, uint64_t addr)
{
	for (size_t i = 0; i < refs->count; i++)
		if (refs->all[i].addr == addr)
			return true;
	return false;
}

/* --- a release's code --- */

static void refer(uint64_t addr, uint8_t bytes, int how)
{
	mark[mark_count++] = (struct coderef){.addr = addr, .bytes = bytes, .how = how};
}

static void refer_last(uint64_t addr)
{
	last[last_count++] = (struct coderef){.addr = addr, .bytes = 8, .how = ACCESS_STORE};
}

/* work.heap1 = gcController.heapLive, and what else the function refers to */
static struct program begin(int release)
{
	uint64_t base = LAST_GC - (release == 16 ? 8 : 0);

	mark_count = last_count = procs_count = 0;
	refer(0x100, 4, ACCESS_LOAD);
	refer(0x108, 8, ACCESS_STORE);
	refer(LIVE, 8, ACCESS_LOAD);
	refer(HEAP1, 8, ACCESS_STORE);
	refer(HEAP1 - 8, 8, ACCESS_LOAD);
	refer(HEAP1 + 8, 8, ACCESS_LOAD);
	refer(LIVE + 168, 8, ACCESS_LOAD);
	refer(HEAP1 - (release >= 22 ? 48 : 56), 8, ACCESS_LOAD);
	refer(base - 112, 8, ACCESS_LOAD); /* last_heap_inuse = heap_inuse, up to Go 1.18 */
	refer(LAST_GC + (release == 16 ? 5800 : 5784), 8, ACCESS_STORE);
	refer_last(LAST_GC - 8);
	refer_last(LAST_GC);
	refer_last(LAST_GC + 8);
	refer_last(LAST_GC + 16);
	refer_last(LAST_GC + 16 + PAUSES);
	refer_last(LAST_GC + 16 + 2 * PAUSES);
	refer_last(LAST_GC + 16 + 2 * PAUSES + 8);
	procs[procs_count++] = (struct coderef){.addr = 0x1, .bytes = 8, .how = ACCESS_LOAD};
	procs[procs_count++] = (struct coderef){.addr = 0x2, .bytes = 4, .how = ACCESS_STORE};
	procs[procs_count++] = (struct coderef){.addr = PROCS, .bytes = 4, .how = ACCESS_LOAD};
	procs[procs_count++] = (struct coderef){.addr = 0x3, .bytes = 4, .how = ACCESS_LOAD};
	for (uint64_t at = 0; at < 8; at++) /* two slices, the second of them twice */
		procs[procs_count++] =
			(struct coderef){.addr = SLICES + (at & 3) * 8 + (at & 2) * 8,
					 .bytes = 8,
					 .how = ACCESS_LOAD};
	return (struct program){.release = release, .release_told = true};
}

static struct stats_vars find(const struct program *prog)
{
	struct stats_vars vars;

	stats_vars_find(prog, &vars);
	return vars;
}

static struct gc_vars find_gc(const struct program *prog)
{
	struct gc_vars vars;

	gc_vars_find(prog, &vars);
	return vars;
}

/* --- gostat's --- */

static void test_since_the_pacer(void **state)
{
	static const struct {
		int release;
		int64_t limit;
		uint64_t delta;
	} rows[] = {
		{19, -128, 1176}, {20, -72, 1176}, {21, -96, 1176},
		{24, -96, 1176},  {25, -96, 1168}, {27, -96, 1168},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct program prog = begin(rows[i].release);
		const struct stats_vars vars = find(&prog);

		assert_int_equal(vars.gomaxprocs, PROCS);
		assert_int_equal(vars.slices[0], SLICES);
		assert_int_equal(vars.slices[1], SLICES + 32);
		assert_int_equal(vars.slices[2], 0);
		assert_int_equal(vars.gc_cycles, LAST_GC + 16 + 2 * PAUSES);
		assert_int_equal(vars.pause_total, LAST_GC + 8);
		assert_int_equal(vars.gc_fraction, LAST_GC + 16 + 2 * PAUSES + 8);
		assert_int_equal(vars.goal, LIVE - 32);
		assert_int_equal(vars.sweep_goal, LIVE - 24);
		assert_int_equal(vars.triggered, LIVE - 16);
		assert_int_equal(vars.limit, LIVE + rows[i].limit);
		assert_int_equal(vars.heap_inuse, LIVE + 168);
		assert_int_equal(vars.heap_released, LIVE + 176);
		assert_int_equal(vars.heap_free, LIVE + 184);
		assert_int_equal(vars.total_alloc, LIVE + 192);
		assert_int_equal(vars.total_free, LIVE + 200);
		assert_int_equal(vars.heap_idle, 0);
		assert_int_equal(vars.next_gc, 0);
		for (size_t n = 0; n < STATS_STACKS; n++)
			assert_int_equal(vars.stacks[n],
					 LAST_GC - 64 - (STATS_STACKS - n) * rows[i].delta + 24);
		assert_int_equal(vars.gogc, vars.limit - 8);
		assert_int_equal(vars.last_gc, LAST_GC);
		/* tinyAllocCount of the first delta, behind inWorkBufs, and inPtrScalarBits */
		assert_int_equal(vars.counts, vars.stacks[0] + (rows[i].release < 25 ? 24 : 16));
		assert_int_equal(vars.counts_apart, rows[i].delta);
		/* inWorkBufs and inPtrScalarBits of each delta, stacks_sys to other_sys */
		assert_int_equal(vars.own[0], LAST_GC - 64 - 3 * rows[i].delta + 32);
		assert_int_equal(vars.own[1], rows[i].release < 25 ? vars.own[0] + 8
								   : vars.own[0] + rows[i].delta);
		assert_int_equal(vars.own[rows[i].release < 25 ? 11 : 8], LAST_GC - 8);
		assert_int_equal(vars.own[rows[i].release < 25 ? 6 : 3], LAST_GC - 48);
	}
}

static void test_oldest(void **state)
{
	const struct program prog = begin(15);
	const struct stats_vars vars = find(&prog);

	(void)state;
	assert_int_equal(vars.heap_inuse, LAST_GC - 0x68);
	assert_int_equal(vars.heap_idle, LAST_GC - 0x70);
	assert_int_equal(vars.heap_released, LAST_GC - 0x60);
	assert_int_equal(vars.next_gc, LAST_GC - 8);
	assert_int_equal(vars.stacks[0], LAST_GC - 0x50);
	assert_int_equal(vars.stacks[1], 0);
	assert_int_equal(vars.own[0], LAST_GC - 0x48);
	assert_int_equal(vars.own[5], LAST_GC - 0x10);
	assert_int_equal(vars.own[6], 0);
	assert_int_equal(vars.last_gc, LAST_GC);
	assert_int_equal(vars.counts, 0);
	assert_int_equal(vars.gogc, PERCENT);
	assert_int_equal(vars.total_alloc, 0);
	assert_int_equal(vars.goal, 0);
}

/* memstats has what 1.15 counts at once, or 1.19 has elsewhere; what is allocated is counted by
 * size alone. */
static void test_middle(void **state)
{
	static const struct {
		int release;
		uint64_t base, deltas, delta, next_gc, gogc;
	} rows[] = {
		{16, LAST_GC - 8, LAST_GC + 5848, 1168, LAST_GC - 8, PERCENT},
		{17, LAST_GC, LAST_GC + 5792, 1176, LIVE - 16, LIVE - 48},
		{18, LAST_GC, LAST_GC + 5792, 1176, LIVE - 16, LIVE - 120},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct program prog = begin(rows[i].release);
		const struct stats_vars vars = find(&prog);

		assert_int_equal(vars.heap_sys, rows[i].base - 120);
		assert_int_equal(vars.heap_inuse, rows[i].base - 112);
		assert_int_equal(vars.heap_released, rows[i].base - 104);
		assert_int_equal(vars.heap_idle | vars.heap_free | vars.total_alloc, 0);
		assert_int_equal(vars.next_gc, rows[i].next_gc);
		assert_int_equal(vars.gogc, rows[i].gogc);
		assert_int_equal(vars.goal | vars.limit, 0);
		for (size_t n = 0; n < STATS_STACKS; n++)
			assert_int_equal(vars.stacks[n], rows[i].deltas + n * rows[i].delta + 24);
		/* inWorkBufs and inPtrScalarBits of each delta, stacks_sys to other_sys */
		assert_int_equal(vars.own[0], rows[i].deltas + 32);
		assert_int_equal(vars.own[5], rows[i].deltas + 2 * rows[i].delta + 40);
		assert_int_equal(vars.own[6], rows[i].base - 80);
		assert_int_equal(vars.own[11], rows[i].base - 8);
		assert_true(vars.counted_bytes);
		assert_int_equal(vars.counts_apart, rows[i].delta);
		assert_int_equal(vars.counts, rows[i].deltas + (rows[i].release == 16 ? 40 : 48));
		assert_int_equal(vars.tiny, rows[i].release == 16 ? LAST_GC + 5784 : 0);
	}
}

/* Of a release that is not told, and where the code is another, what is the same in all is known.
 */
static void test_not_told(void **state)
{
	static const struct stats_vars none;
	struct program prog;
	struct stats_vars vars;

	(void)state;
	for (int i = 0; i < 6; i++) {
		prog = begin(i < 3 ? 16 + i : i == 3 ? 27 : 17);
		prog.release_told = i != 3;
		if (i != 3) /* heap_inuse, or last_heap_inuse */
			mark[mark_count - 1 - i % 2].addr++;
		vars = find(&prog);
		assert_int_equal(vars.pause_total, LAST_GC + 8);
		assert_int_equal(vars.last_gc, LAST_GC);
		vars.pause_total = vars.gc_cycles = vars.gomaxprocs = vars.gc_fraction = 0;
		vars.last_gc = 0;
		vars.slices[0] = vars.slices[1] = 0;
		assert_memory_equal(&vars, &none, sizeof(none));
	}
}

/* Code that does not look as it should: nothing is guessed. */
static void test_other_code(void **state)
{
	struct program prog = begin(27);

	(void)state;
	last[6].addr++; /* memstats.gc_cpu_fraction */
	assert_int_equal(find(&prog).gc_fraction, 0);
	assert_int_equal(find(&prog).pause_total, LAST_GC + 8);
	mark[6].addr++; /* gcController.heapInuse */
	assert_int_equal(find(&prog).goal, 0);
	prog = begin(27);
	for (size_t i = 2; i < 6; i++) { /* one of what stands behind memstats.last_gc_unix */
		prog = begin(27);
		last[i].addr++;
		assert_int_equal(find(&prog).pause_total, 0);
		assert_int_equal(find(&prog).stacks[0], 0);
		assert_int_equal(find(&prog).goal, LIVE - 32);
	}
	prog = begin(27);
	mark[3].bytes = 4;
	assert_int_equal(find(&prog).goal, 0);
	prog = begin(27);
	mark[3].how = ACCESS_LOAD;
	assert_int_equal(find(&prog).goal, 0);
	prog = begin(27);
	procs_count = 2;
	assert_int_equal(find(&prog).gomaxprocs, 0);
}

/* --- gogc's --- */

static void test_collections(void **state)
{
	static const int releases[] = {19, 21, 22, 27};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const struct program prog = begin(releases[i]);
		const struct gc_vars vars = find_gc(&prog);

		assert_int_equal(vars.cycles, LAST_GC + 16 + 2 * PAUSES);
		assert_int_equal(vars.heap, HEAP1 - 8);
		assert_int_equal(vars.times, HEAP1 - (releases[i] >= 22 ? 48 : 56));
		assert_int_equal(vars.goal, LIVE - 8);
		assert_int_equal(vars.assist, LIVE + 88);
	}
}

/* Three times are added up in any order, and the fourth follows them; work's own are not meant. */
static void test_oldest_collections(void **state)
{
	struct program prog = begin(15);

	(void)state;
	for (uint64_t n = 0; n < 4; n++)
		refer(HEAP1 - 56 + n * 8, 8, ACCESS_LOAD);
	refer(OLD + 8, 8, ACCESS_LOAD);
	refer(OLD, 8, ACCESS_LOAD);
	refer(OLD + 16, 8, ACCESS_LOAD);
	assert_int_equal(find_gc(&prog).assist, 0);
	refer(OLD + 24, 8, ACCESS_LOAD);
	assert_int_equal(find_gc(&prog).assist, OLD);
	assert_int_equal(find_gc(&prog).goal, HEAP1 + 16);
	assert_int_equal(find_gc(&prog).times, HEAP1 - 56);
	for (prog.release = 16; prog.release < 19; prog.release++) {
		assert_int_equal(find_gc(&prog).assist, OLD);
		assert_int_equal(find_gc(&prog).goal, HEAP1 + 16);
		assert_int_equal(find_gc(&prog).heap, HEAP1 - 8);
	}
}

static void test_other_collections(void **state)
{
	struct program prog = begin(27);

	(void)state;
	mark[7].addr++;
	assert_int_equal(find_gc(&prog).times, 0);
	assert_int_equal(find_gc(&prog).heap, HEAP1 - 8);
	for (size_t i = 4; i < 6; i++) { /* heap0, heap2 */
		prog = begin(27);
		mark[i].addr += 0x1000;
		assert_int_equal(find_gc(&prog).heap, 0);
		assert_int_equal(find_gc(&prog).assist, 0);
	}
	prog = begin(27);
	prog.release_told = false;
	assert_int_equal(find_gc(&prog).heap, 0);
	assert_int_equal(find_gc(&prog).cycles, LAST_GC + 16 + 2 * PAUSES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_since_the_pacer),
		cmocka_unit_test(test_oldest),
		cmocka_unit_test(test_middle),
		cmocka_unit_test(test_not_told),
		cmocka_unit_test(test_other_code),
		cmocka_unit_test(test_collections),
		cmocka_unit_test(test_oldest_collections),
		cmocka_unit_test(test_other_collections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
