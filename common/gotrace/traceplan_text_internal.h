/* SPDX-License-Identifier: Apache-2.0 */
/* The generated part of gotrace.bpf.c: the functions of each plan, and those that choose among
 * them. Traced functions that need the same code share a plan. */
#ifndef TRACEPLAN_TEXT_INTERNAL_H
#define TRACEPLAN_TEXT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct traceplan_text;
struct tracegen_plan;

struct traceplan_text *traceplan_text_new(void);
void traceplan_text_free(struct traceplan_text *text); /* NULL is all right */

/* The number of a plan with these bodies, which are copied. */
uint32_t traceplan_text_add(struct traceplan_text *text, const struct tracegen_plan *plan,
			    bool at_return);
/* Plans too large for one BPF program are divided into parts: a plan's part, and the number of
 * parts. */
uint32_t traceplan_text_part(const struct traceplan_text *text, uint32_t plan);
uint32_t traceplan_text_parts(const struct traceplan_text *text);
size_t traceplan_text_count(const struct traceplan_text *text);
bool traceplan_text_uses_types(const struct traceplan_text *text); /* reads interfaces */
/* The text for each of gotrace.bpf.c's two marks; caller frees. */
char *traceplan_text_plans(const struct traceplan_text *text);
char *traceplan_text_programs(const struct traceplan_text *text);

#endif
