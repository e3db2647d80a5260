/* SPDX-License-Identifier: Apache-2.0 */
/* All that plans of PROBEs ask of others: functions and what is known of them, the tracer, states,
 * roots and the kernel, who write it down (steps.h). */
#ifndef FAKEPLAN_H
#define FAKEPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "gotrace/traceplan.h"
#include "machine/arch.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "steps.h"
#include "unit.h"

enum { FAKEPLAN_PROGRAMS = 2 };
/* Functions, by their index in the table; COPY and UNKNOWN_COPY are inlined copies. */
enum { F, G, RAW, WORDS, LONG, COPY, UNKNOWN_COPY, UNWRAP, POINTER, MALFORMED };

extern struct fakeplan {
	struct program programs[FAKEPLAN_PROGRAMS];
	struct goruntime runtimes[FAKEPLAN_PROGRAMS];
	size_t program_count;
	struct traceplan_config config;
	enum arch arch;
	bool cmpxchg;
	/* what the tracer calls if the kernel refuses */
	void (*otherwise)(void *ctx, struct tracer *tracer, const struct errmsg *why);
} fakeplan;

/* What is but handed on: others look into none of these. */
#define FAKEPLAN_SOME ((void *)&fakeplan)

int fakeplan_begin(void **state); /* one program of gc, nothing is selected */
/* An item for PROBE number `group` */
struct selection_item *fakeplan_add(uint32_t group, uint32_t func, bool returns);
/* Makes a plan of these PROBEs for the items that were added, and fills the maps: what is asked for
 * and made of it is written down; `said`: on stderr. NULL: a PROBE is refused. */
struct traceplan *fakeplan_make(char *const *probes, size_t count, const char *said);
/* The same, all of it, and begins anew. */
void fakeplan_expect(char *const *probes, size_t count, const char *said, const char *did);

#endif
