/* SPDX-License-Identifier: Apache-2.0 */
/* The types of contexts and of OpenTelemetry's spans in a program, from run-time type information:
 * where each has the next context, or its trace's ID. */
#ifndef TRACEPLAN_CONTEXTS_INTERNAL_H
#define TRACEPLAN_CONTEXTS_INTERNAL_H

#include <stdint.h>

struct funcinfo;
struct program_contexts;
struct traceplan_contexts;

/* Nothing is searched yet. The funcinfo outlives it. */
struct traceplan_contexts *traceplan_contexts_new(struct funcinfo *info);
void traceplan_contexts_free(struct traceplan_contexts *contexts); /* NULL is all right */
/* For struct tracegen_contexts; `ctx` is a struct traceplan_contexts. Searches at first. */
const struct program_contexts *traceplan_contexts_find(void *ctx);
/* Fills map `contexts` (fd) with what was found, if something was asked for; `program` is the
 * number that hits have. */
void traceplan_contexts_fill(const struct traceplan_contexts *contexts, int fd, uint64_t program);

#endif
