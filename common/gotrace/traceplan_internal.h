/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of traceplan.c. */
#ifndef TRACEPLAN_INTERNAL_H
#define TRACEPLAN_INTERNAL_H

#include "gotrace/traceplan.h"

struct format;
struct gofunc;
struct gotypes;
struct probespec;
struct traceplan_text;

struct traceplan {
	const struct traceplan_config *config;
	struct probespec *specs; /* of each PROBE */
	struct format **formats; /* NULL: none */
	char **patterns;
	bool *returns;
	size_t parsed;
	struct gotypes *memory;
	struct funcinfo **infos;              /* of each of the tracer's programs */
	struct traceplan_contexts **contexts; /* of each of them, too */
	size_t info_count;
	struct traceplan_types *types; /* types that interfaces may hold */
	/* of each of the selection's items: what its events mean, and what the tracer is told */
	struct traceplan_item *items;
	struct tracer_plan *numbers;
	size_t item_count;
	size_t states_end; /* of the items that are traced for `states`, after these */
	struct traceplan_text *text;
	const char *why_no_tables; /* of many plans; NULL: tables can serve */
	uint32_t saved_max;
	uint32_t dynamic_max; /* bytes of a string in an interface */
	bool lacks_room;      /* some record lacks room, however short strings are */
	uint32_t record_max;
	unsigned uses;      /* enum tracegen_uses, of any item */
	const char *states; /* the first variable of a state's time, in any PROBE; NULL: none */
	size_t unknown, no_results; /* functions: nothing is known; of r:, results are not */
	const char *first_unknown, *first_no_results, *unknown_copy;
	char **warnings; /* each once */
	size_t warning_count, warning_cap;
	bool known_copy; /* of some copy some arguments are known */
};

/* Plans the n-th item of the tracer's selection. -1 with *err: it lacks what its PROBE asks for. */
int traceplan_plan_item(struct traceplan *plan, struct tracer *tracer, size_t n, bool several,
			struct errmsg *err);
/* Does the PROBE ask for errors, and does the function only hand out the one within another, though
 * the PROBE does not name it? */
bool traceplan_unwraps(const struct probespec *spec, const char *name, const struct gofunc *sig);
/* For struct tracegen_probe; ctx is the traceplan. */
void traceplan_warn(void *ctx, const char *warning);
void traceplan_free_warnings(struct traceplan *plan);
/* Prints them on stderr, a line each: what PROBEs say that was probably not meant. */
void traceplan_say_warnings(const struct traceplan *plan);
/* Prints that compiling takes long, if it does. */
void traceplan_say_compiling(const struct traceplan *plan);

/* When all is planned: defines what the kernel side is compiled with. */
void traceplan_define(const struct traceplan *plan, struct tracer *tracer);

/* When that is done: has the scheduler's functions traced too, which change goroutines' states.
 * -1 with *err: not all changes could be seen. */
int traceplan_add_states(struct traceplan *plan, struct tracer *tracer, struct errmsg *err);
/* Then, and whenever the PROBEs are served by other parts: gives these functions a part. */
void traceplan_serve_states(struct traceplan *plan, struct tracer *tracer);

/* NULL: no such item */
const struct traceplan_item *traceplan_item(const struct traceplan *plan, size_t item);
/* What an event of a program calls `rtype`; NULL: unknown. */
const struct gotype *traceplan_rtype(const struct traceplan *plan, size_t program, uint64_t rtype,
				     bool *direct);
struct shape_limits traceplan_limits(const struct traceplan *plan);

/* Bytes of the largest record. */
uint32_t traceplan_record_max(const struct traceplan *plan);

#endif
