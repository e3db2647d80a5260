// SPDX-License-Identifier: Apache-2.0
#include "program/pcvalue_index_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/index.h"
#include "base/mem.h"
#include "program/pcvalue_internal.h"

enum { NEAR = 32 /* runs at a table's start, which are walked each time: no memory for these */ };

struct run {
	uint32_t end; /* bytes from the function's start to the first instruction past the run */
	int32_t value;
};

struct table { /* decoded */
	uint32_t off;
	uint32_t count;
	struct run *runs;
};

struct pcvalue_index {
	const uint8_t *data;
	size_t len;
	unsigned quantum;
	struct table *tables;
	size_t cap;
	struct index by_off;  /* of `tables`, which has by_off.count entries */
	struct budget budget; /* of runs */
};

struct pcvalue_index *pcvalue_index_new(const uint8_t *data, size_t len, unsigned quantum)
{
	struct pcvalue_index *index = mem_zalloc(1, sizeof(*index));

	*index = (struct pcvalue_index){
		.data = data,
		.len = len,
		.quantum = quantum,
		/* a run takes at least two bytes of `data` */
		.budget = budget_new(len, BUDGET_PC_RUNS),
	};
	return index;
}

void pcvalue_index_free(struct pcvalue_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->by_off.count; i++)
		free(index->tables[i].runs);
	free(index->tables);
	index_free(&index->by_off);
	free(index);
}

/* All runs up to the table's end, or to what is malformed. */
static struct table decode_table(struct pcvalue_index *index, uint32_t off)
{
	struct run *runs = NULL;
	size_t count = 0, cap = 0;
	struct pcvalue pcv;

	pcvalue_begin(&pcv, index->data + off, index->len - off, 0, index->quantum);
	runs = mem_grow(runs, count, &cap, sizeof(*runs));
	while (pcvalue_next(&pcv) && pcv.to <= UINT32_MAX && budget_take(&index->budget, 1)) {
		runs = mem_grow(runs, count, &cap, sizeof(*runs));
		runs[count++] = (struct run){pcv.to, pcv.value};
	}
	return (struct table){off, count, runs};
}

static const struct table *table_at(struct pcvalue_index *index, uint32_t off)
{
	uint64_t hash = index_hash(0, off);
	size_t n = index_first(&index->by_off, hash);

	while (n != INDEX_NONE && index->tables[n].off != off)
		n = index_next(&index->by_off, n);
	if (n == INDEX_NONE) {
		n = index_add(&index->by_off, hash);
		index->tables = mem_grow(index->tables, n, &index->cap, sizeof(*index->tables));
		index->tables[n] = decode_table(index, off);
	}
	return &index->tables[n];
}

bool pcvalue_index_at(struct pcvalue_index *index, uint32_t off, uint64_t pc, int32_t *value)
{
	size_t low = 0, high;
	struct pcvalue pcv;

	if (off >= index->len)
		return false;
	pcvalue_begin(&pcv, index->data + off, index->len - off, 0, index->quantum);
	for (unsigned i = 0; i < NEAR; i++) {
		if (!pcvalue_next(&pcv))
			return false;
		*value = pcv.value;
		if (pc < pcv.to)
			return true;
	}

	const struct table *table = table_at(index, off);

	for (high = table->count; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (table->runs[mid].end <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == table->count)
		return false;
	*value = table->runs[low].value;
	return true;
}
