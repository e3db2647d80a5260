/* SPDX-License-Identifier: Apache-2.0 */
/* All PROBEs of one gotrace: parsed, and once their functions are known, turned into plans for the
 * kernel side and into what is needed to print their events. */
#ifndef TRACEPLAN_H
#define TRACEPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/tracegen.h"

struct errmsg;
struct funcinfo;
struct tracer;
struct traceplan;

struct traceplan_config {
	char *const *probes; /* as typed */
	size_t probe_count;
	bool regex;          /* -r */
	uint32_t string_max; /* -Z */
	bool user_stack, kernel_stack;
	bool callers;       /* --not-under: stacks, to look at the functions in them */
	uint32_t only_tid;  /* -L; 0: all */
	uint64_t only_goid; /* -G; 0: all */
};

struct traceplan_item { /* what an event of the selection's item of the same number means */
	const struct probespec *spec;
	const struct format *format; /* NULL: none */
	const struct tracegen_arg *args;
	size_t arg_count;
	uint32_t saved_size, record_size; /* bytes */
	uint32_t program;                 /* index in the tracer's */
};

/* Parses; the config outlives it. NULL and *err: "PROBE: col N: ...". */
struct traceplan *traceplan_new(const struct traceplan_config *config, struct errmsg *err);
void traceplan_free(struct traceplan *plan); /* NULL is all right */

/* "BINARY:FUNCTION" of each probe, and whether it is of returns: for struct tracer_config. */
char *const *traceplan_patterns(const struct traceplan *plan);
const bool *traceplan_returns(const struct traceplan *plan);

/* Can what is asked for be had of these runtimes? -1 and *err: no. */
int traceplan_check_runtimes(const struct traceplan_config *config, struct tracer *tracer,
			     struct errmsg *err);

/* tracer_config's `plan` and `loaded`; ctx is the traceplan. */
int traceplan_make(void *ctx, struct tracer *tracer, struct errmsg *err);
int traceplan_loaded(void *ctx, struct tracer *tracer, struct errmsg *err);

/* Into how many kinds functions fall: each is compiled of its own. */
size_t traceplan_kinds(const struct traceplan *plan);
/* NULL: no such item */
const struct traceplan_item *traceplan_item(const struct traceplan *plan, size_t item);
struct funcinfo *traceplan_funcinfo(const struct traceplan *plan, size_t program);
/* What an event of a program calls `rtype`; NULL: unknown. */
const struct gotype *traceplan_rtype(const struct traceplan *plan, size_t program, uint64_t rtype,
				     bool *direct);
struct shape_limits traceplan_limits(const struct traceplan *plan);
/* On stderr, a line each: what PROBEs say that was probably not meant. */
void traceplan_say_warnings(const struct traceplan *plan, const char *tool);
/* Functions of which nothing is known but raw words, though their arguments are asked for. */
size_t traceplan_unknown(const struct traceplan *plan, const char **first);
/* Inlined copies whose arguments are asked for, though not one of them is there; NULL: none. */
const char *traceplan_unknown_copy(const struct traceplan *plan);

#endif
