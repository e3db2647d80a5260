// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceprint_reader_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/traceplan.h"
#include "probespec/probespec.h"

/* {"guess": VALUE} */
static bool open_guess(struct json *json, bool is_guess)
{
	if (is_guess) {
		json_object(json);
		json_key(json, "guess");
	}
	return is_guess;
}

static void close_guess(struct json *json, bool opened)
{
	if (opened)
		json_object_end(json);
}

static void json_shape(struct json *json, const struct shape *shape, bool is_guess,
		       const struct value_source *source)
{
	bool marked = open_guess(json, is_guess && !value_is_marked(shape, source));

	value_json(json, shape, source);
	close_guess(json, marked);
}

static void json_item(struct json *json, const struct format_list_item *item,
		      const struct value_source *source)
{
	if (item->shape)
		json_shape(json, item->shape, item->is_guess, source);
	else
		json_string(json, item->fault ? item->fault : "?");
}

/* The value after the call, or that of what a pointer points to. */
static void json_after(struct json *json, const struct format_list_item *item,
		       const struct value_source *source)
{
	if (!item->after && !item->after_fault)
		return;
	json_key(json, "after");
	if (item->after)
		json_shape(json, item->after, item->is_guess, source);
	else
		json_string(json, item->after_fault);
}

static void json_number_arg(struct json *json, const struct format_arg *arg)
{
	bool marked = open_guess(json, arg->is_guess);

	if (arg->is_bool)
		json_bool(json, arg->number);
	else if (arg->is_unsigned)
		json_u64(json, arg->number);
	else
		json_i64(json, arg->number);
	close_guess(json, marked);
}

static void json_arg(struct json *json, const struct format_arg *arg,
		     const struct value_source *source)
{
	switch (arg->kind) {
	case FORMAT_INT:
		json_number_arg(json, arg);
		break;
	case FORMAT_SHAPE:
		json_shape(json, arg->shape, arg->is_guess, source);
		break;
	case FORMAT_LIST:
		json_array(json);
		for (size_t i = 0; i < arg->list_count; i++) {
			json_object(json);
			json_member_string(json, "name", arg->list[i].name);
			json_key(json, "value");
			json_item(json, &arg->list[i], source);
			json_after(json, &arg->list[i], source);
			json_object_end(json);
		}
		json_array_end(json);
		break;
	default:
		json_string(json, arg->kind == FORMAT_MISSING ? "?" : arg->text);
	}
}

/* The same with the expression, as it was typed. */
static void json_typed_arg(struct json *json, const char *text, const struct format_arg *arg,
			   const struct value_source *source)
{
	json_object(json);
	json_member_string(json, "name", text);
	json_key(json, "value");
	json_arg(json, arg, source);
	json_object_end(json);
}

static void json_group(struct json *json, const struct traceprint_event *event,
		       const struct format_group *group, const struct format_arg *args,
		       const struct value_source *source)
{
	const struct format *format = event->item->format;
	char *text = NULL;
	size_t len;
	FILE *out;

	if (group->is_list) {
		json_array(json);
		for (size_t i = group->first; i < group->first + group->verbs; i++)
			json_typed_arg(json, event->item->spec->arg_texts[i], &args[i], source);
		json_array_end(json);
	} else if (group->is_value) {
		json_arg(json, &args[group->first], source);
	} else if ((out = open_memstream(&text, &len))) {
		format_print_group(out, format, group, args, event->item->arg_count, source);
		fclose(out);
		json_string(json, text);
		free(text);
	}
}

/* "NAME_text": flags in words, as NAME itself is their number */
static void json_words(struct json *json, const struct format_group *group,
		       const struct format_arg *arg, const struct value_source *source)
{
	bool is_value = group->is_value && arg->kind == FORMAT_SHAPE && arg->shape;
	char *text = is_value ? value_flags_text(arg->shape, source) : NULL;

	if (!text)
		return;
	char *key = mem_printf("%.*s_text", (int)group->name_len, group->name);

	json_member_string(json, key, text);
	free(key);
	free(text);
}

/* Writes arguments under the names that the format gives; false: it gives none. */
static bool json_named(struct json *json, const struct traceprint_event *event,
		       const struct format_arg *args, const struct value_source *source)
{
	struct format_group group;
	size_t n = 0;

	for (; format_group(event->item->format, n, &group); n++) {
		char *name = mem_strndup(group.name, group.name_len);

		json_key(json, name);
		free(name);
		json_group(json, event, &group, args, source);
		json_words(json, &group, &args[group.first], source);
	}
	return n > 0;
}

void traceprint_json_exprs(struct json *json, struct traceprint_reader *reader,
			   const struct traceprint_event *event)
{
	struct traceprint_lookup lookup;
	struct value_source source = traceprint_source(reader, event, &lookup);
	struct format_arg *args = traceprint_args(event);

	json_object(json);
	for (size_t i = 0; i < event->item->arg_count; i++) {
		json_key(json, event->item->spec->arg_texts[i]);
		json_arg(json, &args[i], &source);
	}
	json_object_end(json);
	traceprint_free_args(args, event->item->arg_count);
}

static void json_values(struct json *json, const struct traceprint_event *event,
			const struct format_arg *args, const struct value_source *source)
{
	if (json_named(json, event, args, source))
		return;
	json_key(json, "values");
	json_array(json);
	for (size_t i = 0; i < event->item->arg_count; i++)
		json_arg(json, &args[i], source);
	json_array_end(json);
}

static void json_args(struct json *json, struct traceprint_reader *reader,
		      const struct traceprint_event *event)
{
	static const char *const lists[] = {"args", "results"};
	struct traceprint_lookup lookup;
	struct value_source source = traceprint_source(reader, event, &lookup);
	struct format_arg *args = traceprint_args(event);
	size_t count = event->item->arg_count;

	if (event->item->format)
		json_values(json, event, args, &source);
	for (size_t i = 0; !event->item->format && i < count; i++) {
		json_key(json, lists[i > 0]);
		json_arg(json, &args[i], &source);
	}
	traceprint_free_args(args, count);
}

static void json_time(struct json *json, uint64_t unix_ns)
{
	time_t seconds = unix_ns / 1000000000;
	char text[64], date[32];
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text, sizeof(text), "%s.%09" PRIu64 "Z", date, unix_ns % 1000000000);
	json_member_string(json, "time", text);
}

static void json_kernel_stack(struct json *json, struct traceprint_reader *reader,
			      const struct traceprint_event *event)
{
	json_key(json, "kernel_stack");
	json_array(json);
	for (uint32_t i = 0; i < event->head->kernel_frames; i++) {
		struct traceprint_frame frame = traceprint_kernel_frame(reader, event, i);
		char addr[24];

		snprintf(addr, sizeof(addr), "0x%" PRIx64, frame.addr);
		json_object(json);
		json_member_string(json, "func", frame.name);
		json_member_u64(json, "off", frame.off);
		json_member_string(json, "addr", addr);
		json_object_end(json);
	}
	json_array_end(json);
}

void traceprint_json(struct traceprint_reader *reader, const struct traceprint_event *event,
		     const char *message, uint64_t unix_ns)
{
	static const char *const hows[] = {"entry", "return", "panic", "exit",
					   "left",  "jump",   "lost"};
	const struct trace_event *head = event->head;
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", event->file ? "line" : "call");
	json_time(&json, unix_ns);
	json_member_u64(&json, "pid", head->tgid);
	json_member_u64(&json, "tid", head->tid);
	json_member_u64(&json, "goid", head->goid);
	if (head->root)
		json_member_u64(&json, "root", head->root);
	json_member_u64(&json, "cpu", head->cpu);
	json_member_string(&json, "comm", event->comm);
	json_member_string(&json, "func", event->func);
	if (event->file) {
		json_member_string(&json, "file", event->file);
		json_member_u64(&json, "line", event->line);
	}
	if (!event->file)
		json_member_string(&json, "how",
				   hows[head->how <= TRACE_UNSEEN ? head->how : TRACE_ENTRY]);
	if (head->how != TRACE_ENTRY)
		json_member_u64(&json, "latency_ns", head->latency_ns);
	json_member_string(&json, "message", message);
	json_args(&json, reader, event);
	if (head->user_frames) {
		struct gostack stack = traceprint_stack(reader, event);

		gostack_json(&json, &stack, traceprint_symbols(reader, event));
	}
	if (head->kernel_frames)
		json_kernel_stack(&json, reader, event);
	json_object_end(&json);
}
