// SPDX-License-Identifier: Apache-2.0
/* Names and meanings as of github.com/prometheus/client_golang, prometheus/go_collector.go and
 * process_collector.go */
#include "gostat/stats_metrics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "metrics/family.h"

enum { MORE = 3 };
enum form { COUNT, SIGNED, SECONDS, FRACTION };

struct family { /* a number of each process */
	const char *name, *help;
	enum stats_number first;
	enum form form;
	const char *type; /* NULL: a gauge */
	unsigned more;    /* how many others are added */
	enum stats_number others[MORE];
};

static const struct {
	const char *name, *help;
	enum stats_number which;
} gauges[] = {
	{"go_goroutines", "Goroutines, without the runtime's own.", STATS_GOROUTINES},
	{"go_threads", "Threads of the process.", STATS_THREADS},
	{"go_sched_gomaxprocs_threads", "GOMAXPROCS.", STATS_GOMAXPROCS},
	{"go_gc_gogc_percent", "GOGC; 18446744073709551615: off.", STATS_GOGC},
	{"go_gc_gomemlimit_bytes", "GOMEMLIMIT; 2^63-1: none.", STATS_MEMORY_LIMIT},
	{"go_memstats_alloc_bytes", "MemStats.Alloc.", STATS_HEAP_BYTES},
	{"go_memstats_heap_alloc_bytes", "MemStats.HeapAlloc: the same.", STATS_HEAP_BYTES},
	{"go_memstats_heap_idle_bytes", "MemStats.HeapIdle.", STATS_HEAP_IDLE},
	{"go_memstats_heap_inuse_bytes", "MemStats.HeapInuse.", STATS_HEAP_INUSE},
	{"go_memstats_heap_released_bytes", "MemStats.HeapReleased.", STATS_HEAP_RELEASED},
	{"go_memstats_heap_objects", "MemStats.HeapObjects.", STATS_OBJECTS},
	{"go_memstats_next_gc_bytes", "MemStats.NextGC.", STATS_HEAP_GOAL},
	{"go_memstats_stack_inuse_bytes", "MemStats.StackInuse.", STATS_STACK_BYTES},
	{"process_open_fds", "Open descriptors.", STATS_FDS},
	{"process_max_fds", "How many there may be; 2^64-1: no limit.", STATS_FDS_LIMIT},
	{"process_resident_memory_bytes", "Resident memory.", STATS_RSS_BYTES},
	{"gostat_processors_idle", "Of GOMAXPROCS, those without a goroutine.", STATS_IDLE},
	{"gostat_runtime_bytes", "Sys less HeapSys and StackInuse.", STATS_RUNTIME_BYTES},
	{"gostat_resident_file_bytes", "Resident pages of files.", STATS_RSS_FILE},
	{"gostat_resident_shmem_bytes", "Resident shared memory.", STATS_RSS_SHMEM},
	{"gostat_swap_bytes", "Swapped out.", STATS_SWAP},
	{"gostat_cpu_quota_millicores", "What its cgroup may use, in thousandths of a CPU.",
	 STATS_CPU_QUOTA},
};

static const struct family families[] = {
	{.name = "go_memstats_heap_sys_bytes",
	 .help = "MemStats.HeapSys.",
	 .first = STATS_HEAP_INUSE,
	 .more = 1,
	 .others = {STATS_HEAP_IDLE}},
	{.name = "go_memstats_sys_bytes",
	 .help = "MemStats.Sys.",
	 .first = STATS_HEAP_INUSE,
	 .more = 3,
	 .others = {STATS_HEAP_IDLE, STATS_STACK_BYTES, STATS_RUNTIME_BYTES}},
	{.name = "go_memstats_gc_cpu_fraction",
	 .help = "MemStats.GCCPUFraction.",
	 .first = STATS_GC_FRACTION,
	 .form = FRACTION},
	{.name = "go_memstats_last_gc_time_seconds",
	 .help = "MemStats.LastGC, since 1970.",
	 .first = STATS_LAST_GC,
	 .form = SECONDS},
	{.name = "go_memstats_mallocs",
	 .help = "MemStats.Mallocs.",
	 .first = STATS_MALLOCS,
	 .type = "counter"},
	{.name = "go_memstats_frees",
	 .help = "MemStats.Frees.",
	 .first = STATS_FREES,
	 .type = "counter"},
	{.name = "process_cpu_seconds",
	 .help = "Processor time.",
	 .first = STATS_CPU_NS,
	 .form = SECONDS,
	 .type = "counter"},
	{.name = "gostat_cpu_quota_periods",
	 .help = "Periods of its cgroup's quota.",
	 .first = STATS_CPU_PERIODS,
	 .type = "counter"},
	{.name = "gostat_cpu_quota_throttled_periods",
	 .help = "Of these, those in which the quota was used up.",
	 .first = STATS_CPU_THROTTLED,
	 .type = "counter"},
	{.name = "gostat_resident_rest_bytes",
	 .help = "Resident beside what the runtime and the kernel name; may be negative.",
	 .first = STATS_RSS_REST,
	 .form = SIGNED},
};

/* --- samples --- */

/* False: of these, one is not known. */
static bool add_up(const struct stats *now, const struct family *family, uint64_t *sum)
{
	bool known = now->all[family->first].known;

	*sum = now->all[family->first].n;
	for (unsigned i = 0; i < family->more; i++) {
		known &= now->all[family->others[i]].known;
		*sum += now->all[family->others[i]].n;
	}
	return known;
}

static void put_value(FILE *out, enum form form, uint64_t n)
{
	double fraction;

	memcpy(&fraction, &n, sizeof(fraction));
	if (form == SECONDS)
		family_seconds(out, n);
	else if (form == SIGNED)
		fprintf(out, "%" PRId64, (int64_t)n);
	else if (form == FRACTION && isnan(fraction)) /* of a program that lies */
		fputs("NaN", out);
	else if (form == FRACTION && isinf(fraction))
		fputs(fraction > 0 ? "+Inf" : "-Inf", out);
	else if (form == FRACTION)
		fprintf(out, "%.17g", fraction);
	else
		fprintf(out, "%" PRIu64, n);
	fputc('\n', out);
}

/* `label`, `text`: one more; NULL: none */
static void put_sample(FILE *out, const char *name, const char *end,
		       const struct stats_published *one, const char *label, const char *text)
{
	fprintf(out, "%s%s{pid=\"%d\",comm=\"", name, end, one->pid);
	family_label(out, one->comm);
	if (label)
		fprintf(out, "\",%s=\"%s", label, text);
	fputs("\"} ", out);
}

static void write_family(FILE *out, bool openmetrics, const struct family *family,
			 const struct stats_published *all, size_t count)
{
	const char *type = family->type ? family->type : "gauge";
	const char *end = !strcmp(type, "counter") ? "_total" : "";
	uint64_t sum;

	family_head(out, openmetrics, family->name, type, family->help);
	for (size_t i = 0; i < count; i++)
		if (add_up(&all[i].now, family, &sum)) {
			put_sample(out, family->name, end, &all[i], NULL, NULL);
			put_value(out, family->form, sum);
		}
}

/* --- families of another kind --- */

/* There is a gauge go_memstats_alloc_bytes: in OpenMetrics, where a counter's family has no _total,
 * this cannot be a counter. */
static void write_allocated(FILE *out, bool openmetrics, const struct stats_published *all,
			    size_t count)
{
	const struct family family = {
		.name = openmetrics ? "go_memstats_alloc_bytes_total" : "go_memstats_alloc_bytes",
		.help = "MemStats.TotalAlloc.",
		.first = STATS_ALLOCATED,
		.type = openmetrics ? "unknown" : "counter",
	};

	write_family(out, openmetrics, &family, all, count);
}

/* A summary without quantiles: sum and count are of all collections, as in Prometheus' collector.
 */
static void write_pauses(FILE *out, bool openmetrics, const struct stats_published *all,
			 size_t count)
{
	static const char name[] = "go_gc_duration_seconds";

	family_head(out, openmetrics, name, "summary",
		    "MemStats.PauseTotalNs and NumGC: for how long collections stopped it.");
	for (size_t i = 0; i < count; i++) {
		const struct stats *now = &all[i].now;

		if (!now->all[STATS_GC_PAUSE_NS].known || !now->all[STATS_GC_CYCLES].known)
			continue;
		put_sample(out, name, "_sum", &all[i], NULL, NULL);
		put_value(out, SECONDS, now->all[STATS_GC_PAUSE_NS].n);
		put_sample(out, name, "_count", &all[i], NULL, NULL);
		put_value(out, COUNT, now->all[STATS_GC_CYCLES].n);
	}
}

static void write_states(FILE *out, bool openmetrics, const struct stats_published *all,
			 size_t count)
{
	static const char *const states[] = {"running", "runnable", "waiting", "syscall"};
	static const char name[] = "gostat_goroutines";

	family_head(out, openmetrics, name, "gauge",
		    "Goroutines by state: go_goroutines together.");
	for (size_t i = 0; i < count; i++)
		for (unsigned k = 0; k < sizeof(states) / sizeof(*states); k++) {
			enum stats_number which = STATS_RUNNING + k;

			if (!all[i].now.all[which].known)
				continue;
			put_sample(out, name, "", &all[i], "state", states[k]);
			put_value(out, COUNT, all[i].now.all[which].n);
		}
}

static void write_info(FILE *out, bool openmetrics, const struct stats_published *all, size_t count)
{
	static const char name[] = "gostat_process";
	char version[32];

	family_head(out, openmetrics, openmetrics ? name : "gostat_process_info",
		    openmetrics ? "info" : "gauge", "1, with the release of Go.");
	for (size_t i = 0; i < count; i++) {
		snprintf(version, sizeof(version), "go1.%d", all[i].release);
		put_sample(out, name, "_info", &all[i], "go_version",
			   all[i].release >= 0 ? version : "");
		put_value(out, COUNT, 1);
	}
}

void stats_metrics_write(FILE *out, bool openmetrics, const struct stats_published *all,
			 size_t count)
{
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
		const struct family family = {
			.name = gauges[i].name, .help = gauges[i].help, .first = gauges[i].which};

		write_family(out, openmetrics, &family, all, count);
	}
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		write_family(out, openmetrics, &families[i], all, count);
	write_allocated(out, openmetrics, all, count);
	write_pauses(out, openmetrics, all, count);
	write_states(out, openmetrics, all, count);
	write_info(out, openmetrics, all, count);
}
