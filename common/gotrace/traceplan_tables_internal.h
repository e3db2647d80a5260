/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of steps for bpf-src/parts/trace_tables.bpf.c, one of each plan that has them. */
#ifndef TRACEPLAN_TABLES_INTERNAL_H
#define TRACEPLAN_TABLES_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

struct tracegen_plan;
struct traceplan_tables;

struct traceplan_tables *traceplan_tables_new(void);
void traceplan_tables_free(struct traceplan_tables *tables); /* NULL is all right */

/* The number of a new table, of a plan's steps. */
uint32_t traceplan_tables_add(struct traceplan_tables *tables, const struct tracegen_plan *plan);
size_t traceplan_tables_count(const struct traceplan_tables *tables);
size_t traceplan_tables_steps(const struct traceplan_tables *tables); /* of all tables */
/* The most steps of one table: those whose results are kept with a call, the others, and those of
 * both that are put off. */
struct traceplan_most {
	uint32_t saved, others, dynamics;
};

struct traceplan_most traceplan_tables_most(const struct traceplan_tables *tables);
/* Fills the maps of these descriptors. -1: errno tells why. */
int traceplan_tables_fill(const struct traceplan_tables *tables, int tables_fd, int steps_fd);

#endif
