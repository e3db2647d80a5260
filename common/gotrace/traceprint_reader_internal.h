/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept while events are printed. */
#ifndef TRACEPRINT_READER_INTERNAL_H
#define TRACEPRINT_READER_INTERNAL_H

#include "bpf-src/shared/trace.h"
#include "gotrace/traceprint_event_internal.h"
#include "program/gostack.h"

struct json;
struct kallsyms;
struct profile;

struct traceprint_reader {
	const struct traceplan *plan;
	const struct tracer *tracer;
	struct gostack_symbols **symbols; /* of each program */
	size_t symbol_count;
	struct kallsyms *kernel; /* NULL: none */
	bool kernel_tried;
	bool no_addresses;
	/* gccgo: the frames of the last stack that was asked for */
	uint64_t frames[TRACE_FRAMES];
	struct gostack_other others[2];
};

/* One more call, where it was made */
void traceprint_profile(struct traceprint_reader *reader, const struct traceprint_event *event,
			const char *message, struct profile *profile);

/* {"k.Name":"bob","len(s)":3}: each EXPR with its value. */
void traceprint_json_exprs(struct json *json, struct traceprint_reader *reader,
			   const struct traceprint_event *event);

#endif
