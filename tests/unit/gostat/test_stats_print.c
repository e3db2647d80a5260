// SPDX-License-Identifier: Apache-2.0
/* gostat's lines and JSON: rates since the look before, and what is not known. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "gostat/stats.h"
#include "gostat/stats_print.h"
#include "printed.h"

#define SECOND_NS UINT64_C(1000000000)
#define MB (UINT64_C(1) << 20)

static const struct stats_subject etcd = {
	.pid = 4711, .name = "etcd-server-long", .comm = "etcd", .release = 19};

static void set(struct stats *stats, enum stats_number which, uint64_t n)
{
	stats->all[which].known = true;
	stats->all[which].n = n;
}

/* Each number is another one. */
static struct stats first_look(void)
{
	struct stats stats = {.when_ns = 10 * SECOND_NS};

	set(&stats, STATS_GOROUTINES, 101);
	set(&stats, STATS_RUNNING, 2);
	set(&stats, STATS_RUNNABLE, 3);
	set(&stats, STATS_WAITING, 95);
	set(&stats, STATS_SYSCALL, 1);
	set(&stats, STATS_THREADS, 14);
	set(&stats, STATS_GOMAXPROCS, 8);
	set(&stats, STATS_HEAP_BYTES, 20 * MB);
	set(&stats, STATS_HEAP_GOAL, 40 * MB);
	set(&stats, STATS_HEAP_INUSE, 25 * MB);
	set(&stats, STATS_HEAP_IDLE, 5 * MB);
	set(&stats, STATS_HEAP_RELEASED, 4 * MB);
	set(&stats, STATS_STACK_BYTES, 1 * MB);
	set(&stats, STATS_RSS_BYTES, 60 * MB);
	set(&stats, STATS_ALLOCATED, 1000 * MB);
	set(&stats, STATS_GC_CYCLES, 30);
	set(&stats, STATS_LAST_GC, 1700);
	set(&stats, STATS_GC_PAUSE_NS, 7000000);
	set(&stats, STATS_GC_FRACTION, 0x3fc0000000000000); /* 0.125 */
	set(&stats, STATS_CPU_NS, 9 * SECOND_NS);
	return stats;
}

/* Two seconds later */
static struct stats second_look(void)
{
	struct stats stats = first_look();

	stats.when_ns += 2 * SECOND_NS;
	set(&stats, STATS_ALLOCATED, 1030 * MB);
	set(&stats, STATS_GC_CYCLES, 34);
	set(&stats, STATS_GC_PAUSE_NS, 7250000);
	set(&stats, STATS_CPU_NS, 10 * SECOND_NS);
	return stats;
}

static void expect_line(const struct stats *now, const struct stats *before, const char *want)
{
	printed_begin();
	stats_print_line(stdout, &etcd, now, before);
	printed_expect(want);
}

static void test_head(void **state)
{
	(void)state;
	printed_begin();
	stats_print_head(stdout);
	printed_expect(
		"    PID COMMAND     GORS  RUN RUNQ  THR  HEAP  GOAL ALLOC  GC PAUSE   RSS  CPU"
		"\n");
}

/* Bytes by the second; collections and pauses of all the time between the looks. */
static void test_lines(void **state)
{
	const struct stats first = first_look(), second = second_look(), none = {0};

	(void)state;
	expect_line(&first, NULL,
		    "   4711 etcd-serve   101    2    3   14   20M   40M     -   -     -   60M    -"
		    "\n");
	expect_line(&second, &first,
		    "   4711 etcd-serve   101    2    3   14   20M   40M   15M   4 250us   60M  50%"
		    "\n");
	expect_line(&none, &first,
		    "   4711 etcd-serve     -    -    -    -     -     -     -   -     -     -    -"
		    "\n");
}

/* Nothing is made up where the clock has not moved, where a number fell, or was not known. */
static void test_unknown_rates(void **state)
{
	const struct stats first = first_look();
	struct stats second = second_look(), before = first;

	(void)state;
	second.when_ns = first.when_ns;
	expect_line(&second, &first,
		    "   4711 etcd-serve   101    2    3   14   20M   40M     -   4 250us   60M    -"
		    "\n");
	second = second_look();
	set(&second, STATS_ALLOCATED, 1);
	set(&second, STATS_GC_CYCLES, 29);
	set(&second, STATS_GC_PAUSE_NS, 1);
	set(&second, STATS_CPU_NS, 1);
	expect_line(&second, &first,
		    "   4711 etcd-serve   101    2    3   14   20M   40M     -   -     -   60M    -"
		    "\n");
	second = second_look();
	before.all[STATS_ALLOCATED].known = before.all[STATS_GC_CYCLES].known = false;
	expect_line(&second, &before,
		    "   4711 etcd-serve   101    2    3   14   20M   40M     -   - 250us   60M  50%"
		    "\n");
	/* the same as before is known: nothing happened */
	second = first;
	second.when_ns += SECOND_NS;
	expect_line(&second, &first,
		    "   4711 etcd-serve   101    2    3   14   20M   40M     0   0   0ns   60M   0%"
		    "\n");
}

static void test_goal_off(void **state)
{
	struct stats stats = first_look();

	(void)state;
	set(&stats, STATS_HEAP_GOAL, UINT64_MAX);
	expect_line(&stats, NULL,
		    "   4711 etcd-serve   101    2    3   14   20M   off     -   -     -   60M    -"
		    "\n");
	set(&stats, STATS_HEAP_GOAL, INT64_MAX);
	printed_begin();
	stats_print_line(stdout, &etcd, &stats, NULL);
	char *text = printed_end();

	assert_null(strstr(text, "off"));
	free(text);
}

/* A quota that was used up since */
static void test_quota(void **state)
{
	struct stats before = first_look(), now = before;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	set(&now, STATS_CPU_QUOTA, 1500);
	assert_false(stats_print_quota(out, "tool", &etcd, &now, &before));
	set(&before, STATS_CPU_PERIODS, 10);
	set(&before, STATS_CPU_THROTTLED, 5);
	set(&now, STATS_CPU_PERIODS, 20);
	set(&now, STATS_CPU_THROTTLED, 5);
	assert_false(stats_print_quota(out, "tool", &etcd, &now, &before));
	assert_false(stats_print_quota(out, "tool", &etcd, &now, NULL));
	set(&now, STATS_CPU_THROTTLED, 12);
	assert_true(stats_print_quota(out, "tool", &etcd, &now, &before));
	now.all[STATS_GOMAXPROCS].known = false;
	set(&now, STATS_CPU_QUOTA, 1000);
	set(&now, STATS_CPU_THROTTLED, 6);
	assert_true(stats_print_quota(out, "tool", &etcd, &now, &before));
	fclose(out);
	assert_string_equal(
		text, "tool: process 4711 was throttled in 7 of 10 periods: its cgroup may use "
		      "1.5 CPUs, GOMAXPROCS is 8\n"
		      "tool: process 4711 was throttled in 1 of 10 periods: its cgroup may use "
		      "1 CPU\n");
	free(text);
}

static void test_name_is_escaped(void **state)
{
	const struct stats_subject of = {.pid = 1, .name = "a\x1b[2J", .comm = "", .release = 27};
	const struct stats none = {0};

	(void)state;
	printed_begin();
	stats_print_line(stdout, &of, &none, NULL);
	char *text = printed_end();

	assert_int_equal(strncmp(text, "      1 a\\x1b[2J   ", 19), 0);
	free(text);
}

static void add_time(struct json *json)
{
	json_member_string(json, "time", "now");
}

static void test_json(void **state)
{
	const struct stats_subject unknown = {.pid = 1, .name = "a", .comm = "b", .release = -1},
				   oldest = {.pid = 1, .name = "a", .comm = "b", .release = 0};
	struct stats stats = first_look();
	char *text;

	(void)state;
	set(&stats, STATS_RSS_REST, (uint64_t)INT64_C(-4096));
	set(&stats, STATS_GOGC, (uint64_t)INT64_C(-1));
	set(&stats, STATS_MEMORY_LIMIT, INT64_MAX);
	printed_begin();
	stats_print_json(stdout, &etcd, &stats, add_time);
	printed_expect(
		"{\"type\":\"stat\",\"time\":\"now\",\"pid\":4711,\"comm\":\"etcd\","
		"\"go_version\":\"go1.19\",\"goroutines\":101,\"running\":2,\"runnable\":3,"
		"\"waiting\":95,\"syscall\":1,\"threads\":14,\"gomaxprocs\":8,"
		"\"processors_idle\":null,"
		"\"heap_bytes\":20971520,\"heap_goal_bytes\":41943040,"
		"\"heap_inuse_bytes\":26214400,\"heap_idle_bytes\":5242880,"
		"\"heap_released_bytes\":4194304,\"stack_bytes\":1048576,\"runtime_bytes\":null,"
		"\"rss_bytes\":62914560,\"rss_file_bytes\":null,\"rss_shmem_bytes\":null,"
		"\"rss_rest_bytes\":-4096,\"lazyfree_bytes\":null,\"swap_bytes\":null,"
		"\"allocated_bytes\":1048576000,\"gc_cycles\":30,\"gc_pause_total_ns\":7000000,"
		"\"gc_cpu_fraction\":0.125,"
		"\"cpu_ns\":9000000000,\"gogc\":-1,\"gomemlimit_bytes\":9223372036854775807,"
		"\"fds\":null,\"fds_limit\":null,\"mallocs\":null,\"frees\":null,"
		"\"heap_objects\":null,\"last_gc_ns\":1700,\"cpu_quota_millicores\":null,"
		"\"cpu_quota_periods\":null,\"cpu_quota_throttled\":null}\n");
	stats.all[STATS_RUNNABLE].known = false;
	set(&stats, STATS_GC_FRACTION, UINT64_MAX); /* no number */
	printed_begin();
	stats_print_json(stdout, &unknown, &stats, NULL);
	text = printed_end();
	assert_non_null(strstr(text, "\"stat\",\"pid\":1,\"comm\":\"b\",\"go_version\":null,"));
	assert_non_null(strstr(text, "\"running\":2,\"runnable\":null,\"waiting\":95,"));
	assert_non_null(strstr(text, "\"gc_cpu_fraction\":null,"));
	free(text);
	printed_begin();
	stats_print_json(stdout, &oldest, &stats, NULL);
	text = printed_end();
	assert_non_null(strstr(text, "\"go_version\":\"go1.0\""));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),          cmocka_unit_test(test_lines),
		cmocka_unit_test(test_unknown_rates), cmocka_unit_test(test_goal_off),
		cmocka_unit_test(test_quota),         cmocka_unit_test(test_name_is_escaped),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
