/* SPDX-License-Identifier: Apache-2.0 */
/* blocked.c runs, blocked_show.c shows a row. */
#ifndef BLOCKED_PARTS_H
#define BLOCKED_PARTS_H

#include <stddef.h>
#include <sys/types.h>

#include "goroutines/runtime_vars.h"
#include "tracing/blocked.h"

struct blocked_row {
	struct wait_key key;
	struct wait_sum sum;
	uint64_t stack_shown, waker_shown; /* by stacks_shown() */
};

struct blocked {
	const struct blocked_tool *tool;
	const struct options *opts;
	const char *state; /* NULL: every one */
	uint64_t min_ns, max_ns;
	bool folded;
	const struct tracer *tracer;
	int sums, waits, control, losses; /* maps */
	struct processes *procs;
	char *reasons[WAIT_REASONS];
	struct stacks *stacks;
	struct blocked_row *rows;
	size_t row_count, row_cap;
	char *comm; /* of the process shown last */
	pid_t comm_pid;
};

/* "chan receive"; of a number that the program has no words for, the number. Caller frees. */
char *blocked_reason(const struct blocked *blocked, uint32_t reason);
void blocked_put(struct blocked *blocked, const struct blocked_row *row);

#endif
