/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot, as text and as JSON. */
#ifndef GOSTACKS_PRINT_H
#define GOSTACKS_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "frames/frames.h"
#include "goroutines/snapshot.h"
#include "gostacks/wait_print.h"

struct profile_spec;

struct goroutines_view {
	const struct snapshot *snap;
	const unsigned char *picked; /* which of snap->all are shown */
	const struct frames *frames;
	int pid, release;                 /* release N of Go 1.N; -1: not known */
	const char *name;                 /* of the program */
	bool several;                     /* it is one of several processes, which are told apart */
	bool has_labels;                  /* they are known of its release */
	bool shows_labels;                /* as its own tracebacks do */
	const struct wait_context *waits; /* NULL: what they wait for is not shown */
};

/* "4711 jobs (go1.27): 14 goroutines: 1 running, 13 waiting" */
void goroutines_print_title(FILE *out, const struct goroutines_view *view);
/* What is not shown of it, on stderr; `more`: goroutines beside those that it has left out. */
void goroutines_print_left_out(const struct snapshot *snap, size_t more, const char *tool);
/* "gostacks: process 4711 was stopped for 1.234 ms" */
void goroutines_print_stopped(FILE *out, const char *tool, int pid, uint64_t ns);
/* Goroutines by stack, for --pprof */
extern const struct profile_spec goroutines_profile_spec;

#endif
