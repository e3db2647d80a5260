// SPDX-License-Identifier: Apache-2.0
/* Times calls of this very program, which acts as Go's do: with a g in its register, on a stack
 * that the g names. Needs the privileges to trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../bpf-src/cookie.h"
#include "attach.h"
#include "bpfprog.h"
#include "btf.h"
#include "errmsg.h"
#include "heldfile.h"
#include "kernelfeature.h"
#include "latency.h"
#include "mem.h"

#define SELF "/proc/self/exe"

enum { ROWS = 3, GOROUTINES = 8, LONG_MS = 100 };

/* Places that have a probe each: where a call of a row begins, and where it returns; the second
 * half are of inlined copies. */
void places(void);
/* Calls `place` with a g and a stack pointer of somebody else. */
void hit_on(void *place, void *g, void *sp);
__asm__(".text\n"
	".balign 8\n"
	"places:\n"
	".rept 12\n\tnop\n\tret\n\t.balign 8\n\t.endr\n"
	"hit_on:\n"
	"\tpush %r14\n\tpush %rbx\n"
	"\tmov %rsp, %rbx\n\tmov %rsi, %r14\n\tmov %rdx, %rsp\n"
	"\tcall *%rdi\n"
	"\tmov %rbx, %rsp\n\tpop %rbx\n\tpop %r14\n\tret\n");

struct g { /* as much of runtime.g as the kernel side reads */
	uint64_t lo, hi, goid, m, sched_sp;
};

struct fixture {
	struct bpfprog *prog;
	struct attach *attached;
	struct latency *lat;
	struct latency_report report;
	char stack[65536]; /* of all goroutines, one after another */
};

static void *place_of(unsigned row, bool copy, bool returns)
{
	return (char *)places + 8 * (row * 2 + returns + (copy ? 2 * ROWS : 0));
}

/* Where in its file is the code of ours? It is mapped in one piece. */
static uint64_t file_offset(const void *p)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long lo, hi, off, addr = (uintptr_t)p;
	uint64_t found = 0;

	while (!found && fscanf(f, "%lx-%lx %*s %lx%*[^\n]", &lo, &hi, &off) == 3)
		if (addr >= lo && addr < hi)
			found = addr - lo + off;
	fclose(f);
	return found;
}

static struct attach *attach_places(int fd, struct errmsg *err)
{
	struct attach_probe probes[4 * ROWS];

	for (unsigned i = 0; i < 4 * ROWS; i++) {
		unsigned row = i / 2 % ROWS, copy = i / (2 * ROWS) * (row + 1);
		void *place = place_of(row, copy, i & 1);
		enum cookie_kind kind = i & 1 ? COOKIE_RETURN : COOKIE_CALL;

		probes[i] = (struct attach_probe){.off = file_offset(place),
						  .addr = (uintptr_t)place,
						  .cookie = cookie_make(row, kind, 0, copy)};
	}
	struct heldfile *self = heldfile_open(NULL, SELF, err);
	struct attach *at = attach_new(attach_how(), fd, self, 0, probes, 4 * ROWS, err);

	heldfile_close(self);
	return at;
}

static struct bpfprog *compile(bool per_row, struct errmsg *err)
{
	uint32_t mm = 0, code = 0;

	btf_mm_start_code(&mm, &code, NULL);
	struct bpfprog_define defs[20] = {
		{"ROWS", ROWS},
		{"UNIT", 1},
		{"GOROUTINES", GOROUTINES},
		{"DEEP_CALLS", 64},
		{"PLACES", 1024},
		{"TGID", getpid()},
		{"TASK_MM", mm},
		{"G_REGISTER", 1},
		{"TLS_G", 0},
		{"FSBASE_OFF", 0},
		{"GOID_OFF", offsetof(struct g, goid)},
		{"G_M", offsetof(struct g, m)},
		{"G_SCHED_SP", offsetof(struct g, sched_sp)},
		{"M_CURG", 0},
	};
	size_t count = 14;

	if (kernelfeature_cmpxchg())
		defs[count++] = (struct bpfprog_define){"CMPXCHG", 1};
	if (per_row)
		defs[count++] = (struct bpfprog_define){"PER_ROW", 1};
	return bpfprog_compile("latency.bpf.c", defs, count, NULL, 0, err);
}

static struct fixture *begin(void **state, bool per_row)
{
	struct fixture *f = mem_zalloc(1, sizeof(*f));
	struct errmsg err = {0};

	*state = f;
	if (geteuid() || attach_how() == ATTACH_PERF_ADDRESS)
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

/* One hit of a goroutine, `depth` bytes deep in its stack */
static void hit(struct fixture *f, uint64_t goid, unsigned depth, void *place)
{
	char *hi = f->stack + sizeof(f->stack);
	struct g g = {.lo = (uintptr_t)f->stack, .hi = (uintptr_t)hi, .goid = goid};

	hit_on(place, &g, hi - depth);
}

static void call(struct fixture *f, uint64_t goid, unsigned row)
{
	hit(f, goid, 256, place_of(row, false, false));
}

static void end(struct fixture *f, uint64_t goid, unsigned row)
{
	hit(f, goid, 256, place_of(row, false, true));
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
			call(f, 7, 1);
			if (i < intervals[n].longs)
				wait_long();
			end(f, 7, 1);
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
		call(f, goid, 0);
		end(f, goid, 0);
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
		hit(f, 7, 256, place_of(row, true, false));
		if (row < 2)
			wait_long();
	}
	for (unsigned row = 0; row < ROWS; row++)
		hit(f, 7, 256, place_of(row, true, true));
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_intervals, teardown),
		cmocka_unit_test_teardown(test_intervals_of_rows, teardown),
		cmocka_unit_test_teardown(test_idle_goroutines, teardown),
		cmocka_unit_test_teardown(test_nested_copies, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
