/* SPDX-License-Identifier: Apache-2.0 */
/* The generated part of gotrace.bpf.c: the functions of each plan, and those that choose among
 * them. Traced functions that need the same code share a plan. */
#ifndef TRACEPLAN_TEXT_INTERNAL_H
#define TRACEPLAN_TEXT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct traceplan_tables;
struct traceplan_text;
struct tracegen_plan;

struct traceplan_text *traceplan_text_new(void);
void traceplan_text_free(struct traceplan_text *text); /* NULL is all right */

/* The number of a plan with these bodies, which are copied. */
uint32_t traceplan_text_add(struct traceplan_text *text, const struct tracegen_plan *plan,
			    bool at_return);
size_t traceplan_text_tabular(const struct traceplan_text *text); /* those that have steps */
/* When all are added: those that have steps are served by tables or, as the others are, by
 * generated code. The functions below tell of what was decided last. */
void traceplan_text_serve(struct traceplan_text *text, bool by_tables);
/* How a plan is served: under which number, by which part (plans too large for one BPF program are
 * divided into parts), and by which table. ends_apart: where calls end, the part before does. */
struct traceplan_served {
	uint32_t number, part, table;
	bool ends_apart;
};
struct traceplan_served traceplan_text_served(const struct traceplan_text *text, uint32_t plan);
uint32_t traceplan_text_parts(const struct traceplan_text *text);
/* The parts that read by tables, each in one place, or the verifier would follow too much. Those
 * that there are not are TRACEPLAN_NO_PART. */
#define TRACEPLAN_NO_PART UINT32_MAX
struct traceplan_table_parts {
	uint32_t entries, begins, ends; /* of PROBEs without r:, and of the others */
};
/* NULL: no plan is served by a table. */
const struct traceplan_tables *traceplan_text_tables(const struct traceplan_text *text,
						     struct traceplan_table_parts *parts);
size_t traceplan_text_count(const struct traceplan_text *text);
size_t traceplan_text_compiled(const struct traceplan_text *text); /* plans by code alone */
bool traceplan_text_uses_types(const struct traceplan_text *text); /* reads interfaces */
/* The text for each of gotrace.bpf.c's two marks; caller frees. */
char *traceplan_text_plans(const struct traceplan_text *text);
char *traceplan_text_programs(const struct traceplan_text *text);

#endif
