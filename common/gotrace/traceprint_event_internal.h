/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of one event, and how each is printed: what the modules traceprint* share. */
#ifndef TRACEPRINT_EVENT_INTERNAL_H
#define TRACEPRINT_EVENT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "program/gostack.h"
#include "values/format.h"
#include "gotrace/traceplan_internal.h"

struct functab;
struct trace_event;
struct traceplan;
struct traceplan_item;
struct traceprint_reader;
struct tracer;

struct traceprint_event {
	const struct trace_event *head;
	const struct traceplan_item *item;
	/* the name of the row; as text shows it; the file of a line, NULL: it is a call */
	const char *func, *shown, *file;
	bool columns; /* the format makes those of a header */
	char comm[17];
	const uint8_t *record;
	uint32_t record_len, row, line;              /* row: of the selection; line: of the file */
	const uint64_t *user_frames, *kernel_frames; /* as many as the head says */
	const struct trace_stack *user_stack;        /* gccgo: instead of the frames; or NULL */
};

/* `no_addresses`: as struct value_source has it */
struct traceprint_reader *traceprint_reader_new(const struct traceplan *plan,
						const struct tracer *tracer, bool no_addresses);
void traceprint_reader_free(struct traceprint_reader *reader);

/* False: the event is malformed. *out points into data. */
bool traceprint_read(const struct traceprint_reader *reader, const void *data, size_t len,
		     struct traceprint_event *out);

struct traceprint_lookup { /* what values are looked up with */
	const struct traceplan *plan;
	size_t program;
	const struct functab *tab;
};

/* Fills *lookup, which must live as long as the source. */
struct value_source traceprint_source(struct traceprint_reader *reader,
				      const struct traceprint_event *event,
				      struct traceprint_lookup *lookup);
/* As many as the item has; free with traceprint_free_args(). */
struct format_arg *traceprint_args(const struct traceprint_event *event);
void traceprint_free_args(struct format_arg *args, size_t count);
/* The event's user stack, valid until the next one is asked for. */
struct gostack traceprint_stack(struct traceprint_reader *reader,
				const struct traceprint_event *event);
struct gostack_symbols *traceprint_symbols(struct traceprint_reader *reader,
					   const struct traceprint_event *event);

void traceprint_message(FILE *out, struct traceprint_reader *reader,
			const struct traceprint_event *event);
/* no_runtime: as struct gostack has it */
void traceprint_user_stack(FILE *out, struct traceprint_reader *reader,
			   const struct traceprint_event *event, bool addresses, bool no_runtime);
struct traceprint_frame {
	uint64_t addr, off;        /* addr: in the kernel; off: bytes from the symbol */
	const char *name, *module; /* NULL: no symbol; "": the kernel itself */
};
struct traceprint_frame traceprint_kernel_frame(struct traceprint_reader *reader,
						const struct traceprint_event *event, uint32_t n);
void traceprint_kernel_stack(FILE *out, struct traceprint_reader *reader,
			     const struct traceprint_event *event, bool addresses);
/* Prints the event as a line of JSON on stdout. */
void traceprint_json(struct traceprint_reader *reader, const struct traceprint_event *event,
		     const char *message, uint64_t unix_ns);

#endif
