/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of gotop: a Go program each, sorted by a column, and those alone whose name has a text.
 */
#ifndef TOPTABLE_H
#define TOPTABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "gostat/stats.h"

enum toptable_column { /* as stats_print_head() has them */
		       TOPTABLE_PID,
		       TOPTABLE_COMMAND,
		       TOPTABLE_GORS,
		       TOPTABLE_RUN,
		       TOPTABLE_RUNQ,
		       TOPTABLE_THR,
		       TOPTABLE_HEAP,
		       TOPTABLE_GOAL,
		       TOPTABLE_ALLOC,
		       TOPTABLE_GC,
		       TOPTABLE_PAUSE,
		       TOPTABLE_RSS,
		       TOPTABLE_CPU,
		       TOPTABLE_COLUMNS
};

struct toptable_row {
	int pid;
	char name[64];
	struct stats now, before;
	bool has_before;
};

struct toptable {
	enum toptable_column sort; /* most first; names and PIDs: least first */
	bool reverse;
	char filter[32]; /* part of the name, or the PID; "": all */
	struct toptable_row *rows;
	size_t count, cap;
	const struct toptable_row **shown; /* by toptable_order() */
	size_t shown_count;
};

void toptable_free(struct toptable *table); /* what it points to */
/* What was found now of this process. */
void toptable_put(struct toptable *table, int pid, const char *name, const struct stats *now);
void toptable_remove(struct toptable *table, int pid);
/* Rows in their order; after each change, and before `shown` is read. */
void toptable_order(struct toptable *table);

#endif
