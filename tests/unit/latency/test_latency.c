// SPDX-License-Identifier: Apache-2.0
/* Times calls of this very program, which acts as Go's do: with a g in its register, on a stack
 * that the g names. Needs the privileges to trace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "fakeg.h"
#include "kernel/attach.h"
#include "kernel/bpfprog.h"
#include "kernel/kernelfeature.h"
#include "latency/latency.h"
#include "latency/histogram_internal.h"
#include "unit.h"

/* places of the runtime's hooks, after those of rows; then of calls that are gone on with by jumps:
 * where one of row 0 and of row 1 begins, where they return, and where they leave for good */
enum { GOEXIT = 4 * 3, FATAL, TAIL_0, TAIL_1, TAIL_END, TAIL_JUMP, PROBES };
enum { ROWS = 3, GOROUTINES = 8, LONG_MS = 100 };

struct fixture {
	struct bpfprog *prog;
	struct attach *attached;
	struct latency *lat;
	struct latency_report report;
};

/* Where a call of a row begins, and where it returns; of functions, and of inlined copies */
static unsigned place_of(unsigned row, bool copy, bool returns)
{
	return row * 2 + returns + (copy ? 2 * ROWS : 0);
}

static struct attach *attach_places(int fd, struct errmsg *err)
{
	struct fakeg_probe probes[PROBES] = {
		[GOEXIT] = {GOEXIT, cookie_make(0, COOKIE_GOEXIT, 0, 0)},
		[FATAL] = {FATAL, cookie_make(0, COOKIE_FATAL, 0, 0)},
		[TAIL_0] = {TAIL_0, cookie_make(0, COOKIE_CALL, 0, COOKIE_TAIL)},
		[TAIL_1] = {TAIL_1, cookie_make(1, COOKIE_CALL, 0, COOKIE_TAIL)},
		[TAIL_END] = {TAIL_END, cookie_make(2, COOKIE_RETURN, 0, COOKIE_TAIL)},
		[TAIL_JUMP] = {TAIL_JUMP, cookie_make(2, COOKIE_JUMP, 0, COOKIE_TAIL)},
	};

	for (unsigned i = 0; i < 4 * ROWS; i++) {
		unsigned row = i / 2 % ROWS, copy = i / (2 * ROWS) * (row + 1);
		enum cookie_kind kind = i & 1 ? COOKIE_RETURN : COOKIE_CALL;

		probes[i] = (struct fakeg_probe){i, cookie_make(row, kind, 0, copy)};
	}
	return fakeg_attach(fd, probes, PROBES, err);
}

static struct bpfprog *compile(bool per_row, struct errmsg *err)
{
	struct bpfprog_define defs[FAKEG_DEFINES + 8] = {
		{"ROWS", ROWS},       {"UNIT", 1},      {"GOROUTINES", GOROUTINES},
		{"DEEP_CALLS", 4096}, {"PLACES", 1024},
	};
	size_t count = 5;

	if (kernelfeature_cmpxchg())
		defs[count++] = (struct bpfprog_define){"CMPXCHG", 1};
	if (per_row)
		defs[count++] = (struct bpfprog_define){"PER_ROW", 1};
	count += fakeg_define(defs + count);
	return bpfprog_compile("gofunclatency.bpf.c", defs, count, NULL, 0, err);
}

static struct fixture *begin(void **state, bool per_row)
{
	struct fixture *f = mem_zalloc(1, sizeof(*f));
	struct errmsg err = {0};

	*state = f;
	if (geteuid() || attach_how() == ATTACH_PERF_STUB)
		skip();
	f->prog = compile(per_row, &err);
	int fd = f->prog ? bpfprog_load(f->prog, "on_probe", attach_prog_type(attach_how()), &err)
			 : -1;

	if (fd >= 0)
		f->attached = attach_places(fd, &err);
	assert_string_equal(err.text, "");
	f->lat = latency_new(f->prog, ROWS, per_row, 1);
	assert_int_equal(latency_switch(f->lat, true), 0);
	return f;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->attached)
		attach_free(f->attached);
	latency_free(f->lat);
	bpfprog_free(f->prog);
	free(f);
	return 0;
}

static void call(uint64_t goid, unsigned row)
{
	fakeg_hit(goid, 256, place_of(row, false, false));
}

static void end(uint64_t goid, unsigned row)
{
	fakeg_hit(goid, 256, place_of(row, false, true));
}

static void wait_long(void)
{
	struct timespec ts = {.tv_nsec = LONG_MS * 1000000};

	nanosleep(&ts, NULL);
}

static const struct latency_report *read_row(struct fixture *f, unsigned row)
{
	latency_row(f->lat, row, &f->report);
	return &f->report;
}

/* Are count and total those of the histogram? */
static void expect_sums(const struct latency_report *report)
{
	uint64_t count = 0, least = 0, most = 0;

	for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++) {
		count += report->hist.slots[i];
		least += report->hist.slots[i] * histogram_low(i);
		most += report->hist.slots[i] * histogram_high(i);
	}
	assert_int_equal(report->count, count);
	assert_true(report->total_ns >= least && report->total_ns <= most);
}

/* `longs` calls that took LONG_MS and `shorts` that took next to nothing, and no others */
static void expect(const struct latency_report *report, uint64_t longs, uint64_t shorts)
{
	const uint64_t bound = LONG_MS * 1000000ull;

	assert_int_equal(report->count, longs + shorts);
	expect_sums(report);
	assert_int_equal(report->max_ns >= bound, longs > 0);
	assert_int_equal(report->min_ns >= bound, longs > 0 && !shorts);
	assert_int_equal(report->hist.max, report->max_ns);
	assert_true(report->panicked + report->exited + report->switched + report->running == 0);
}

/* Each interval has its own counts, sums, extremes and histogram. */
static void check_intervals(void **state, bool per_row)
{
	static const struct {
		unsigned longs, shorts;
	} intervals[] = {{1, 2}, {0, 3}, {1, 0}, {0, 0}, {0, 1}};
	struct fixture *f = begin(state, per_row);

	for (unsigned n = 0; n < 5; n++) {
		for (unsigned i = 0; i < intervals[n].longs + intervals[n].shorts; i++) {
			call(7, 1);
			if (i < intervals[n].longs)
				wait_long();
			end(7, 1);
		}
		assert_int_equal(latency_read(f->lat, n == 4), 0);
		latency_total(f->lat, &f->report);
		if (per_row)
			expect(read_row(f, 0), 0, 0);
		expect(per_row ? read_row(f, 1) : &f->report, intervals[n].longs,
		       intervals[n].shorts);
	}
}

static void test_intervals(void **state)
{
	check_intervals(state, false);
}

static void test_intervals_of_rows(void **state)
{
	check_intervals(state, true);
}

/* Goroutines that are in no call take no room: any number may come, one after another. */
static void test_idle_goroutines(void **state)
{
	struct fixture *f = begin(state, false);

	for (uint64_t goid = 1; goid <= 5 * GOROUTINES; goid++) {
		call(goid, 0);
		end(goid, 0);
	}
	assert_int_equal(latency_read(f->lat, true), 0);
	latency_total(f->lat, &f->report);
	assert_int_equal(f->report.count, 5 * GOROUTINES);
	assert_int_equal(f->report.running, 0);
}

/* Copies that are nested in one frame stand at one depth. Which of their ends, where they are at
 * one place, is seen first, the kernel decides. */
static void test_nested_copies(void **state)
{
	struct fixture *f = begin(state, true);
	uint64_t shortest = UINT64_MAX;

	for (unsigned row = 0; row < ROWS; row++) {
		fakeg_hit(7, 256, place_of(row, true, false));
		if (row < 2)
			wait_long();
	}
	for (unsigned row = 0; row < ROWS; row++)
		fakeg_hit(7, 256, place_of(row, true, true));
	assert_int_equal(latency_read(f->lat, true), 0);
	for (unsigned row = 0; row < ROWS; row++) {
		const struct latency_report *report = read_row(f, row);

		assert_int_equal(report->count, 1);
		assert_int_equal(report->panicked + report->running, 0);
		assert_true(report->total_ns >= (2 - row) * LONG_MS * 1000000ull);
		assert_true(report->total_ns < shortest);
		shortest = report->total_ns;
	}
}

static void call_deep(uint64_t goid, unsigned calls)
{
	for (unsigned i = 1; i <= calls; i++)
		fakeg_hit(goid, 256 * i, place_of(0, false, false));
}

/* What did not return, of a few calls and of more than stand in the goroutine's own entry */
static void check_endings(void **state, unsigned calls)
{
	struct fixture *f = begin(state, false);

	for (uint64_t goid = 1; goid <= 4; goid++)
		call_deep(goid, calls);
	fakeg_hit(2, 256 * calls, GOEXIT);
	fakeg_hit(3, 256 * calls, FATAL);
	/* as deep as the second one, which must be over, and all that it called: nobody knows why
	 */
	fakeg_hit(4, 512, place_of(0, false, false));
	assert_int_equal(latency_read(f->lat, true), 0);
	latency_total(f->lat, &f->report);
	assert_int_equal(f->report.count, 0);
	assert_int_equal(f->report.running, calls + 2);
	assert_int_equal(f->report.exited, calls);
	assert_int_equal(f->report.panicked, calls);
	assert_int_equal(f->report.lost, calls - 1);
}

static void test_endings(void **state)
{
	check_endings(state, 3);
}

static void test_endings_of_many(void **state)
{
	check_endings(state, 25);
}

/* More than the kernel side counts at once: the rest is counted at the end, as what it was, or when
 * new calls take its place. */
static void test_endings_at_once(void **state)
{
	enum { CALLS = 16 * 64 + 100, NEW = 60, STEP = 32 };
	struct fixture *f = begin(state, false);

	for (uint64_t goid = 1; goid <= 2; goid++) {
		for (unsigned i = 1; i <= CALLS; i++)
			fakeg_hit(goid, 256 + STEP * i, place_of(0, false, false));
		fakeg_hit(goid, 256 + STEP * CALLS, GOEXIT);
	}
	for (unsigned i = 1; i <= NEW; i++)
		fakeg_hit(2, 256 + STEP * i, place_of(0, false, false));
	assert_int_equal(latency_read(f->lat, true), 0);
	latency_total(f->lat, &f->report);
	assert_int_equal(f->report.exited, 2 * CALLS);
	assert_int_equal(f->report.running, NEW);
	assert_int_equal(f->report.panicked + f->report.lost + f->report.count, 0);
}

/* What became of the calls of rows 0 and 1: how many returned, were lost, left by a jump, run. */
static void expect_ends(struct fixture *f, unsigned row, uint64_t count, uint64_t lost,
			uint64_t jumped, uint64_t running)
{
	const struct latency_report *report = read_row(f, row);

	assert_int_equal(report->count, count);
	assert_int_equal(report->lost, lost);
	assert_int_equal(report->jumped, jumped);
	assert_int_equal(report->running, running);
	assert_int_equal(report->panicked + report->exited + report->switched, 0);
}

/* Row 0's function jumps to row 1's: one return ends both, the inner one first. */
static void test_tail(void **state)
{
	struct fixture *f = begin(state, true);

	fakeg_hit(7, 256, TAIL_0);
	wait_long();
	fakeg_hit(7, 256, TAIL_1);
	fakeg_hit(7, 256, TAIL_END);
	fakeg_hit(7, 256, TAIL_END);
	/* and its function called by itself */
	fakeg_hit(7, 256, TAIL_1);
	fakeg_hit(7, 256, TAIL_END);
	fakeg_hit(7, 256, TAIL_END);
	assert_int_equal(latency_read(f->lat, true), 0);
	expect_ends(f, 0, 1, 0, 0, 0);
	expect(read_row(f, 0), 1, 0);
	expect_ends(f, 1, 2, 0, 0, 0);
	expect(read_row(f, 1), 0, 2);
}

/* A call whose end was not seen is not taken for that of another which returns from the same depth,
 * but elsewhere. */
static void test_tail_stale(void **state)
{
	struct fixture *f = begin(state, true);

	fakeg_hit(1, 256, TAIL_0);
	fakeg_hit_from_elsewhere(1, 256, TAIL_END);
	fakeg_hit(2, 256, TAIL_0);
	fakeg_hit_from_elsewhere(2, 256, TAIL_1);
	fakeg_hit_from_elsewhere(2, 256, TAIL_END);
	fakeg_hit_from_elsewhere(2, 256, TAIL_END);
	fakeg_hit(3, 256, TAIL_0);
	fakeg_hit(3, 256, TAIL_0);
	fakeg_hit(3, 256, TAIL_END);
	fakeg_hit(3, 256, TAIL_END);
	assert_int_equal(latency_read(f->lat, true), 0);
	expect_ends(f, 0, 1, 2, 0, 1);
	expect_ends(f, 1, 1, 0, 0, 0);
}

/* More than stand in the goroutine's own entry, each gone on with by another; some leave for good.
 */
static void test_tail_deep(void **state)
{
	enum { CALLS = 25, JUMPS = 5 };
	struct fixture *f = begin(state, true);

	for (unsigned i = 1; i <= CALLS; i++) {
		fakeg_hit(7, 256 * i, TAIL_0);
		fakeg_hit(7, 256 * i, TAIL_1);
	}
	for (unsigned i = CALLS; i > 0; i--)
		for (int row = 0; row < 2; row++)
			fakeg_hit(7, 256 * i, i <= JUMPS ? TAIL_JUMP : TAIL_END);
	assert_int_equal(latency_read(f->lat, true), 0);
	for (unsigned row = 0; row < 2; row++)
		expect_ends(f, row, CALLS - JUMPS, 0, JUMPS, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_intervals, teardown),
		cmocka_unit_test_teardown(test_intervals_of_rows, teardown),
		cmocka_unit_test_teardown(test_idle_goroutines, teardown),
		cmocka_unit_test_teardown(test_nested_copies, teardown),
		cmocka_unit_test_teardown(test_endings, teardown),
		cmocka_unit_test_teardown(test_endings_of_many, teardown),
		cmocka_unit_test_teardown(test_endings_at_once, teardown),
		cmocka_unit_test_teardown(test_tail, teardown),
		cmocka_unit_test_teardown(test_tail_stale, teardown),
		cmocka_unit_test_teardown(test_tail_deep, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
