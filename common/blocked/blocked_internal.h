/* SPDX-License-Identifier: Apache-2.0 */
/* blocked.c runs, blocked_show.c shows a row, blocked_open.c has the waits that have not ended,
 * blocked_since.c what is new. */
#ifndef BLOCKED_INTERNAL_H
#define BLOCKED_INTERNAL_H

#include <stddef.h>
#include <sys/types.h>

#include "goroutines/runtime_vars.h"
#include "blocked/blocked.h"

struct blocked_open {                    /* waits that have not ended, which are in no sum */
	uint64_t waiting, process_ended; /* how many go on, and did until their process ended */
	uint64_t ns;                     /* how long until then, or until tracing ended */
};

struct blocked_row {
	struct wait_key key;
	struct wait_sum sum;
	struct blocked_open open;
	uint64_t stack_shown, waker_shown; /* by stacks_shown() */
};

struct blocked {
	const struct blocked_tool *tool;
	const struct blocked_beside *beside; /* NULL: nothing */
	const struct options *opts;
	const struct toolrun *run;
	const char *state; /* NULL: every one */
	uint64_t min_ns, max_ns;
	uint64_t reasons_wanted; /* a mask */
	bool folded;
	const struct tracer *tracer;
	int sums, waits, control, losses; /* maps ... */
	int label_sets;                   /* ...; -1: labels are not asked for */
	int parked; /* ... of waits that had begun before tracing did; -1: they do not count */
	struct processes *procs;
	char *reasons[WAIT_REASONS];
	struct stacks *stacks;
	struct blocked_row *rows;
	size_t row_count, row_cap;
	struct blocked_row *ended; /* waits of processes that have ended */
	size_t ended_count, ended_cap;
	struct blocked_open open; /* in all */
	uint64_t stopped_ns;      /* or until when it is shown */
	/* with intervals: what has been shown of each key, in order */
	struct blocked_row *before;
	size_t before_count;
	int memory; /* of the process, where its goroutines tell only later what they wait for; -1
		     */
	uint64_t reason_at; /* byte offset in Go's struct g */
	char *comm;         /* of the process shown last */
	pid_t comm_pid;
};

/* "chan receive"; of a number that the program has no words for, the number. Caller frees. */
char *blocked_reason(const struct blocked *blocked, uint32_t reason);
void blocked_add_row(struct blocked *blocked, struct blocked_row *row);
/* Counts the waits of processes that have ended. */
void blocked_sweep(struct blocked *blocked);
/* After all rows: leaves in them, as sums, what has come since this was called before. */
void blocked_since(struct blocked *blocked);
/* After the last sweep: adds rows of all waits that have not ended. 0, or -1 with errno. */
int blocked_add_open(struct blocked *blocked);
/* Of the process: to be opened before waits are seen. The second notes those of its goroutines that
 * wait already: they do so from `since_ns` on. Says what is missing. */
struct blocked_before *blocked_before_new(const struct blocked *blocked);
void blocked_before_note(struct blocked_before *before, uint64_t since_ns);
void blocked_before_free(struct blocked_before *before);
void blocked_open_add(struct blocked_open *to, const struct blocked_open *more);
/* After all rows: how many waits are in no sum, as they have not ended. */
void blocked_put_rest(const struct blocked *blocked);
void blocked_put(struct blocked *blocked, const struct blocked_row *row);

#endif
