// SPDX-License-Identifier: Apache-2.0
/* Events by stack, for --pprof. */
#include <stdlib.h>

#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "frames/frames.h"
#include "gotrace/traceprint.h"
#include "gotrace/traceprint_reader_internal.h"
#include "profile/profile.h"
#include "program/gostack_symbols.h"
#include "program/program.h"
#include "tracing/tracer.h"

static const struct profile_type types[] = {{"calls", "count"}};
const struct profile_spec traceprint_profile_spec = {
	.tool = "gotrace", .types = types, .type_count = 1};

static void add_frame(void *ctx, size_t number, uint64_t at, const struct gostack_line *line)
{
	struct frame frame = {.func = line->name ? line->name : "[unknown]",
			      .file = line->file,
			      .line = line->line,
			      .start_line = line->start_line,
			      .number = number,
			      .at = at};

	profile_frame(ctx, &frame);
}

static void add_group(struct traceprint_reader *reader, const struct traceprint_event *event,
		      const struct format_group *group, struct profile *profile)
{
	struct traceprint_lookup lookup;
	struct value_source source = traceprint_source(reader, event, &lookup);
	struct format_arg *args = traceprint_args(event);
	char *text = NULL, *name = mem_strndup(group->name, group->name_len);
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (out) {
		format_print_group(out, event->item->format, group, args, event->item->arg_count,
				   &source);
		fclose(out);
		profile_label(profile, name, text);
	}
	free(text);
	free(name);
	traceprint_free_args(args, event->item->arg_count);
}

/* What the format gives names to, and if that is nothing, the message */
static void add_message(struct traceprint_reader *reader, const struct traceprint_event *event,
			const char *message, struct profile *profile)
{
	struct format_group group;
	size_t n = 0;

	while (event->item->format && format_group(event->item->format, n, &group)) {
		add_group(reader, event, &group, profile);
		n++;
	}
	if (!n)
		profile_label(profile, "message", message);
}

void traceprint_profile(struct traceprint_reader *reader, const struct traceprint_event *event,
			const char *message, struct profile *profile)
{
	struct frames frames = {.img = tracer_program(reader->tracer, event->item->program)->img,
				.bias = event->head->bias};
	struct profile_at at = {profile, &frames};
	struct gostack stack = traceprint_stack(reader, event);
	struct gostack_symbols *syms = traceprint_symbols(reader, event);

	if (!stack.count)
		profile_word(profile, "[lost]");
	else if (!gostack_each(&stack, syms, add_frame, &at))
		profile_word(profile, "...");
	profile_label(profile, "func", event->func);
	add_message(reader, event, message, profile);
	profile_label(profile, "created_by", gostack_creator(&stack, syms));
	profile_number(profile, "pid", event->head->tgid);
	profile_label(profile, "comm", event->comm);
	profile_add(profile, (uint64_t[]){1});
}
