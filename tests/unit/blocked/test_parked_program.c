// SPDX-License-Identifier: Apache-2.0
/* The kernel side of goprofile's time off CPUs, run on this side: waits that had begun before, time
 * in which goroutines are runnable, and the labels of who waits. */
#include "eventtext.h"
#include "fakegoroutine.h"
#include "steps.h"
#include "unit.h"

#define WAITS 8
#define SUMS 8
#define MIN_NS 1
#define MAX_NS 100000
#define REASONS ~0ULL
#define STACKS 16
#define PARKED 4
#define G_LABELS 120
#define LABEL_SETS 2

#include "bpf-src/gooffcputime.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { SYSCALL = 3, DEAD = 6, REASON = 9, TEXT = FAKEGOROUTINE_FREE, SETS = TEXT + 0x100 };

static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	steps.len = 0;
	fakegoroutine_begin(6);
	control.lookup(&zero)->active = 1;
	for (unsigned n = 1; n <= 6; n++) {
		fakemem_put(fakegoroutine_g(n) + G_WAITREASON, REASON);
		fakemem_put(fakegoroutine_g(n) + G_SCHED_SP + 8, 0x1000 * n); /* where it waits */
	}
	memcpy(&fakemem.bytes[TEXT - FAKEMEM_BASE], "userbobanna", 11);
	return 0;
}

/* Goroutine n has label user with this text. */
static void label_is(unsigned n, unsigned set, u64 off, u64 len)
{
	u64 at = SETS + 0x80 * set;

	fakemem_put(at, at + 0x20);
	fakemem_put(at + 8, 1);
	fakemem_put(at + 0x20, TEXT);
	fakemem_put(at + 0x28, 4);
	fakemem_put(at + 0x30, TEXT + off);
	fakemem_put(at + 0x38, len);
	fakemem_put(fakegoroutine_g(n) + G_LABELS, at);
}

static void change(u64 ns, unsigned n, u32 from, u32 to)
{
	fakekernel.ns = ns;
	fakegoroutine_runs(1, 96);
	regs.ip = 0x7000 + n;
	regs.ax = fakegoroutine_g(n);
	regs.bx = from;
	regs.cx = to;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

/* The number of a hash, in the order in which the map has them; 0: none of its keys */
static unsigned number_of(struct fakemap *map, u64 hash)
{
	const u64 *key;

	for (unsigned i = 0; (key = fakemap_key(map, i)); i++)
		if (*key == hash)
			return i + 1;
	return hash == WAIT_LABELS_LOST ? 99 : 0;
}

static void expect(const char *want)
{
	const struct wait_key *key;

	for (size_t i = 0; (key = fakemap_key(&sums_map, i)); i++) {
		const struct wait_sum *sum = sums.lookup(key);

		steps_are("%u of stack %u labels %u at %llx pid %u: %llu, %llu ns, at most %llu",
			  key->reason, number_of(&stacks_map, key->stack),
			  number_of(&label_sets_map, key->labels), key->probe, key->pid, sum->waits,
			  sum->total_ns, sum->max_ns);
	}
	for (u32 i = 0; i < WAIT_LOSSES; i++)
		if (FAKEGOROUTINE_COUNT(losses, i))
			steps_are("loss %u: %llu", i, FAKEGOROUTINE_COUNT(losses, i));
	steps_expect(want);
}

static void test_runnable(void **state)
{
	(void)state;
	change(1000, 2, RUNNING, WAITING);
	change(1100, 2, WAITING, RUNNABLE);
	change(1130, 2, RUNNABLE, RUNNING);
	/* taken from its processor: where it stands is its stack */
	change(1200, 2, RUNNING, RUNNABLE);
	change(1250, 2, RUNNABLE, RUNNING);
	/* out of a system call */
	change(1300, 3, SYSCALL, RUNNABLE);
	change(1307, 3, RUNNABLE, RUNNING);
	/* a wait that ends without: work of the runtime */
	change(1400, 4, RUNNING, WAITING);
	change(1450, 4, WAITING, RUNNING);
	change(1500, 4, RUNNABLE, RUNNING);
	expect("9 of stack 1 labels 0 at 7002 pid 77: 1, 100 ns, at most 100; 256 of "
	       "stack 1 labels 0 at 7002 pid 77: 2, 80 ns, at most 50; 256 of stack 2 "
	       "labels 0 at 7003 pid 77: 1, 7 ns, at most 7; ");
	assert_int_equal(waits_map.count, 0);
}

/* Waits that the tool has found */
static void test_parked(void **state)
{
	struct wait_begun found = {.start_ns = 500, .stack = 77, .probe = 0x8000, .pid = 9};
	u64 g = fakegoroutine_g(2);

	(void)state;
	stacks.update(&found.stack, no_stack.lookup(&(u32){0}));
	parked.update(&g, &found);
	change(1000, 2, WAITING, RUNNABLE);
	change(1010, 2, RUNNABLE, RUNNING);
	assert_int_equal(parked_map.count, 0);
	/* one that waits anew is not what was found */
	parked.update(&g, &found);
	change(1100, 2, RUNNING, WAITING);
	assert_int_equal(parked_map.count, 0);
	change(1101, 2, WAITING, RUNNABLE);
	expect("9 of stack 1 labels 0 at 8000 pid 9: 1, 500 ns, at most 500; 256 of "
	       "stack 1 labels 0 at 7002 pid 77: 1, 10 ns, at most 10; 9 of stack 2 "
	       "labels 0 at 7002 pid 77: 1, 1 ns, at most 1; ");
}

static void test_labels(void **state)
{
	struct wait_labels *labels;
	u64 hash;

	(void)state;
	label_is(2, 0, 4, 3);
	label_is(3, 1, 4, 3); /* equal ones */
	label_is(4, 2, 7, 4);
	label_is(5, 3, 0, 4); /* for which there is no room */
	for (unsigned n = 1; n <= 5; n++) {
		change(1000 * n, n, RUNNING, WAITING);
		change(1000 * n + 10, n, WAITING, RUNNABLE);
		change(1000 * n + 30, n, RUNNABLE, RUNNING);
	}
	expect("9 of stack 1 labels 0 at 7001 pid 77: 1, 10 ns, at most 10; 256 of "
	       "stack 1 labels 0 at 7001 pid 77: 1, 20 ns, at most 20; 9 of stack 2 "
	       "labels 1 at 7002 pid 77: 1, 10 ns, at most 10; 256 of stack 2 labels "
	       "1 at 7002 pid 77: 1, 20 ns, at most 20; 9 of stack 3 labels 1 at 7003 "
	       "pid 77: 1, 10 ns, at most 10; 256 of stack 3 labels 1 at 7003 pid 77: "
	       "1, 20 ns, at most 20; 9 of stack 4 labels 2 at 7004 pid 77: 1, 10 ns, "
	       "at most 10; 256 of stack 4 labels 2 at 7004 pid 77: 1, 20 ns, at most "
	       "20; loss 1: 2; loss 4: 1; ");
	assert_int_equal(label_sets_map.count, 2);
	hash = *(const u64 *)fakemap_key(&label_sets_map, 0);
	labels = label_sets.lookup(&hash);
	steps_are("%u labels of %u words, cut %u, %u in all", labels->sample.labels,
		  labels->sample.label_words, labels->sample.labels_cut, labels->sample.count);
	eventtext_words("words", (const uint64_t *)labels->words, labels->sample.count);
	steps_expect("1 labels of 3 words, cut 0, 3 in all; words 300000004 72657375 "
		     "626f62; ");
	assert_int_equal(labels_reading_map.count, 0);
}

static void test_labels_lost(void **state)
{
	(void)state;
	label_is(2, 0, 4, 3);
	fakekernel.refuses = "labels_reading";
	change(1000, 2, RUNNING, WAITING);
	fakekernel.refuses = NULL;
	change(1010, 2, WAITING, RUNNABLE);
	expect("9 of stack 1 labels 99 at 7002 pid 77: 1, 10 ns, at most 10; loss 4: "
	       "1; ");
	/* they cannot be read */
	begin(state);
	fakemem_put(fakegoroutine_g(2) + G_LABELS, FAKEMEM_BASE + FAKEMEM_MAX);
	change(1000, 2, RUNNING, WAITING);
	change(1010, 2, WAITING, RUNNABLE);
	expect("9 of stack 1 labels 1 at 7002 pid 77: 1, 10 ns, at most 10; ");
}

static void test_no_room(void **state)
{
	(void)state;
	fakekernel.refuses = "waits";
	change(1000, 2, RUNNING, RUNNABLE);
	fakekernel.refuses = NULL;
	change(1010, 2, RUNNABLE, RUNNING);
	fakekernel.refuses = "processes";
	change(1020, 2, RUNNING, RUNNABLE);
	expect("loss 0: 1; ");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_runnable, begin),
		cmocka_unit_test_setup(test_parked, begin),
		cmocka_unit_test_setup(test_labels, begin),
		cmocka_unit_test_setup(test_labels_lost, begin),
		cmocka_unit_test_setup(test_no_room, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
