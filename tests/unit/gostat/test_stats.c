// SPDX-License-Identifier: Apache-2.0
/* Numbers of a program's runtime, from memory that is made up. Where the runtime has them is told
 * here, in place of what its code tells. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "fakemem.h"
#include "files/process.h"
#include "frames/frames.h"
#include "goroutines/goroutine.h"
#include "goroutines/runtime_vars.h"
#include "gostat/stats.h"
#include "gostat/stats_vars_internal.h"
#include "program/functab.h"
#include "sites/goruntime.h"

enum {
	SIZE = 0xf0000,
	BIAS = FAKEMEM_BASE, /* so that addresses below are small */
	ALLGS = 0x8,
	VARS = 0x100, /* word n of them is the address VARS + 8 * n */
	LIST = 0x1000,
	GS = 0x8000,
	G_SIZE = 0x140,
	START = 304,    /* g.startpc, by gopc */
	IDLE = 0x40000, /* slices, and processors */
	LIMIT = 12,
	MAIN_PC = 0x10,
	SYSTEM_PC = 0x20,
	CORO_PC = 0x30,
	HANDLER_PC = 0x40,
	USER_PC = 0x50,
	NOWHERE_PC = 0x60,
};

static struct stats_vars vars;
static bool allgs_known;

/* --- in place of gostat/stats_vars.c, and of what reads a program's code and its functions --- */

void stats_vars_find(const struct program *prog, struct stats_vars *out)
{
	(void)prog;
	*out = vars;
}

void goruntime_read_fields(const struct program *prog, struct goruntime *out)
{
	(void)prog;
	*out = fakemem_layout;
}

bool runtime_vars_allgs(const struct program *prog, uint64_t *addr)
{
	(void)prog;
	*addr = ALLGS;
	return allgs_known;
}

bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *out)
{
	static const char *const names[] = {
		[MAIN_PC] = "runtime.main",      [SYSTEM_PC] = "runtime.bgsweep",
		[CORO_PC] = "runtime.corostart", [HANDLER_PC] = "runtime.handleAsyncEvent",
		[USER_PC] = "runtimes.work",     [NOWHERE_PC] = NULL,
	};

	(void)tab;
	assert_true(addr <= NOWHERE_PC && !(addr & 15));
	*out = (struct functab_func){.name = names[addr]};
	return out->name;
}

/* --- the program --- */

static const struct frames frames = {.bias = BIAS};

static void put(uint64_t addr, uint64_t value)
{
	fakemem_put(BIAS + addr, value);
}

static void put_goroutine(unsigned n, uint32_t status, uint64_t start)
{
	uint64_t g = GS + n * G_SIZE;

	put(LIST + n * 8, BIAS + g);
	put(g + fakemem_layout.g_status, status);
	put(g + START, BIAS + start);
}

static int begin(void **state)
{
	(void)state;
	fakemem_begin(SIZE);
	vars = (struct stats_vars){0};
	allgs_known = true;
	put(ALLGS, BIAS + LIST);
	return 0;
}

static struct stats look(void)
{
	struct stats_reader *reader = stats_reader_new(NULL, &frames);
	struct stats stats;

	stats_read(reader, &fakemem_memory, NULL, &stats);
	stats_reader_free(reader);
	return stats;
}

static void expect(const struct stats *stats, enum stats_number which, uint64_t n)
{
	assert_true(stats->all[which].known);
	assert_int_equal(stats->all[which].n, n);
}

static void expect_goroutines(uint64_t all, uint64_t running, uint64_t runnable, uint64_t waiting,
			      uint64_t syscall)
{
	const struct stats stats = look();

	expect(&stats, STATS_GOROUTINES, all);
	expect(&stats, STATS_RUNNING, running);
	expect(&stats, STATS_RUNNABLE, runnable);
	expect(&stats, STATS_WAITING, waiting);
	expect(&stats, STATS_SYSCALL, syscall);
}

/* --- goroutines --- */

/* As runtime.NumGoroutine: without those that have ended, or are not made yet, and the runtime's */
static void test_states(void **state)
{
	static const uint32_t statuses[] = {GOROUTINE_RUNNING,
					    GOROUTINE_COPYSTACK,
					    GOROUTINE_RUNNABLE,
					    GOROUTINE_PREEMPTED,
					    GOROUTINE_RUNNABLE,
					    GOROUTINE_WAITING,
					    GOROUTINE_WAITING,
					    GOROUTINE_WAITING,
					    GOROUTINE_LEAKED,
					    GOROUTINE_SYSCALL,
					    GOROUTINE_IDLE,
					    GOROUTINE_DEAD,
					    GOROUTINE_DEADEXTRA,
					    12,
					    0xfff};
	enum { COUNT = sizeof(statuses) / sizeof(*statuses) };

	(void)state;
	for (unsigned i = 0; i < COUNT; i++)
		put_goroutine(i, statuses[i], USER_PC);
	put(ALLGS + 8, COUNT);
	expect_goroutines(10, 2, 3, 4, 1);
	/* while its stack is scanned */
	put_goroutine(0, GOROUTINE_WAITING | 0x1000, USER_PC);
	expect_goroutines(10, 1, 3, 5, 1);
}

static void test_systems(void **state)
{
	static const uint64_t starts[] = {MAIN_PC, SYSTEM_PC, CORO_PC,   HANDLER_PC,
					  USER_PC, SYSTEM_PC, NOWHERE_PC};

	(void)state;
	for (unsigned i = 0; i < 7; i++)
		put_goroutine(i, GOROUTINE_WAITING, starts[i]);
	put(ALLGS + 8, 7);
	expect_goroutines(5, 0, 0, 5, 0);
}

/* More than are read at once; all of them, or nothing is said. */
static void test_many(void **state)
{
	enum { MANY = 2048 };
	struct stats stats;

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		put_goroutine(i, GOROUTINE_RUNNABLE, USER_PC);
		put(LIST + i * 8, BIAS + GS);
	}
	put(ALLGS + 8, MANY);
	expect_goroutines(MANY, 0, MANY, 0, 0);
	put(LIST + (MANY - 1) * 8, 8); /* not mapped */
	stats = look();
	assert_false(stats.all[STATS_GOROUTINES].known || stats.all[STATS_SYSCALL].known);
	put(ALLGS + 8, (1 << 21) + 1);
	stats = look();
	assert_false(stats.all[STATS_RUNNABLE].known);
	put(ALLGS + 8, 0);
	expect_goroutines(0, 0, 0, 0, 0);
	allgs_known = false;
	stats = look();
	assert_false(stats.all[STATS_GOROUTINES].known);
}

/* --- the heap --- */

static uint64_t put_var(unsigned n, uint64_t value)
{
	put(VARS + 8 * n, value);
	return VARS + 8 * n;
}

static void test_unknown(void **state)
{
	const struct stats stats = look();

	(void)state;
	for (enum stats_number i = STATS_THREADS; i < STATS_NUMBERS; i++)
		assert_false(stats.all[i].known);
	assert_true(stats.when_ns <= clock_ns() && stats.when_ns);
}

static void test_new_heap(void **state)
{
	const uint64_t no_limit = INT64_MAX;
	struct stats stats;

	(void)state;
	vars = (struct stats_vars){
		.gomaxprocs = put_var(0, 8 | UINT64_C(1) << 32), /* of 4 bytes */
		.gc_cycles = put_var(1, 33 | UINT64_C(1) << 32),
		.pause_total = put_var(2, 777),
		.gc_fraction = put_var(16, UINT64_C(0x3fc0000000000000)),
		.heap_inuse = put_var(3, 5000),
		.heap_released = put_var(4, 600),
		.heap_free = put_var(5, 40),
		.total_alloc = put_var(6, 9000),
		.total_free = put_var(7, 2000),
		.goal = put_var(8, 100000),
		.sweep_goal = put_var(9, 99999),
		.triggered = put_var(10, UINT64_MAX),
		.limit = put_var(LIMIT, no_limit),
		.stacks = {put_var(13, 10), put_var(14, 200), put_var(15, 3000)},
	};
	stats = look();
	expect(&stats, STATS_GOMAXPROCS, 8);
	expect(&stats, STATS_GC_CYCLES, 33);
	expect(&stats, STATS_GC_PAUSE_NS, 777);
	expect(&stats, STATS_GC_FRACTION, 0x3fc0000000000000);
	expect(&stats, STATS_HEAP_INUSE, 5000);
	expect(&stats, STATS_HEAP_RELEASED, 600);
	expect(&stats, STATS_HEAP_IDLE, 640);
	expect(&stats, STATS_ALLOCATED, 9000);
	expect(&stats, STATS_HEAP_BYTES, 7000);
	expect(&stats, STATS_HEAP_GOAL, 100000);
	expect(&stats, STATS_STACK_BYTES, 3210);
	put_var(7, 9001); /* read at another time */
	put_var(9, 100001);
	stats = look();
	expect(&stats, STATS_HEAP_BYTES, 0);
	expect(&stats, STATS_HEAP_GOAL, 100001);
	put_var(10, 100000); /* the runway from the trigger on */
	stats = look();
	expect(&stats, STATS_HEAP_GOAL, 100000 + 65536);
	put_var(10, 1);
	stats = look();
	expect(&stats, STATS_HEAP_GOAL, 100001);
	put_var(LIMIT, no_limit - 1); /* a memory limit */
	stats = look();
	assert_false(stats.all[STATS_HEAP_GOAL].known);
	vars.stacks[2] = SIZE;
	vars.total_alloc = 0;
	stats = look();
	assert_false(stats.all[STATS_STACK_BYTES].known || stats.all[STATS_ALLOCATED].known ||
		     stats.all[STATS_HEAP_BYTES].known);
}

/* Three generations, which the runtime adds up while they are read: what is less is right. */
static void put_counts(uint64_t addr, const struct stats_counts *counts)
{
	const uint64_t *words = (const uint64_t *)counts;

	for (size_t i = 0; i < sizeof(*counts) / sizeof(*words); i++)
		put(addr + i * 8, words[i]);
}

static const uint64_t *twice; /* how often counts are read before the second generation is none */
static size_t counts_read;

static bool read_torn(void *ctx, uint64_t addr, void *to, size_t len)
{
	const struct stats_counts none = {0};

	if (len == 2 * vars.counts_apart + sizeof(none) && counts_read++ == *twice)
		put_counts(IDLE + vars.counts_apart, &none);
	return fakemem_memory.read(ctx, addr, to, len);
}

static void check_torn(uint64_t before, uint64_t mallocs)
{
	const struct memory torn = {.read = read_torn, .ctx = fakemem_memory.ctx};
	struct stats_reader *reader = stats_reader_new(NULL, &frames);
	struct stats_counts counts = {.large = 500, .tiny = 7, .large_freed = 20};
	struct stats stats;

	put_counts(IDLE, &counts);
	put_counts(IDLE + vars.counts_apart, &counts);
	put_counts(IDLE + 2 * vars.counts_apart, &(struct stats_counts){0});
	twice = &before;
	counts_read = 0;
	stats_read(reader, &torn, NULL, &stats);
	stats_reader_free(reader);
	expect(&stats, STATS_MALLOCS, mallocs);
	expect(&stats, STATS_FREES, mallocs / 507 * 27);
}

static void test_counts(void **state)
{
	struct stats_counts counts = {
		.tiny = 1, .large_bytes = 1000000, .large = 20, .large_freed = 3};
	struct stats stats;

	(void)state;
	vars = (struct stats_vars){
		.counts = IDLE, .counts_apart = sizeof(counts) + 8, .last_gc = put_var(1, 1700)};
	counts.small[0] = 100;
	counts.small[STATS_CLASSES - 1] = 200;
	counts.small_freed[0] = 40;
	counts.small_freed[STATS_CLASSES - 1] = 50;
	for (uint64_t i = 0; i < STATS_COUNTS; i++)
		put_counts(IDLE + i * vars.counts_apart, &counts);
	stats = look();
	expect(&stats, STATS_MALLOCS, 3 * 321);
	expect(&stats, STATS_FREES, 3 * 94);
	expect(&stats, STATS_OBJECTS, 3 * 227);
	expect(&stats, STATS_LAST_GC, 1700);
	assert_false(stats.all[STATS_ALLOCATED].known || stats.all[STATS_HEAP_BYTES].known);
	/* of Go 1.16 to 1.18: bytes by size, the largest of 32 KiB; small[0] is none */
	vars.counted_bytes = true;
	stats = look();
	expect(&stats, STATS_ALLOCATED, 3 * (1000000 + 200 * 32768));
	expect(&stats, STATS_HEAP_BYTES, 3 * (1000000 + 150 * 32768));
	vars.tiny = put_var(2, 1000); /* of Go 1.16: one number for all */
	stats = look();
	expect(&stats, STATS_MALLOCS, 3 * 320 + 1000);
	expect(&stats, STATS_FREES, 3 * 93 + 1000);
	vars.counted_bytes = false;
	vars.tiny = 0;
	check_torn(0, 507);  /* before the first time */
	check_torn(1, 507);  /* after it */
	check_torn(2, 1014); /* later: nobody sees it */
	vars.counts = SIZE;
	stats = look();
	assert_false(stats.all[STATS_MALLOCS].known || stats.all[STATS_FREES].known ||
		     stats.all[STATS_OBJECTS].known);
}

/* Processors are numbered one after the other, and have one of five states: else it is another
 * slice. */
static void test_idle(void **state)
{
	static const uint64_t states[] = {0, 1, 0, 4};
	struct stats stats;

	(void)state;
	vars = (struct stats_vars){.gomaxprocs = put_var(0, 4), .slices = {IDLE, IDLE + 0x20}};
	put(IDLE, BIAS + IDLE + 0x100); /* a mask of them */
	put(IDLE + 8, 1);
	put(IDLE + 0x20, BIAS + IDLE + 0x200);
	put(IDLE + 0x28, 4);
	for (uint64_t i = 0; i < 4; i++) {
		put(IDLE + 0x200 + i * 8, BIAS + IDLE + 0x300 + i * 8);
		put(IDLE + 0x300 + i * 8, i | states[i] << 32);
	}
	stats = look();
	expect(&stats, STATS_IDLE, 2);
	put(IDLE + 0x318, 3 | UINT64_C(5) << 32);
	stats = look();
	assert_false(stats.all[STATS_IDLE].known);
	put(IDLE + 0x318, 2);
	stats = look();
	assert_false(stats.all[STATS_IDLE].known);
	put(IDLE + 0x318, 3);
	stats = look();
	expect(&stats, STATS_IDLE, 3);
	put(IDLE + 0x28, 5);
	stats = look();
	assert_false(stats.all[STATS_IDLE].known);
}

/* Go 1.15: the goal, idle bytes and those of stacks are one variable each. */
static void test_old_heap(void **state)
{
	struct stats stats;

	(void)state;
	vars = (struct stats_vars){.heap_sys = put_var(0, 1000), .heap_inuse = put_var(1, 300)};
	stats = look();
	expect(&stats, STATS_HEAP_IDLE, 700);
	put_var(1, 1001); /* read at another time */
	stats = look();
	expect(&stats, STATS_HEAP_IDLE, 0);
	vars = (struct stats_vars){.heap_idle = put_var(0, 40),
				   .heap_released = put_var(1, 30),
				   .next_gc = put_var(2, 5000),
				   .stacks = {put_var(3, 70)}};
	stats = look();
	expect(&stats, STATS_HEAP_IDLE, 40);
	expect(&stats, STATS_HEAP_RELEASED, 30);
	expect(&stats, STATS_HEAP_GOAL, 5000);
	expect(&stats, STATS_STACK_BYTES, 70);
	assert_false(stats.all[STATS_HEAP_INUSE].known || stats.all[STATS_ALLOCATED].known);
}

/* --- the process --- */

static void test_usage(void **state)
{
	struct errmsg err = {0};
	struct process *self = process_open(getpid(), &err);
	struct stats_reader *reader = stats_reader_new(NULL, &frames);
	struct stats stats;

	(void)state;
	assert_non_null(self);
	stats_read(reader, &fakemem_memory, self, &stats);
	expect(&stats, STATS_THREADS, 1);
	assert_true(stats.all[STATS_RSS_BYTES].known && stats.all[STATS_RSS_BYTES].n > 1 << 20);
	assert_true(stats.all[STATS_CPU_NS].known &&
		    stats.all[STATS_CPU_NS].n < UINT64_C(60000000000));
	stats_reader_free(reader);
	process_close(self);
}

/* What the runtime counts and files' pages are taken from what is resident, here of this test, and
 * what was given back is no part of what is idle. */
static void test_rest(void **state)
{
	struct errmsg err = {0};
	struct process *self = process_open(getpid(), &err);
	struct stats stats;

	(void)state;
	assert_non_null(self);
	vars = (struct stats_vars){
		.heap_inuse = put_var(3, 5000),
		.heap_released = put_var(4, 600),
		.heap_free = put_var(5, 40),
		.stacks = {put_var(13, 10)},
		.own = {put_var(14, 200)},
	};
	struct stats_reader *reader = stats_reader_new(NULL, &frames);

	stats_read(reader, &fakemem_memory, self, &stats);
	assert_true(stats.all[STATS_RSS_REST].known);
	assert_int_equal(stats.all[STATS_RSS_BYTES].n - stats.all[STATS_RSS_FILE].n -
				 stats.all[STATS_RSS_SHMEM].n - stats.all[STATS_RSS_REST].n,
			 5000 + 40 + 10 + 200);
	stats_reader_free(reader);
	process_close(self);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_states, begin),
		cmocka_unit_test_setup(test_systems, begin),
		cmocka_unit_test_setup(test_many, begin),
		cmocka_unit_test_setup(test_unknown, begin),
		cmocka_unit_test_setup(test_new_heap, begin),
		cmocka_unit_test_setup(test_counts, begin),
		cmocka_unit_test_setup(test_idle, begin),
		cmocka_unit_test_setup(test_old_heap, begin),
		cmocka_unit_test_setup(test_usage, begin),
		cmocka_unit_test_setup(test_rest, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
