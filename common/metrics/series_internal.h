/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions have metrics of their own. Whoever stores metrics pays for each set of labels, so
 * their number is bounded: functions beyond it are added up, for each binary, as func="other".
 * A function keeps its place once it has one, so that no counter ever goes back. */
#ifndef SERIES_INTERNAL_H
#define SERIES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "metrics/reading.h"

struct series { /* a set of labels */
	char *labels;
	struct reading now;
};

struct series_table;

/* Adds what is known of a row to *sum. */
typedef void series_add_fn(void *ctx, size_t row, struct reading *sum);

struct series_table *series_new(size_t max);
void series_free(struct series_table *table); /* NULL is all right */

/* A row that is read; the names outlive the table. */
void series_add_row(struct series_table *table, size_t row, const char *func, const char *binary);
/* Reads all rows. If the table has room for all, each function has its place at once, so that its
 * counters begin at 0. Otherwise places go to those that are called, as they are: where more are
 * new than there is room for, to those called most. */
void series_update(struct series_table *table, series_add_fn *add, void *ctx);
bool series_overflowed(const struct series_table *table); /* something is in func="other" */
/* The n-th, NULL behind the last. */
const struct series *series_at(const struct series_table *table, size_t n);

#endif
