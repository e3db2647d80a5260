// SPDX-License-Identifier: Apache-2.0
#include "program/pcvalue_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "program/pcvalue.h"

enum { NEAR = 32 /* runs at a table's start, which are walked each time: no memory for these */ };

struct run {
	uint32_t end; /* bytes from the function's start on: the first that it does not hold */
	int32_t value;
};

struct table { /* decoded */
	uint32_t off;
	uint32_t count;
	struct run *runs; /* NULL: a free slot */
};

struct pcvalue_index {
	const uint8_t *data;
	size_t len;
	unsigned quantum;
	struct table *tables; /* by a hash of `off`, open addressing */
	size_t count, size;   /* the latter a power of two */
	struct budget budget; /* of runs */
};

struct pcvalue_index *pcvalue_index_new(const uint8_t *data, size_t len, unsigned quantum)
{
	struct pcvalue_index *index = mem_zalloc(1, sizeof(*index));

	*index = (struct pcvalue_index){
		.data = data,
		.len = len,
		.quantum = quantum,
		/* a run takes two bytes of it */
		.budget = budget_new(len, BUDGET_PC_RUNS),
	};
	return index;
}

void pcvalue_index_free(struct pcvalue_index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->size; i++)
		free(index->tables[i].runs);
	free(index->tables);
	free(index);
}

static struct table *slot_of(const struct pcvalue_index *index, uint32_t off)
{
	size_t mask = index->size - 1, at = (off * 0x9e3779b97f4a7c15u >> 32) & mask;

	while (index->tables[at].runs && index->tables[at].off != off)
		at = (at + 1) & mask;
	return &index->tables[at];
}

static void grow(struct pcvalue_index *index)
{
	struct table *old = index->tables;
	size_t old_size = index->size;

	if (index->count < old_size / 2)
		return;
	index->size = old_size ? old_size * 2 : 64;
	index->tables = mem_zalloc(index->size, sizeof(*old));
	for (size_t i = 0; i < old_size; i++)
		if (old[i].runs)
			*slot_of(index, old[i].off) = old[i];
	free(old);
}

/* All that there is up to the end or to what is malformed. */
static void decode(struct pcvalue_index *index, uint32_t off, struct table *table)
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
	*table = (struct table){off, count, runs};
}

static const struct table *table_at(struct pcvalue_index *index, uint32_t off)
{
	struct table *table;

	grow(index);
	table = slot_of(index, off);
	if (table->runs)
		return table;
	decode(index, off, table);
	index->count++;
	return table;
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
