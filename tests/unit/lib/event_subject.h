/* SPDX-License-Identifier: Apache-2.0 */
/* An event of a PROBE of the program of gofile.h, made of bytes, and what prints it: for tests. */
#ifndef EVENT_SUBJECT_H
#define EVENT_SUBJECT_H

#include "bpf-src/shared/trace.h"
#include "gofile_open.h"
#include "gotrace/traceplan_internal.h"
#include "gotrace/traceprint.h"
#include "program/program.h"
#include "tracing/tracer_state_internal.h"

enum { WORDS = 12, FRAMES = 2 * TRACE_FRAMES };

struct event_subject {
	struct opened o;
	struct program prog, *programs[1];
	struct goruntime runtime;
	struct tracer_config tracer_config;
	struct tracer tracer;
	char *probes[1];
	struct traceplan_config plan_config;
	struct traceplan *plan;
	struct traceprint *print;
	struct {
		struct trace_event head;
		uint64_t words[WORDS + FRAMES];
	} event;
	size_t len;
};

void event_make(struct event_subject *s, const char *probe, const struct traceprint_config *config);
/* The same of a main.a whose arguments and results take so many bytes, not 16 */
void event_make_sized(struct event_subject *s, uint32_t args, const char *probe,
		      const struct traceprint_config *config);
void event_drop(struct event_subject *s);
/* What stdout gets of it; the caller frees. */
char *event_print(struct event_subject *s, bool *more);

#endif
