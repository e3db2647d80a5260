// SPDX-License-Identifier: Apache-2.0
#include "gostat/stats_memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "base/shortnum.h"
#include "gostat/stats.h"
#include "gostat/stats_print.h"

enum { LIMIT_TEXT = 32 };

static bool is_known(const struct stats *now, enum stats_number which)
{
	return now->all[which].known;
}

static const char *bytes_of(char text[SHORTNUM], const struct stats *now, enum stats_number which)
{
	return is_known(now, which) ? shortnum_bytes(text, (double)now->all[which].n) : "-";
}

/* --- rows --- */

static void print_signed(FILE *out, bool known, int64_t bytes, const char *what)
{
	char text[SHORTNUM], *cell = NULL;

	if (known)
		cell = mem_printf("%s%s", bytes < 0 ? "-" : "",
				  shortnum_bytes(text, bytes < 0 ? -(double)bytes : (double)bytes));
	fprintf(out, "%9s  %s\n", cell ? cell : "-", what);
	free(cell);
}

static void print_row(FILE *out, const struct stats *now, enum stats_number which, const char *what)
{
	print_signed(out, is_known(now, which), (int64_t)now->all[which].n, what);
}

static void print_inuse(FILE *out, const struct stats *now)
{
	char text[SHORTNUM];
	char *what = is_known(now, STATS_HEAP_BYTES)
			     ? mem_printf("heap in use: spans with %s of objects",
					  bytes_of(text, now, STATS_HEAP_BYTES))
			     : mem_strdup("heap in use: spans with objects");

	print_row(out, now, STATS_HEAP_INUSE, what);
	free(what);
}

static void print_idle(FILE *out, const struct stats *now)
{
	bool known = is_known(now, STATS_HEAP_IDLE) && is_known(now, STATS_HEAP_RELEASED);
	int64_t kept = (int64_t)(now->all[STATS_HEAP_IDLE].n - now->all[STATS_HEAP_RELEASED].n);
	char text[SHORTNUM];
	char *what = mem_printf("heap idle: kept for allocations (%s more given back)",
				bytes_of(text, now, STATS_HEAP_RELEASED));

	print_signed(out, known, kept, what);
	free(what);
}

static void print_rest(FILE *out, const struct stats *now)
{
	int64_t rest = (int64_t)now->all[STATS_RSS_REST].n;

	if (is_known(now, STATS_LAZYFREE) && now->all[STATS_LAZYFREE].n) {
		print_row(out, now, STATS_LAZYFREE,
			  "given back, still resident until the kernel needs it");
		rest -= (int64_t)now->all[STATS_LAZYFREE].n;
	}
	print_signed(out, is_known(now, STATS_RSS_REST), rest,
		     rest < 0 ? "the rest: counted above, but never touched, or swapped out"
			      : "the rest: variables, C's memory, stacks of threads");
}

/* --- settings --- */

static const char *gogc_of(char text[LIMIT_TEXT], const struct stats *now)
{
	int64_t percent = (int64_t)now->all[STATS_GOGC].n;

	if (!is_known(now, STATS_GOGC))
		return "-";
	if (percent < 0)
		return "off";
	snprintf(text, LIMIT_TEXT, "%" PRId64, percent);
	return text;
}

static const char *count_of(char text[LIMIT_TEXT], const struct stats *now, enum stats_number which)
{
	if (!is_known(now, which))
		return "-";
	if (now->all[which].n == UINT64_MAX)
		return "no limit";
	snprintf(text, LIMIT_TEXT, "%" PRIu64, now->all[which].n);
	return text;
}

/* The runtime has the largest number where there is no limit or no goal. */
static const char *limit_of(char text[SHORTNUM], const struct stats *now, enum stats_number which,
			    const char *none)
{
	return is_known(now, which) && now->all[which].n >= INT64_MAX ? none
								      : bytes_of(text, now, which);
}

static void print_collector(FILE *out, const struct stats *now)
{
	double n;

	memcpy(&n, &now->all[STATS_GC_FRACTION].n, sizeof(n));
	if (is_known(now, STATS_GC_FRACTION) && n >= 0 && n <= 1)
		fprintf(out, "%.2f%%", 100 * n);
	else
		fputc('-', out);
	fputs(" of the processors' time since it started was for collections\n", out);
}

static void print_settings(FILE *out, const struct stats *now)
{
	char gogc[LIMIT_TEXT], open[LIMIT_TEXT], most[LIMIT_TEXT], limit[SHORTNUM], goal[SHORTNUM];

	fprintf(out, "GOGC %s, GOMEMLIMIT %s, goal of the next collection %s\n", gogc_of(gogc, now),
		limit_of(limit, now, STATS_MEMORY_LIMIT, "off"),
		limit_of(goal, now, STATS_HEAP_GOAL, "off"));
	fprintf(out, "%s descriptors open, of at most %s\n", count_of(open, now, STATS_FDS),
		count_of(most, now, STATS_FDS_LIMIT));
}

void stats_memory_print(FILE *out, const struct stats_subject *of, const struct stats *now)
{
	char *name = escape_text(of->name), rss[SHORTNUM], swap[SHORTNUM];

	fprintf(out, "%s (%d): %s resident, %s swapped out\n", name, of->pid,
		bytes_of(rss, now, STATS_RSS_BYTES), bytes_of(swap, now, STATS_SWAP));
	print_inuse(out, now);
	print_idle(out, now);
	print_row(out, now, STATS_STACK_BYTES, "stacks of goroutines");
	print_row(out, now, STATS_RUNTIME_BYTES,
		  "the runtime's own: spans, caches, marking, profiles");
	print_row(out, now, STATS_RSS_FILE, "files: the program, libraries, what it has mapped");
	print_row(out, now, STATS_RSS_SHMEM, "shared memory");
	print_rest(out, now);
	print_collector(out, now);
	print_settings(out, now);
	free(name);
}
