// SPDX-License-Identifier: Apache-2.0
#include "collections/assists.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/shortnum.h"
#include "blocked/stacks.h"
#include "bpf-src/shared/gc.h"
#include "collections/collections_print.h"
#include "kernel/bpfmap.h"

struct row {
	struct gc_assist_key key;
	struct gc_assist_sum sum;
};

struct rows {
	struct row *all;
	size_t count, cap;
};

static int add(const void *key, const void *value, void *arg)
{
	struct rows *rows = arg;

	rows->all = mem_grow(rows->all, rows->count, &rows->cap, sizeof(*rows->all));
	struct row *row = &rows->all[rows->count++];

	memcpy(&row->key, key, sizeof(row->key));
	memcpy(&row->sum, value, sizeof(row->sum));
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->sum.total_ns < y->sum.total_ns) - (x->sum.total_ns > y->sum.total_ns);
}

static int read_rows(int map, struct rows *rows, struct errmsg *err)
{
	if (bpfmap_each(map, sizeof(struct gc_assist_key), sizeof(struct gc_assist_sum), add,
			rows)) {
		free(rows->all);
		*rows = (struct rows){0};
		errmsg_set(err, "cannot read the assists: %s", strerror(errno));
		return -1;
	}
	if (rows->count)
		qsort(rows->all, rows->count, sizeof(*rows->all), by_time);
	return 0;
}

/* What there are tables of, and what they count */
static const struct kind {
	uint32_t func; /* enum gc_func */
	const char *head, *type, *counted;
} kinds[] = {
	{GC_FUNC_ASSIST, "ASSISTS", "assist", "assists"},
	{GC_FUNC_SWEEP, "SPANS", "sweep_assist", "spans"},
};

enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static uint64_t bias_of(const struct row *row, const uint64_t *entries)
{
	return row->key.probe - entries[row->key.func];
}

static void print_table(const struct collections_view *view, const struct rows *rows,
			const struct kind *kind, const uint64_t *entries)
{
	printf("\n    PID %8s    TOTAL      MAX\n", kind->head);
	for (size_t i = 0; i < rows->count; i++) {
		const struct row *row = &rows->all[i];
		char total[SHORTNUM], max[SHORTNUM];

		if (row->key.func != kind->func)
			continue;
		printf("%7u %8llu %8s %8s\n", row->key.pid, row->sum.assists,
		       shortnum_ns(total, (double)row->sum.total_ns),
		       shortnum_ns(max, (double)row->sum.max_ns));
		stacks_print(view->stacks, row->key.stack, bias_of(row, entries), stdout);
	}
}

int assists_print(const struct collections_view *view, int map, const uint64_t *entries,
		  struct errmsg *err)
{
	struct rows rows = {0};

	if (read_rows(map, &rows, err))
		return -1;
	for (size_t k = 0; k < KINDS; k++)
		print_table(view, &rows, &kinds[k], entries);
	free(rows.all);
	return 0;
}

static void print_json(const struct collections_view *view, const struct row *row,
		       const struct kind *kind, const uint64_t *entries)
{
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", kind->type);
	if (view->time)
		view->time(&json);
	json_member_u64(&json, "pid", row->key.pid);
	json_member_u64(&json, kind->counted, row->sum.assists);
	json_member_u64(&json, "total_ns", row->sum.total_ns);
	json_member_u64(&json, "max_ns", row->sum.max_ns);
	json_key(&json, "stack");
	stacks_json(view->stacks, row->key.stack, bias_of(row, entries), &json);
	json_object_end(&json);
}

int assists_json(const struct collections_view *view, int map, const uint64_t *entries,
		 struct errmsg *err)
{
	struct rows rows = {0};

	if (read_rows(map, &rows, err))
		return -1;
	for (size_t k = 0; k < KINDS; k++)
		for (size_t i = 0; i < rows.count; i++)
			if (rows.all[i].key.func == kinds[k].func)
				print_json(view, &rows.all[i], &kinds[k], entries);
	free(rows.all);
	return 0;
}
