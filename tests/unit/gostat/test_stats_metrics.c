// SPDX-License-Identifier: Apache-2.0
/* gostat --metrics, to the letter: what is known, sums, labels of any bytes, both formats. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "gostat/stats_metrics.h"
#include "printed.h"

static struct stats_published all[2];

static void set(struct stats *stats, enum stats_number which, uint64_t n)
{
	stats->all[which].known = true;
	stats->all[which].n = n;
}

static int begin(void **state)
{
	(void)state;
	memset(all, 0, sizeof(all));
	all[0] = (struct stats_published){.pid = 181, .release = 27, .comm = "et\"cd\x1b"};
	all[1] = (struct stats_published){.pid = 182, .release = -1, .comm = "b"};
	return 0;
}

/* The samples alone, without heads */
static void expect(bool openmetrics, const char *want)
{
	char *text, *at;

	printed_begin();
	stats_metrics_write(stdout, openmetrics, all, 2);
	at = text = printed_end();
	printed_begin();
	for (char *line; (line = strsep(&at, "\n")) && at;)
		if (*line != '#')
			printf("%s\n", line);
	free(text);
	printed_expect(want);
}

#define FIRST "pid=\"181\",comm=\"et\\\"cd\\\\x1b\""
#define INFO                                                                                       \
	"gostat_process_info{" FIRST ",go_version=\"go1.27\"} 1\n"                                 \
	"gostat_process_info{pid=\"182\",comm=\"b\",go_version=\"\"} 1\n"

static void test_unknown(void **state)
{
	struct stats *now = &all[0].now;

	(void)state;
	expect(false, INFO);
	/* of a sum or a pair, one is not known */
	set(now, STATS_HEAP_IDLE, 30);
	set(now, STATS_GC_CYCLES, 4);
	expect(false, "go_memstats_heap_idle_bytes{" FIRST "} 30\n" INFO);
	now->all[STATS_HEAP_IDLE].known = false;
	set(now, STATS_HEAP_INUSE, 40);
	expect(false, "go_memstats_heap_inuse_bytes{" FIRST "} 40\n" INFO);
}

static void test_numbers(void **state)
{
	struct stats *now = &all[0].now;
	const double third = 1.0 / 3, none = 0.0 / 0.0;
	uint64_t n;

	(void)state;
	for (enum stats_number i = 0; i < STATS_NUMBERS; i++)
		set(now, i, 1000 + i);
	memcpy(&n, &third, sizeof(n));
	set(now, STATS_GC_FRACTION, n);
	set(now, STATS_RSS_REST, (uint64_t)-5);
	set(now, STATS_GOGC, (uint64_t)-1);
	memcpy(&n, &none, sizeof(n));
	set(&all[1].now, STATS_GC_FRACTION, n);
	set(&all[1].now, STATS_ALLOCATED, 7);
	for (int openmetrics = 0; openmetrics < 2; openmetrics++)
		expect(openmetrics, "go_goroutines{" FIRST "} 1000\n"
				    "go_threads{" FIRST "} 1005\n"
				    "go_sched_gomaxprocs_threads{" FIRST "} 1006\n"
				    "go_gc_gogc_percent{" FIRST "} 18446744073709551615\n"
				    "go_gc_gomemlimit_bytes{" FIRST "} 1027\n"
				    "go_memstats_alloc_bytes{" FIRST "} 1008\n"
				    "go_memstats_heap_alloc_bytes{" FIRST "} 1008\n"
				    "go_memstats_heap_idle_bytes{" FIRST "} 1011\n"
				    "go_memstats_heap_inuse_bytes{" FIRST "} 1010\n"
				    "go_memstats_heap_released_bytes{" FIRST "} 1012\n"
				    "go_memstats_heap_objects{" FIRST "} 1032\n"
				    "go_memstats_next_gc_bytes{" FIRST "} 1009\n"
				    "go_memstats_stack_inuse_bytes{" FIRST "} 1013\n"
				    "process_open_fds{" FIRST "} 1028\n"
				    "process_max_fds{" FIRST "} 1029\n"
				    "process_resident_memory_bytes{" FIRST "} 1015\n"
				    "gostat_processors_idle{" FIRST "} 1007\n"
				    "gostat_runtime_bytes{" FIRST "} 1014\n"
				    "gostat_resident_file_bytes{" FIRST "} 1016\n"
				    "gostat_resident_shmem_bytes{" FIRST "} 1017\n"
				    "gostat_swap_bytes{" FIRST "} 1020\n"
				    "gostat_cpu_quota_millicores{" FIRST "} 1034\n"
				    "go_memstats_heap_sys_bytes{" FIRST "} 2021\n"
				    "go_memstats_sys_bytes{" FIRST "} 4048\n"
				    "go_memstats_gc_cpu_fraction{" FIRST "} 0.33333333333333331\n"
				    "go_memstats_gc_cpu_fraction{pid=\"182\",comm=\"b\"} NaN\n"
				    "go_memstats_last_gc_time_seconds{" FIRST "} 0.000001033\n"
				    "go_memstats_mallocs_total{" FIRST "} 1030\n"
				    "go_memstats_frees_total{" FIRST "} 1031\n"
				    "process_cpu_seconds_total{" FIRST "} 0.000001025\n"
				    "gostat_cpu_quota_periods_total{" FIRST "} 1035\n"
				    "gostat_cpu_quota_throttled_periods_total{" FIRST "} 1036\n"
				    "gostat_resident_rest_bytes{" FIRST "} -5\n"
				    "go_memstats_alloc_bytes_total{" FIRST "} 1021\n"
				    "go_memstats_alloc_bytes_total{pid=\"182\",comm=\"b\"} 7\n"
				    "go_gc_duration_seconds_sum{" FIRST "} 0.000001023\n"
				    "go_gc_duration_seconds_count{" FIRST "} 1022\n"
				    "gostat_goroutines{" FIRST ",state=\"running\"} 1001\n"
				    "gostat_goroutines{" FIRST ",state=\"runnable\"} 1002\n"
				    "gostat_goroutines{" FIRST ",state=\"waiting\"} 1003\n"
				    "gostat_goroutines{" FIRST ",state=\"syscall\"} 1004\n" INFO);
}

static const char *type_of(bool openmetrics, const char *name)
{
	static char type[64];
	char *text, *at, wanted[128];

	snprintf(wanted, sizeof(wanted), "# TYPE %s ", name);
	printed_begin();
	stats_metrics_write(stdout, openmetrics, all, 2);
	text = printed_end();
	at = strstr(text, wanted);
	snprintf(type, sizeof(type), "%.*s", at ? (int)strcspn(at + strlen(wanted), "\n") : 0,
		 at ? at + strlen(wanted) : "");
	free(text);
	return type;
}

/* In OpenMetrics a counter's family has no _total, and no two families have one name. */
static void test_types(void **state)
{
	(void)state;
	assert_string_equal(type_of(false, "process_cpu_seconds_total"), "counter");
	assert_string_equal(type_of(true, "process_cpu_seconds"), "counter");
	assert_string_equal(type_of(false, "go_memstats_alloc_bytes_total"), "counter");
	assert_string_equal(type_of(true, "go_memstats_alloc_bytes_total"), "unknown");
	assert_string_equal(type_of(true, "go_memstats_alloc_bytes"), "gauge");
	assert_string_equal(type_of(false, "gostat_process_info"), "gauge");
	assert_string_equal(type_of(true, "gostat_process"), "info");
	assert_string_equal(type_of(true, "go_gc_duration_seconds"), "summary");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_unknown, begin),
		cmocka_unit_test_setup(test_numbers, begin),
		cmocka_unit_test_setup(test_types, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
