/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of allocations as text, as folded stacks and as JSON. */
#ifndef HEAP_PRINT_INTERNAL_H
#define HEAP_PRINT_INTERNAL_H

#include <stdio.h>

#include "heap/heap_internal.h"
#include "heap/heap_look.h"

struct heap_stacks;

struct heap_row {                            /* of a stack; all zero: there is nothing of it */
	struct heap_count in_use, allocated; /* scaled */
	struct heap_count sampled_in_use, sampled_allocated;
	bool picked;
};

struct heap_table {
	struct heap_row *rows; /* by the stack's number */
	size_t count, cap;
	struct heap_row total, picked;
	struct heap heap; /* its buckets are gone by the time of the next look */
};

struct heap_view {
	const struct heap_look *look;
	const struct heap_subject *of;
	const struct heap_stacks *stacks;
	const struct heap_table *now, *before; /* NULL: there is none */
};

void heap_print_head(FILE *out, const struct heap_view *view);
void heap_print_table(FILE *out, const struct heap_view *view);
void heap_print_changes(FILE *out, const struct heap_view *view);
void heap_print_folded(FILE *out, const struct heap_view *view);
void heap_print_json(FILE *out, const struct heap_view *view);
/* How many rows these show, but for heap_print_changes(). */
size_t heap_print_count(const struct heap_view *view);

#endif
