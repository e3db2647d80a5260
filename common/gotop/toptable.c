// SPDX-License-Identifier: Apache-2.0
#include "gotop/toptable_internal.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gostat/stats_print.h"

void toptable_free(struct toptable *table)
{
	free(table->rows);
	free(table->shown);
	table->rows = NULL;
	table->shown = NULL;
	table->count = table->cap = table->shown_count = 0;
}

static struct toptable_row *find(struct toptable *table, int pid)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].pid == pid)
			return &table->rows[i];
	return NULL;
}

void toptable_put(struct toptable *table, int pid, const char *name, const struct stats *now)
{
	struct toptable_row *row = find(table, pid);

	if (row) {
		row->before = row->now;
		row->has_before = true;
	} else {
		table->rows =
			mem_grow(table->rows, table->count, &table->cap, sizeof(*table->rows));
		row = &table->rows[table->count++];
		*row = (struct toptable_row){.pid = pid};
	}
	snprintf(row->name, sizeof(row->name), "%s", name);
	row->now = *now;
}

void toptable_remove(struct toptable *table, int pid)
{
	struct toptable_row *row = find(table, pid);

	if (row)
		*row = table->rows[--table->count];
}

/* --- order --- */

static const struct {
	const char *name;
	enum stats_number number;
	bool per_second; /* how much it has risen, not how much it is */
} columns[TOPTABLE_COLUMNS] = {
	[TOPTABLE_PID] = {"PID", 0, false},
	[TOPTABLE_COMMAND] = {"COMMAND", 0, false},
	[TOPTABLE_GORS] = {"GORS", STATS_GOROUTINES, false},
	[TOPTABLE_RUN] = {"RUN", STATS_RUNNING, false},
	[TOPTABLE_RUNQ] = {"RUNQ", STATS_RUNNABLE, false},
	[TOPTABLE_THR] = {"THR", STATS_THREADS, false},
	[TOPTABLE_HEAP] = {"HEAP", STATS_HEAP_BYTES, false},
	[TOPTABLE_GOAL] = {"GOAL", STATS_HEAP_GOAL, false},
	[TOPTABLE_ALLOC] = {"ALLOC", STATS_ALLOCATED, true},
	[TOPTABLE_GC] = {"GC", STATS_GC_CYCLES, true},
	[TOPTABLE_PAUSE] = {"PAUSE", STATS_GC_PAUSE_NS, true},
	[TOPTABLE_RSS] = {"RSS", STATS_RSS_BYTES, false},
	[TOPTABLE_CPU] = {"CPU", STATS_CPU_NS, true},
};

/* What is not known comes last. */
static double value(const struct toptable_row *row, enum toptable_column column)
{
	enum stats_number number = columns[column].number;
	uint64_t now = row->now.all[number].n, before = row->before.all[number].n;
	double ns = (double)(row->now.when_ns - row->before.when_ns);

	if (!row->now.all[number].known)
		return -1;
	if (!columns[column].per_second)
		return (double)now;
	if (!row->has_before || !row->before.all[number].known || now < before || ns <= 0)
		return -1;
	return (double)(now - before) / ns;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct toptable_row *x = *(const struct toptable_row *const *)a;
	const struct toptable_row *y = *(const struct toptable_row *const *)b;
	const struct toptable *table = ctx;
	int sign = table->reverse ? -1 : 1;
	int by_pid = (x->pid > y->pid) - (x->pid < y->pid);

	if (table->sort == TOPTABLE_PID)
		return sign * by_pid;
	if (table->sort == TOPTABLE_COMMAND) {
		int by_name = strcmp(x->name, y->name);

		return by_name ? sign * by_name : by_pid;
	}
	double m = value(x, table->sort), n = value(y, table->sort);

	return m != n ? sign * (m < n ? 1 : -1) : by_pid;
}

static bool passes(const struct toptable *table, const struct toptable_row *row)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", row->pid);
	return strstr(row->name, table->filter) || !strcmp(pid, table->filter);
}

void toptable_order(struct toptable *table)
{
	free(table->shown);
	table->shown = mem_zalloc(table->count + 1, sizeof(const struct toptable_row *));
	table->shown_count = 0;
	for (size_t i = 0; i < table->count; i++)
		if (passes(table, &table->rows[i]))
			table->shown[table->shown_count++] = &table->rows[i];
	if (table->shown_count)
		qsort_r(table->shown, table->shown_count, sizeof(const struct toptable_row *),
			compare, table);
}

/* --- text --- */

char *toptable_title(const struct toptable *table)
{
	uint64_t goroutines = 0;
	double cpu = 0;

	for (size_t i = 0; i < table->shown_count; i++) {
		double of = value(table->shown[i], TOPTABLE_CPU);

		goroutines += table->shown[i]->now.all[STATS_GOROUTINES].n;
		cpu += of > 0 ? of : 0;
	}
	return mem_printf("%zu Go program%s, %" PRIu64 " goroutines, %.0f%% CPU, sorted by %s%s",
			  table->shown_count, table->shown_count == 1 ? "" : "s", goroutines,
			  100 * cpu, columns[table->sort].name, table->reverse ? ", reversed" : "");
}

static char *finish(FILE *out, char **text)
{
	fclose(out);
	(*text)[strcspn(*text, "\n")] = '\0';
	return *text;
}

char *toptable_line(const struct toptable_row *row)
{
	const struct stats_subject of = {.pid = row->pid, .name = row->name};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return mem_strdup("");
	stats_print_line(out, &of, &row->now, row->has_before ? &row->before : NULL);
	return finish(out, &text);
}

char *toptable_head(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return mem_strdup("");
	stats_print_head(out);
	return finish(out, &text);
}
