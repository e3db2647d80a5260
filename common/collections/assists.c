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

int assists_print(const struct collections_view *view, int map, uint64_t entry, struct errmsg *err)
{
	struct rows rows = {0};

	if (read_rows(map, &rows, err))
		return -1;
	puts("\n    PID  ASSISTS    TOTAL      MAX");
	for (size_t i = 0; i < rows.count; i++) {
		const struct row *row = &rows.all[i];
		char total[SHORTNUM], max[SHORTNUM];

		printf("%7u %8llu %8s %8s\n", row->key.pid, row->sum.assists,
		       shortnum_ns(total, (double)row->sum.total_ns),
		       shortnum_ns(max, (double)row->sum.max_ns));
		stacks_print(view->stacks, row->key.stack, row->key.probe - entry, stdout);
	}
	free(rows.all);
	return 0;
}

int assists_json(const struct collections_view *view, int map, uint64_t entry, struct errmsg *err)
{
	struct rows rows = {0};
	struct json json;

	if (read_rows(map, &rows, err))
		return -1;
	for (size_t i = 0; i < rows.count; i++) {
		const struct row *row = &rows.all[i];

		json_init(&json, stdout);
		json_object(&json);
		json_member_string(&json, "type", "assist");
		if (view->time)
			view->time(&json);
		json_member_u64(&json, "pid", row->key.pid);
		json_member_u64(&json, "assists", row->sum.assists);
		json_member_u64(&json, "total_ns", row->sum.total_ns);
		json_member_u64(&json, "max_ns", row->sum.max_ns);
		json_key(&json, "stack");
		stacks_json(view->stacks, row->key.stack, row->key.probe - entry, &json);
		json_object_end(&json);
	}
	free(rows.all);
	return 0;
}
