// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceplan_tables_internal.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bpf-src/shared/trace_step.h"
#include "gotrace/tracegen.h"
#include "kernel/bpfmap.h"

struct traceplan_tables {
	struct trace_table *tables;
	size_t count, cap;
	struct trace_step *steps;
	size_t step_count, step_cap;
};

struct traceplan_tables *traceplan_tables_new(void)
{
	return mem_zalloc(1, sizeof(struct traceplan_tables));
}

void traceplan_tables_free(struct traceplan_tables *tables)
{
	if (!tables)
		return;
	free(tables->tables);
	free(tables->steps);
	free(tables);
}

uint32_t traceplan_tables_add(struct traceplan_tables *tables, const struct tracegen_plan *plan)
{
	struct trace_table table = {.record_size = plan->record_size,
				    .saved_size = plan->saved_size,
				    .first = tables->step_count,
				    .saved = plan->save_step_count,
				    .count = plan->step_count - plan->save_step_count};

	for (size_t i = 0; i < plan->step_count; i++) {
		tables->steps = mem_grow(tables->steps, tables->step_count, &tables->step_cap,
					 sizeof(*tables->steps));
		tables->steps[tables->step_count++] = plan->steps[i];
	}
	tables->tables =
		mem_grow(tables->tables, tables->count, &tables->cap, sizeof(*tables->tables));
	tables->tables[tables->count] = table;
	return tables->count++;
}

size_t traceplan_tables_count(const struct traceplan_tables *tables)
{
	return tables->count;
}

size_t traceplan_tables_steps(const struct traceplan_tables *tables)
{
	return tables->step_count;
}

static uint32_t dynamics_of(const struct traceplan_tables *tables, const struct trace_table *table)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < table->saved + table->count; i++)
		count += tables->steps[table->first + i].what == TRACE_STEP_DYNAMIC;
	return count;
}

static void at_least(uint32_t *most, uint32_t count)
{
	if (*most < count)
		*most = count;
}

struct traceplan_most traceplan_tables_most(const struct traceplan_tables *tables)
{
	struct traceplan_most most = {0};

	for (size_t i = 0; i < tables->count; i++) {
		const struct trace_table *table = &tables->tables[i];

		at_least(&most.saved, table->saved);
		at_least(&most.others, table->count);
		at_least(&most.dynamics, dynamics_of(tables, table));
	}
	return most;
}

int traceplan_tables_fill(const struct traceplan_tables *tables, int tables_fd, int steps_fd)
{
	for (uint32_t i = 0; i < tables->count; i++)
		if (bpfmap_update(tables_fd, &i, &tables->tables[i]))
			return -1;
	for (uint32_t i = 0; i < tables->step_count; i++)
		if (bpfmap_update(steps_fd, &i, &tables->steps[i]))
			return -1;
	return 0;
}
