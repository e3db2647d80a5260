/* SPDX-License-Identifier: Apache-2.0 */
/* Cancelled contexts, as lines, as JSON, and counted by place. */
#ifndef CANCELS_PRINT_H
#define CANCELS_PRINT_H

#include <stdbool.h>

struct alloc_types;
struct cancellation;
struct json;
struct stacks;
struct tally;

struct cancels_view {
	const struct stacks *stacks;
	struct alloc_types *types;
	bool timestamp; /* the lines begin with the time of day */
	/* of JSON objects: adds the time; NULL: none */
	void (*time)(struct json *json);
};

void cancels_print_head(const struct cancels_view *view);
/* A line, and what is known of the context on lines below it. */
void cancels_print(const struct cancels_view *view, const struct cancellation *of);
void cancels_json(const struct cancels_view *view, const struct cancellation *of);
/* Counts it, by who cancelled it and who created it. */
void cancels_count(const struct cancellation *of, struct tally *tally);
void cancels_print_counts(const struct tally *tally);

#endif
