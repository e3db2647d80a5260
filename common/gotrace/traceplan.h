/* SPDX-License-Identifier: Apache-2.0 */
/* All PROBEs of one gotrace. They are parsed, and, once their functions are known, turned into
 * plans: how the BPF program reads arguments, and how events are printed. */
#ifndef TRACEPLAN_H
#define TRACEPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace/tracegen.h"

struct errmsg;
struct funcinfo;
struct roots;
struct tracer;
struct traceplan;

struct traceplan_config {
	const char *tool;    /* its name, for messages */
	char *const *probes; /* as typed */
	size_t probe_count;
	bool regex; /* -r */
	/* for goargdist: a PROBE has EXPRs in place of a format, which become a key, or with
	 * histograms[n] the PROBE's one EXPR a histogram's row; NULL: for gotrace */
	const bool *histograms;
	uint32_t string_max; /* -Z */
	bool user_stack, kernel_stack;
	bool typed;          /* without a format: pointers with their types, or followed */
	bool lists_alike;    /* goargs of a format are printed as without one */
	bool callers;        /* --not-under: stacks, to look at the functions in them */
	uint32_t only_tid;   /* -L; 0: all */
	uint64_t only_goid;  /* -G; 0: all */
	struct roots *roots; /* --follow; NULL: not given */
};

struct traceplan_item { /* what an event of the selection's item of the same number means */
	const struct probespec *spec;
	const struct format *format; /* NULL: none */
	const struct tracegen_arg *args;
	size_t arg_count;
	uint32_t saved_size, record_size; /* bytes */
	uint32_t program;                 /* index in the tracer's */
	uint32_t plan;                    /* its number */
};

/* Parses; the config outlives it. NULL and *err: "PROBE: col N: ...". */
struct traceplan *traceplan_new(const struct traceplan_config *config, struct errmsg *err);
void traceplan_free(struct traceplan *plan); /* NULL is all right */

/* "BINARY:FUNCTION" of each probe, and whether it is of returns: for struct tracer_config. */
char *const *traceplan_patterns(const struct traceplan *plan);
const bool *traceplan_returns(const struct traceplan *plan);

/* tracer_config's `plan` and `loaded`; ctx is the traceplan. Prints warnings on stderr. */
int traceplan_make(void *ctx, struct tracer *tracer, struct errmsg *err);
int traceplan_loaded(void *ctx, struct tracer *tracer, struct errmsg *err);
/* From time to time: passes how far the clocks are apart, which since() needs. */
void traceplan_keep_time(const struct traceplan *plan, const struct tracer *tracer);
/* When all is attached. -1 with *err: not all is that PROBEs rely on. */
int traceplan_attached(const struct traceplan *plan, const struct tracer *tracer,
		       struct errmsg *err);

/* The PROBE that an item of the selection is of. */
const struct probespec *traceplan_spec(const struct traceplan *plan, size_t probe);
struct funcinfo *traceplan_funcinfo(const struct traceplan *plan, size_t program);
/* For -v, on stderr: how arguments are read. */
void traceplan_say_served(const struct traceplan *plan);
/* Functions whose arguments are asked for, but of which only raw words are known. */
size_t traceplan_unknown(const struct traceplan *plan, const char **first);
/* Functions whose results r: asks for, and of which they are not known, though arguments are. */
size_t traceplan_no_results(const struct traceplan *plan, const char **first);
/* Inlined copies whose arguments are asked for, but not one of them is known; NULL: none. */
const char *traceplan_unknown_copy(const struct traceplan *plan);

#endif
