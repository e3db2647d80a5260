/* SPDX-License-Identifier: Apache-2.0 */
/* gotrace's events as lines:
 *   PID     TID     GOID    COMM            FUNC             -
 *   16061   16063   1       functions       main.add         42 13
 * or as JSON. */
#ifndef TRACEPRINT_H
#define TRACEPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;
struct profile_spec;
struct traceplan;
struct traceprint;
struct tracer;

struct traceprint_config {
	bool time;           /* -T: hours, minutes, seconds */
	bool timestamp;      /* -t: seconds since the start; with `unix_time` since 1970 */
	bool unix_time;      /* -u */
	bool cpu;            /* -C */
	bool roots;          /* --follow: below which call of ROOT */
	const char *comm;    /* -n: only where the command's name holds it; NULL: all */
	const char *message; /* -f: the same of the message */
	/* --not-under: only where the stack has none of these functions; ends with NULL; NULL: all
	 */
	const char *const *not_under;
	bool user_stack, kernel_stack;
	bool addresses;    /* -a: in stacks */
	bool no_runtime;   /* --no-runtime: user stacks without frames of package runtime */
	bool full_names;   /* --full-names: FUNC with the package's path */
	bool by_func;      /* --by-func: those of a function together, with their sum */
	bool aggregate;    /* -A: each distinct line once, with its count, at the end */
	bool fold_numbers; /* --fold-numbers: with -A, lines that differ by numbers are one */
	bool origins; /* --origins: with -A, an error that a caller passes on is counted once */
	size_t top;   /* --top: with -A, as many lines at most; 0: all */
	bool json;
	const char *header;      /* --header: messages alone, under this (if any); NULL: columns */
	uint64_t max;            /* -M; 0: no end */
	struct profile *profile; /* --pprof; NULL: none */
};

extern const struct profile_spec traceprint_profile_spec;

/* All three outlive it. */
struct traceprint *traceprint_new(const struct traceprint_config *config,
				  const struct traceplan *plan, const struct tracer *tracer);
void traceprint_free(struct traceprint *print); /* NULL is all right */

/* Was -K asked for, and has the kernel never had a stack to show? */
bool traceprint_lacks_kernel(const struct traceprint *print);

void traceprint_header(const struct traceprint *print);
/* An event of the ring buffer; for events_new(). False: that was the last that is wanted, or it
 * could not be written. */
bool traceprint_event(const void *data, size_t len, void *print);
/* What -A has gathered since the last time. */
void traceprint_aggregated(struct traceprint *print);

#endif
