// SPDX-License-Identifier: Apache-2.0
/* gostat --memory: rows that add up, and what is not known. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "gostat/stats.h"
#include "gostat/stats_memory.h"
#include "gostat/stats_print.h"
#include "printed.h"

#define MB (UINT64_C(1) << 20)

static const struct stats_subject etcd = {.pid = 4711,
					  .name = "et\x1b"
						  "cd",
					  .release = 27};

static void set(struct stats *stats, enum stats_number which, uint64_t n)
{
	stats->all[which].known = true;
	stats->all[which].n = n;
}

/* 25 + 1 + 2 + 3 + 40 + 5 + 24 = 100 */
static struct stats look(void)
{
	struct stats stats = {0};

	set(&stats, STATS_RSS_BYTES, 100 * MB);
	set(&stats, STATS_HEAP_BYTES, 20 * MB);
	set(&stats, STATS_HEAP_INUSE, 25 * MB);
	set(&stats, STATS_HEAP_IDLE, 8 * MB);
	set(&stats, STATS_HEAP_RELEASED, 7 * MB);
	set(&stats, STATS_STACK_BYTES, 2 * MB);
	set(&stats, STATS_RUNTIME_BYTES, 3 * MB);
	set(&stats, STATS_RSS_FILE, 40 * MB);
	set(&stats, STATS_RSS_SHMEM, 5 * MB);
	set(&stats, STATS_RSS_REST, 24 * MB);
	set(&stats, STATS_SWAP, 0);
	set(&stats, STATS_GC_FRACTION, 0x3fc0000000000000); /* 0.125 */
	set(&stats, STATS_GOGC, 150);
	set(&stats, STATS_HEAP_GOAL, 60 * MB);
	set(&stats, STATS_MEMORY_LIMIT, 2048 * MB);
	set(&stats, STATS_FDS, 12);
	set(&stats, STATS_FDS_LIMIT, 1024);
	return stats;
}

static void expect(const struct stats *stats, const char *want)
{
	printed_begin();
	stats_memory_print(stdout, &etcd, stats);
	printed_expect(want);
}

static void test_rows(void **state)
{
	const struct stats stats = look();

	(void)state;
	expect(&stats, "et\\x1bcd (4711): 100M resident, 0 swapped out\n"
		       "      25M  heap in use: spans with 20M of objects\n"
		       "     1.0M  heap idle: kept for allocations (7.0M more given back)\n"
		       "     2.0M  stacks of goroutines\n"
		       "     3.0M  the runtime's own: spans, caches, marking, profiles\n"
		       "      40M  files: the program, libraries, what it has mapped\n"
		       "     5.0M  shared memory\n"
		       "      24M  the rest: variables, C's memory, stacks of threads\n"
		       "12.50% of the processors' time since it started was for collections\n"
		       "GOGC 150, GOMEMLIMIT 2.0G, goal of the next collection 60M\n"
		       "12 descriptors open, of at most 1024\n");
}

/* What was given back and is resident is part of the rest, which may be negative. */
static void test_rest(void **state)
{
	struct stats stats = look();

	(void)state;
	set(&stats, STATS_LAZYFREE, 30 * MB);
	set(&stats, STATS_GC_FRACTION, 0x3ff8000000000000); /* 1.5: a lie */
	set(&stats, STATS_GOGC, (uint64_t)INT64_C(-1));
	set(&stats, STATS_HEAP_GOAL, UINT64_MAX);
	set(&stats, STATS_MEMORY_LIMIT, INT64_MAX);
	set(&stats, STATS_FDS_LIMIT, UINT64_MAX);
	expect(&stats, "et\\x1bcd (4711): 100M resident, 0 swapped out\n"
		       "      25M  heap in use: spans with 20M of objects\n"
		       "     1.0M  heap idle: kept for allocations (7.0M more given back)\n"
		       "     2.0M  stacks of goroutines\n"
		       "     3.0M  the runtime's own: spans, caches, marking, profiles\n"
		       "      40M  files: the program, libraries, what it has mapped\n"
		       "     5.0M  shared memory\n"
		       "      30M  given back, still resident until the kernel needs it\n"
		       "    -6.0M  the rest: counted above, but never touched, or swapped out\n"
		       "- of the processors' time since it started was for collections\n"
		       "GOGC off, GOMEMLIMIT off, goal of the next collection off\n"
		       "12 descriptors open, of at most no limit\n");
}

/* 0 has no sign. */
static void test_nothing(void **state)
{
	struct stats none = {0};

	(void)state;
	set(&none, STATS_HEAP_INUSE, 0);
	set(&none, STATS_RSS_REST, 0);
	printed_begin();
	stats_memory_print(stdout, &etcd, &none);
	char *text = printed_end();

	assert_non_null(strstr(text, "\n        0  heap in use"));
	assert_non_null(strstr(text, "\n        0  the rest"));
	assert_null(strstr(text, "-0"));
	free(text);
}

static void test_unknown(void **state)
{
	const struct stats none = {0};

	(void)state;
	expect(&none, "et\\x1bcd (4711): - resident, - swapped out\n"
		      "        -  heap in use: spans with objects\n"
		      "        -  heap idle: kept for allocations (- more given back)\n"
		      "        -  stacks of goroutines\n"
		      "        -  the runtime's own: spans, caches, marking, profiles\n"
		      "        -  files: the program, libraries, what it has mapped\n"
		      "        -  shared memory\n"
		      "        -  the rest: variables, C's memory, stacks of threads\n"
		      "- of the processors' time since it started was for collections\n"
		      "GOGC -, GOMEMLIMIT -, goal of the next collection -\n"
		      "- descriptors open, of at most -\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
