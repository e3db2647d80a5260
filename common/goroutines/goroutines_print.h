/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot, as text and as JSON. */
#ifndef GOROUTINES_PRINT_H
#define GOROUTINES_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "goroutines/frames.h"
#include "goroutines/snapshot.h"
#include "goroutines/wait_print.h"

struct goroutines_view {
	const struct snapshot *snap;
	const unsigned char *picked; /* which of snap->all are shown */
	const struct frames *frames;
	int pid, release;                 /* release N of Go 1.N; -1: not known */
	const char *name;                 /* of the program */
	bool several;                     /* it is one of several processes, which are told apart */
	const struct wait_context *waits; /* NULL: what they wait for is not told */
};

/* "4711 jobs (go1.27): 14 goroutines: 1 running, 13 waiting" */
void goroutines_print_title(FILE *out, const struct goroutines_view *view);
/* Those with the same state, stack and creator together, the innermost frames of each:
 *     12  chan receive, 2 minutes
 *         main.worker jobs.go:31
 *         created by main.main jobs.go:12
 */
void goroutines_print_groups(FILE *out, const struct goroutines_view *view);
/* Each by itself, as Go's tracebacks show it; with arguments, if the snapshot has any. */
void goroutines_print_each(FILE *out, const struct goroutines_view *view);
/* "outermost;...;innermost;[state] count", of several processes with "jobs-4711;" in front, as
 * flame graphs are made of */
void goroutines_print_folded(FILE *out, const struct goroutines_view *view);
/* {"type":"goroutine","pid":...}, one object a goroutine */
void goroutines_print_json(FILE *out, const struct goroutines_view *view);

#endif
