// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceprint_reader_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/funcinfo.h"
#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/traceplan_internal.h"
#include "kernel/kallsyms.h"
#include "program/gostack.h"
#include "program/functab.h"
#include "program/program.h"
#include "rtti/rtti.h"
#include "tracing/tracer.h"
#include "sites/goruntime.h"

struct traceprint_reader *traceprint_reader_new(const struct traceplan *plan,
						const struct tracer *tracer, bool no_addresses)
{
	struct traceprint_reader *reader = mem_zalloc(1, sizeof(*reader));

	reader->no_addresses = no_addresses;
	reader->plan = plan;
	reader->tracer = tracer;
	reader->symbol_count = tracer_program_count(tracer);
	reader->symbols =
		mem_zalloc(tracer_program_count(tracer), sizeof(struct gostack_symbols *));
	return reader;
}

void traceprint_reader_free(struct traceprint_reader *reader)
{
	for (size_t i = 0; i < reader->symbol_count; i++)
		gostack_symbols_free(reader->symbols[i]);
	free(reader->symbols);
	kallsyms_close(reader->kernel);
	free(reader);
}

/* A call that did not return has only what was kept of it at entry, and no stack. */
bool traceprint_read(const struct traceprint_reader *reader, const void *data, size_t len,
		     struct traceprint_event *out)
{
	const struct trace_event *head = data;

	*out = (struct traceprint_event){.head = head};
	if (len < sizeof(*head) || head->item >= tracer_selection(reader->tracer)->item_count)
		return false;
	out->item = traceplan_item(reader->plan, head->item);
	if (!out->item)
		return false;
	const struct selection *sel = tracer_selection(reader->tracer);

	out->row = sel->items[head->item].row;
	out->func = out->shown = sel->rows[out->row].name;
	out->file = sel->items[head->item].file;
	out->line = sel->items[head->item].line;
	memcpy(out->comm, head->comm, sizeof(head->comm));
	out->record = (const uint8_t *)(head + 1);
	out->record_len = out->item->record_size;
	len -= sizeof(*head);
	if (head->how >= TRACE_PANICKED || out->record_len > len) {
		out->record_len = len;
		return !head->user_frames && !head->kernel_frames;
	}
	out->user_frames = (const uint64_t *)(out->record + out->record_len);
	out->kernel_frames = out->user_frames;
	len = (len - out->record_len) / sizeof(uint64_t);

	bool copied = tracer_runtime(reader->tracer, 0)->split_stack;
	size_t room = copied ? sizeof(struct trace_stack) / sizeof(uint64_t) : TRACE_FRAMES;

	if (head->user_frames > (copied ? TRACE_STACK_PIECES + 1 : TRACE_FRAMES) ||
	    (head->user_frames && len < (copied ? room : head->user_frames)))
		return false;
	if (copied && head->user_frames)
		out->user_stack = (const struct trace_stack *)out->user_frames;
	/* the kernel's frames come last, after the room for the user's */
	if (head->kernel_frames && len > TRACE_FRAMES) {
		out->kernel_frames += room;
		len -= room;
	}
	return head->kernel_frames <= TRACE_FRAMES && head->kernel_frames <= len;
}

static const struct gotype *find_event_type(void *ctx, uint64_t rtype, bool *direct)
{
	const struct traceprint_lookup *lookup = ctx;

	return traceplan_rtype(lookup->plan, lookup->program, rtype, direct);
}

static bool promotes_error(void *ctx, uint64_t rtype)
{
	const struct traceprint_lookup *lookup = ctx;

	struct rtti *rtti = funcinfo_rtti(traceplan_funcinfo(lookup->plan, lookup->program));

	return rtti && rtti_promotes_error(rtti, rtype);
}

static const char *find_func(void *ctx, uint64_t addr)
{
	const struct traceprint_lookup *lookup = ctx;
	struct functab_func fn;

	return functab_find(lookup->tab, addr, &fn) ? fn.name : NULL;
}

struct value_source traceprint_source(struct traceprint_reader *reader,
				      const struct traceprint_event *event,
				      struct traceprint_lookup *lookup)
{
	lookup->plan = reader->plan;
	lookup->program = event->item->program;
	lookup->tab = tracer_program(reader->tracer, event->item->program)->tab;
	return (struct value_source){.record = event->record,
				     .len = event->record_len,
				     .bias = event->head->bias,
				     .no_addresses = reader->no_addresses,
				     .limits = traceplan_limits(reader->plan),
				     .type = find_event_type,
				     .promotes_error = promotes_error,
				     .func = find_func,
				     .ctx = lookup};
}

void traceprint_user_stack(FILE *out, struct traceprint_reader *reader,
			   const struct traceprint_event *event, bool addresses, bool no_runtime)
{
	struct gostack stack = traceprint_stack(reader, event);

	stack.no_runtime = no_runtime;
	gostack_print(out, &stack, traceprint_symbols(reader, event), addresses);
}

static struct kallsyms *kernel_symbols(struct traceprint_reader *reader)
{
	if (!reader->kernel_tried)
		reader->kernel = kallsyms_open(NULL);
	reader->kernel_tried = true;
	return reader->kernel;
}

struct traceprint_frame traceprint_kernel_frame(struct traceprint_reader *reader,
						const struct traceprint_event *event, uint32_t n)
{
	const struct kallsyms *syms = kernel_symbols(reader);
	struct traceprint_frame frame = {.addr = event->kernel_frames[n], .module = ""};

	if (syms)
		frame.name = kallsyms_find(syms, frame.addr, &frame.off, &frame.module);
	return frame;
}

void traceprint_kernel_stack(FILE *out, struct traceprint_reader *reader,
			     const struct traceprint_event *event, bool addresses)
{
	for (uint32_t i = 0; i < event->head->kernel_frames; i++) {
		struct traceprint_frame frame = traceprint_kernel_frame(reader, event, i);

		fputs("        ", out);
		if (addresses || !frame.name)
			fprintf(out, "0x%016" PRIx64 " ", frame.addr);
		fprintf(out, "%s +0x%" PRIx64 " [%s]\n", frame.name ? frame.name : "[unknown]",
			frame.off, *frame.module ? frame.module : "kernel");
	}
}
