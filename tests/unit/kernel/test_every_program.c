// SPDX-License-Identifier: Apache-2.0
/* What all programs have of parts/every_program.bpf.c: what hits cost, execves that are reported;
 * and who runs in a gccgo program, by its stacks' segments. */
static long long tls_g;
#define TLS_G tls_g
#include "fakegoroutine.h"
#include "unit.h"

#define TGID FAKEGOROUTINE_PID
#define FOLLOW_EXEC
#define COST_ROWS 3
#define SPLIT_STACK
#define SPLIT_BACKOFF 256

#include "bpf-src/parts/every_program.bpf.c" /* NOLINT(bugprone-suspicious-include) */
#include "bpf-src/parts/goroutine.h"

static u32 zero;

static int begin(void **state)
{
	(void)state;
	tls_g = 0;
	fakegoroutine_begin(1);
	return 0;
}

/* --- what hits cost --- */

static struct cost_row *row(u32 n)
{
	return cost_rows.lookup(&n);
}

static bool hits(u32 n, enum cookie_kind kind, unsigned count)
{
	bool allowed = true;

	while (count--)
		allowed = cost_allows(cookie_make(n, kind, 0, 0));
	return allowed;
}

static void expect_cost(u64 all_hits, u64 spent, u64 told)
{
	const struct cost_cpu *cpu = cost_cpus.lookup(&zero);

	assert_int_equal(cpu->hits, all_hits);
	assert_int_equal(cpu->spent, spent);
	assert_int_equal(cpu->told, told);
	assert_int_equal(cost_sums.lookup(&zero)->spent, told);
}

/* By kind, and by what the entry is */
static void test_prices(void **state)
{
	(void)state;
	*cost_limits.lookup(&zero) = (struct cost_limit){.entry = 100, .stepped = 1000, .end = 10};
	row(1)->stepped = 1;
	assert_true(hits(0, COOKIE_CALL, 1));
	expect_cost(1, 100, 0);
	hits(1, COOKIE_CALL, 1);
	expect_cost(2, 1100, 0);
	hits(1, COOKIE_RETURN, 1);
	expect_cost(3, 1110, 0);
	hits(0, COOKIE_JUMP, 2);
	expect_cost(5, 1130, 0);
	hits(1, COOKIE_CALL_IF_CHECKED, 1);
	expect_cost(6, 2130, 0);
	hits(7, COOKIE_CALL, 1); /* a row that there is not */
	expect_cost(7, 2230, 0);
	hits(1, COOKIE_RECOVERED, 1);
	expect_cost(8, 3230, 0);
}

/* In pieces, which are told of the row that is hit then */
static void test_batches(void **state)
{
	(void)state;
	cost_limits.lookup(&zero)->entry = 1000;
	hits(0, COOKIE_CALL, 49);
	expect_cost(49, 49000, 0);
	hits(0, COOKIE_CALL, 1);
	expect_cost(50, 50000, 50000);
	assert_int_equal(row(0)->spent, 50000);
	hits(1, COOKIE_CALL, 50);
	expect_cost(100, 100000, 100000);
	assert_int_equal(row(1)->spent, 50000);
	hits(2, COOKIE_GOEXIT, 50); /* is of no function's call or return */
	expect_cost(150, 150000, 150000);
	assert_int_equal(row(2)->spent, 0);
	cost_limits.lookup(&zero)->end = 50000;
	hits(2, COOKIE_RETURN, 1);
	assert_int_equal(row(2)->spent, 50000);
}

static void test_limit(void **state)
{
	(void)state;
	*cost_limits.lookup(&zero) = (struct cost_limit){.spent = 100000, .entry = 1000};
	assert_true(hits(0, COOKIE_CALL, 100));
	assert_true(hits(0, COOKIE_CALL, 49));
	assert_false(hits(0, COOKIE_CALL, 1));
	assert_int_equal(cost_sums.lookup(&zero)->over, 1);
	assert_false(hits(0, COOKIE_CALL, 1));
	cost_sums.lookup(&zero)->over = 0;
	cost_limits.lookup(&zero)->spent = 0; /* none */
	assert_true(hits(0, COOKIE_CALL, 200));
}

/* --- execves --- */

/* The first thread of this process executes a program; it had this ID before. */
static void exec_by(u32 pid, u32 before)
{
	u64 args[] = {0, before};

	fakekernel.ids = (u64)pid << 32 | pid;
	assert_int_equal(on_exec((struct bpf_raw_tracepoint_args *)args), 0);
}

/* By another thread than the first, which the kernel gives the ID of the first */
static void test_execs(void **state)
{
	(void)state;
	exec_by(FAKEGOROUTINE_PID, FAKEGOROUTINE_PID);
	assert_int_equal(fakekernel.event_count, 0);
	exec_by(FAKEGOROUTINE_PID, FAKEGOROUTINE_TID);
	assert_int_equal(fakekernel.event_count, 1);
	assert_int_equal(fakekernel.events[0].len, 8);
	assert_int_equal(fakekernel.events[0].flags, 0);
	assert_int_equal(*(u64 *)fakekernel.events[0].data, 1010);
	exec_by(FAKEGOROUTINE_PID + 1, FAKEGOROUTINE_TID);
	assert_int_equal(fakekernel.event_count, 1);
}

/* --- segments --- */

enum {
	THREAD = FAKEGOROUTINE_FREE,
	LOW = FAKEGOROUTINE_FREE + 0x1000,
	SEGMENT = 0x800,
	INDEX = FAKEGOROUTINE_FREE + 0x3000,
	VECTOR = INDEX + 0x100,
	G = INDEX + 0x200,
	MODULES = 4096, /* at most */
};

static void put_segment(u64 low, u64 size)
{
	fake_task.fsbase = THREAD;
	fakemem_put(THREAD + 0x70, low + SPLIT_BACKOFF);
	fakemem_put(low - 56 + 16, size);
}

static struct goroutine_key here(u64 sp, u64 want_depth)
{
	struct goroutine_key key = {0};
	u64 depth = 0;

	regs.sp = sp;
	assert_true(goroutine_here(&regs, sp + 8, &key, &depth));
	assert_int_equal(depth, want_depth);
	assert_int_equal(key.process.tgid, FAKEGOROUTINE_PID);
	depth = 0;
	assert_true(goroutine_find(&regs, sp + 8, COOKIE_CALL, &key, &depth));
	assert_int_equal(depth, want_depth);
	return key;
}

static void test_segment(void **state)
{
	const u64 guard = LOW + SPLIT_BACKOFF, elsewhere = 3ULL << 62;
	struct goroutine_key key;
	u64 depth;

	(void)state;
	put_segment(LOW, SEGMENT);
	assert_int_equal(here(LOW + 0x100, -(u64)(LOW + 0x108)).id, guard);
	assert_int_equal(here(LOW + 1, -(u64)(LOW + 9)).id, guard);
	assert_int_equal(here(LOW + SEGMENT, -(u64)(LOW + SEGMENT + 8)).id, guard);
	/* a thread's own stack, or a signal's */
	assert_int_equal(here(LOW, -(u64)(LOW + 8)).id, guard | elsewhere);
	assert_int_equal(here(LOW + SEGMENT + 1, -(u64)(LOW + SEGMENT + 9)).id, guard | elsewhere);
	fakemem_put(LOW - 56 + 16, 0);
	assert_int_equal(here(LOW + 0x100, -(u64)(LOW + 0x108)).id, guard | elsewhere);
	fake_task.fsbase = 0x100;
	assert_false(goroutine_here(&regs, LOW, &key, &depth));
}

/* g in the thread's own memory, and in a library's */
static void test_goid(void **state)
{
	(void)state;
	put_segment(LOW, SEGMENT);
	tls_g = -0x20;
	fakemem_put(THREAD - 0x20, G);
	fakemem_put(G + GOID_OFF, 4711);
	assert_int_equal(split_goid(INDEX), 4711);
	tls_g = 0;
	assert_int_equal(split_goid(INDEX), 0);
	fakemem_put(INDEX, 3); /* module */
	fakemem_put(INDEX + 8, 0x40);
	fakemem_put(THREAD + 8, VECTOR);
	fakemem_put(VECTOR + 3 * 16, G + 0x100);
	fakemem_put(G + 0x140, G);
	assert_int_equal(split_goid(INDEX), 4711);
	fakemem_put(VECTOR + 4 * 16, G + 0x100);
	fakemem_put(INDEX, MODULES + 1);
	fakemem_put(VECTOR + (MODULES + 1) * 16, G + 0x100);
	assert_int_equal(split_goid(INDEX), 0);
	fakemem_put(INDEX, MODULES);
	fakemem_put(VECTOR + MODULES * 16, G + 0x100);
	assert_int_equal(split_goid(INDEX), 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_prices, begin),
		cmocka_unit_test_setup(test_batches, begin),
		cmocka_unit_test_setup(test_limit, begin),
		cmocka_unit_test_setup(test_execs, begin),
		cmocka_unit_test_setup(test_segment, begin),
		cmocka_unit_test_setup(test_goid, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
