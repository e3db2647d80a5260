// SPDX-License-Identifier: Apache-2.0
#include "gostat/stats_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/shortnum.h"
#include "gostat/stats.h"

enum { NAME_WIDTH = 10 };
#define SECOND_NS 1000000000.0

void stats_print_head(FILE *out)
{
	fputs("    PID COMMAND     GORS  RUN RUNQ  THR  HEAP  GOAL ALLOC  GC PAUSE   RSS  CPU\n",
	      out);
}

/* --- cells --- */

static void print_cell(FILE *out, bool known, double n,
		       const char *(*shorten)(char out[SHORTNUM], double n))
{
	char text[SHORTNUM];

	fprintf(out, "%6s", known ? shorten(text, n) : "-");
}

static void print_bytes(FILE *out, const struct stats *now, enum stats_number which)
{
	print_cell(out, now->all[which].known, (double)now->all[which].n, shortnum_bytes);
}

/* Where collections are off, there is no goal: the runtime has the largest number then. */
static void print_goal(FILE *out, const struct stats *now)
{
	if (now->all[STATS_HEAP_GOAL].known && now->all[STATS_HEAP_GOAL].n > INT64_MAX)
		fprintf(out, "%6s", "off");
	else
		print_bytes(out, now, STATS_HEAP_GOAL);
}

static void print_count(FILE *out, int width, const struct stats *now, enum stats_number which)
{
	if (now->all[which].known)
		fprintf(out, "%*" PRIu64, width, now->all[which].n);
	else
		fprintf(out, "%*s", width, "-");
}

/* How much a number has risen; false: not known. */
static bool risen(const struct stats *now, const struct stats *before, enum stats_number which,
		  double *by)
{
	if (!before || !now->all[which].known || !before->all[which].known ||
	    now->all[which].n < before->all[which].n)
		return false;
	*by = (double)(now->all[which].n - before->all[which].n);
	return true;
}

static void print_name(FILE *out, const char *name)
{
	char *text = escape_text(name);

	fprintf(out, " %-*.*s", NAME_WIDTH, NAME_WIDTH, text);
	free(text);
}

static void print_rates(FILE *out, const struct stats *now, const struct stats *before)
{
	double by = 0, seconds = before ? (double)(now->when_ns - before->when_ns) / SECOND_NS : 0;
	bool known = seconds > 0 && risen(now, before, STATS_ALLOCATED, &by);

	print_cell(out, known, known ? by / seconds : 0, shortnum_bytes);
	if (risen(now, before, STATS_GC_CYCLES, &by))
		fprintf(out, "%4.0f", by);
	else
		fprintf(out, "%4s", "-");
	known = risen(now, before, STATS_GC_PAUSE_NS, &by);
	print_cell(out, known, by, shortnum_ns);
}

static void print_processor(FILE *out, const struct stats *now, const struct stats *before)
{
	double by = 0, ns = before ? (double)(now->when_ns - before->when_ns) : 0;

	if (ns > 0 && risen(now, before, STATS_CPU_NS, &by))
		fprintf(out, "%4.0f%%", 100 * by / ns);
	else
		fprintf(out, "%5s", "-");
}

void stats_print_line(FILE *out, const struct stats_subject *of, const struct stats *now,
		      const struct stats *before)
{
	fprintf(out, "%7d", of->pid);
	print_name(out, of->name);
	print_count(out, 6, now, STATS_GOROUTINES);
	print_count(out, 5, now, STATS_RUNNING);
	print_count(out, 5, now, STATS_RUNNABLE);
	print_count(out, 5, now, STATS_THREADS);
	print_bytes(out, now, STATS_HEAP_BYTES);
	print_goal(out, now);
	print_rates(out, now, before);
	print_bytes(out, now, STATS_RSS_BYTES);
	print_processor(out, now, before);
	fputc('\n', out);
}

bool stats_print_quota(FILE *out, const char *tool, const struct stats_subject *of,
		       const struct stats *now, const struct stats *before)
{
	double periods = 0, throttled = 0, cpus = (double)now->all[STATS_CPU_QUOTA].n / 1000;

	if (!risen(now, before, STATS_CPU_PERIODS, &periods) ||
	    !risen(now, before, STATS_CPU_THROTTLED, &throttled) || throttled < 1)
		return false;
	/* in one piece, as lines of others may be printed meanwhile */
	char *most = now->all[STATS_GOMAXPROCS].known
			     ? mem_printf(", GOMAXPROCS is %" PRIu64, now->all[STATS_GOMAXPROCS].n)
			     : mem_strdup("");
	char *line =
		mem_printf("%s: process %d was throttled in %.0f of %.0f periods: its cgroup "
			   "may use %.3g CPU%s%s\n",
			   tool, of->pid, throttled, periods, cpus, cpus == 1 ? "" : "s", most);

	fputs(line, out);
	free(line);
	free(most);
	return true;
}

/* --- JSON --- */

static const char *const keys[STATS_NUMBERS] = {
	[STATS_GOROUTINES] = "goroutines",
	[STATS_RUNNING] = "running",
	[STATS_RUNNABLE] = "runnable",
	[STATS_WAITING] = "waiting",
	[STATS_SYSCALL] = "syscall",
	[STATS_THREADS] = "threads",
	[STATS_GOMAXPROCS] = "gomaxprocs",
	[STATS_IDLE] = "processors_idle",
	[STATS_HEAP_BYTES] = "heap_bytes",
	[STATS_HEAP_GOAL] = "heap_goal_bytes",
	[STATS_HEAP_INUSE] = "heap_inuse_bytes",
	[STATS_HEAP_IDLE] = "heap_idle_bytes",
	[STATS_HEAP_RELEASED] = "heap_released_bytes",
	[STATS_STACK_BYTES] = "stack_bytes",
	[STATS_RUNTIME_BYTES] = "runtime_bytes",
	[STATS_RSS_BYTES] = "rss_bytes",
	[STATS_RSS_FILE] = "rss_file_bytes",
	[STATS_RSS_SHMEM] = "rss_shmem_bytes",
	[STATS_RSS_REST] = "rss_rest_bytes",
	[STATS_LAZYFREE] = "lazyfree_bytes",
	[STATS_SWAP] = "swap_bytes",
	[STATS_ALLOCATED] = "allocated_bytes",
	[STATS_GC_CYCLES] = "gc_cycles",
	[STATS_GC_PAUSE_NS] = "gc_pause_total_ns",
	[STATS_GC_FRACTION] = "gc_cpu_fraction",
	[STATS_CPU_NS] = "cpu_ns",
	[STATS_GOGC] = "gogc",
	[STATS_MEMORY_LIMIT] = "gomemlimit_bytes",
	[STATS_FDS] = "fds",
	[STATS_FDS_LIMIT] = "fds_limit",
	[STATS_MALLOCS] = "mallocs",
	[STATS_FREES] = "frees",
	[STATS_OBJECTS] = "heap_objects",
	[STATS_LAST_GC] = "last_gc_ns",
	[STATS_CPU_QUOTA] = "cpu_quota_millicores",
	[STATS_CPU_PERIODS] = "cpu_quota_periods",
	[STATS_CPU_THROTTLED] = "cpu_quota_throttled",
};

static bool is_signed(enum stats_number which)
{
	return which == STATS_RSS_REST || which == STATS_GOGC;
}

/* All that it takes to tell it from others. A program that lies may have what is no number. */
static void put_fraction(struct json *json, const struct stats *now)
{
	char text[32];
	double n;

	memcpy(&n, &now->all[STATS_GC_FRACTION].n, sizeof(n));
	snprintf(text, sizeof(text), "%.17g", n);
	if (isfinite(n))
		json_number(json, text);
	else
		json_null(json);
}

void stats_print_json(FILE *out, const struct stats_subject *of, const struct stats *now,
		      void (*time)(struct json *json))
{
	char *version = of->release >= 0 ? mem_printf("go1.%d", of->release) : NULL;
	struct json json;

	json_init(&json, out);
	json_object(&json);
	json_member_string(&json, "type", "stat");
	if (time)
		time(&json);
	json_member_i64(&json, "pid", of->pid);
	json_member_string(&json, "comm", of->comm);
	json_member_string(&json, "go_version", version);
	for (enum stats_number i = 0; i < STATS_NUMBERS; i++) {
		json_key(&json, keys[i]);
		if (!now->all[i].known)
			json_null(&json);
		else if (i == STATS_GC_FRACTION)
			put_fraction(&json, now);
		else if (is_signed(i))
			json_i64(&json, (int64_t)now->all[i].n);
		else
			json_u64(&json, now->all[i].n);
	}
	json_object_end(&json);
	free(version);
}
