// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceprint_event_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/eventexpr_internal.h"
#include "gotrace/traceplan.h"
#include "values/value_read.h"

static int64_t word_at(const struct traceprint_event *event, uint32_t at)
{
	int64_t word = TRACE_FAULT;

	if (at <= event->record_len && event->record_len - at >= sizeof(word))
		memcpy(&word, event->record + at, sizeof(word));
	return word;
}

static const char absent_text[] = "<optimised out>";

static const char *state_text(int64_t state)
{
	return state == TRACE_NIL       ? "<nil pointer>"
	       : state == TRACE_BOUNDS  ? "<out of range>"
	       : state == TRACE_ABSENT  ? absent_text
	       : state == TRACE_OTHER   ? "<other type>"
	       : state == TRACE_MANY    ? "<too many labels>"
	       : state == TRACE_CONTEXT ? "<unknown context>"
	       : state == TRACE_NONE    ? "-"
					: "<fault>";
}

/* Printed in place of a result, by how the call ended. */
static const char *no_return_text(uint32_t how)
{
	static const char *const texts[] = {[TRACE_PANICKED] = "<panicked>",
					    [TRACE_EXITED] = "<exited>",
					    [TRACE_LEFT] = "<left>",
					    [TRACE_JUMPED] = "<jumped>",
					    [TRACE_UNSEEN] = "<end not seen>"};

	return how <= TRACE_UNSEEN && texts[how] ? texts[how] : "<left>";
}

/* The same at a message's end: (panicked). */
static void print_ending(FILE *out, uint32_t how)
{
	const char *text = no_return_text(how);

	fprintf(out, " (%.*s)", (int)strlen(text) - 2, text + 1);
}

static void set_fault(struct format_arg *out, const char *text)
{
	out->kind = FORMAT_FAULT;
	out->text = text;
}

static void special_arg(const struct traceprint_event *event, const struct tracegen_arg *arg,
			struct format_arg *out)
{
	const struct trace_event *head = event->head;
	const uint64_t numbers[] = {
		[SPECIAL_GOID] = head->goid, [SPECIAL_PID] = head->tgid,
		[SPECIAL_TID] = head->tid,   [SPECIAL_CPU] = head->cpu,
		[SPECIAL_COMM] = 0,          [SPECIAL_LATENCY] = head->latency_ns,
		[SPECIAL_FUNC] = 0,          [SPECIAL_PARENT_GOID] = head->parent_goid,
	};

	out->kind = FORMAT_INT;
	out->is_unsigned = true;
	if (arg->special >= SPECIAL_STATES) {
		out->number = word_at(event, arg->at);
		return;
	}
	out->number = numbers[arg->special];
	if (arg->special == SPECIAL_PARENT_GOID && !head->parent_goid)
		out->kind = FORMAT_MISSING;
	if (arg->special != SPECIAL_COMM && arg->special != SPECIAL_FUNC)
		return;
	out->kind = FORMAT_TEXT;
	out->text = arg->special == SPECIAL_COMM ? event->comm : event->shown;
}

/* The length of a string or slice, and its elements as far as they were read; of other values,
 * their own bytes. */
static struct value_bytes bytes_of(const struct traceprint_event *event,
				   const struct tracegen_arg *arg)
{
	const struct value_source source = {.record = event->record, .len = event->record_len};
	const struct value_at at = value_of(arg->shape);
	struct value_bytes bytes = {0};

	if (at.type->kind == GOTYPE_STRING || at.type->kind == GOTYPE_SLICE)
		value_read_bytes(&source, &at, &bytes);
	else if (arg->shape->at <= event->record_len &&
		 arg->shape->size <= event->record_len - arg->shape->at)
		bytes = (struct value_bytes){.bytes = event->record + arg->shape->at,
					     .len = arg->shape->size};
	return bytes;
}

static bool is_same_arg(const struct traceprint_event *event, const struct tracegen_arg *a,
			const struct tracegen_arg *b)
{
	int64_t a_state = word_at(event, a->at), b_state = word_at(event, b->at);

	if (a_state < 0 || b_state < 0)
		return a_state == b_state;
	struct value_bytes was = bytes_of(event, a), is = bytes_of(event, b);

	if (was.count != is.count || was.len != is.len)
		return false;
	return !is.len || !memcmp(was.bytes, is.bytes, is.len);
}

/* Adds the argument's value after the call, if it has changed. */
static void add_after(const struct traceprint_event *event, const struct tracegen_arg *arg,
		      struct format_list_item *item)
{
	if (!arg->after || event->head->how >= TRACE_PANICKED ||
	    is_same_arg(event, arg->before ? arg->before : arg, arg->after))
		return;
	item->is_target = arg->before;
	if (word_at(event, arg->after->at) < 0)
		item->after_fault = state_text(word_at(event, arg->after->at));
	else
		item->after = arg->after->shape;
}

static const struct format_list_item *list_items(const struct traceprint_event *event,
						 const struct tracegen_arg *arg)
{
	struct format_list_item *items = mem_zalloc(arg->count + 1, sizeof(*items));

	for (size_t i = 0; i < arg->count; i++) {
		const struct tracegen_arg *item = &arg->items[i];
		int64_t state = word_at(event, item->at);

		/* neither names made up by the compiler ("~r0") nor "...", which stands for
		 * parameters that are left out */
		items[i].name = item->text && !strchr("~.", *item->text) ? item->text : NULL;
		if (item->kind == TRACEGEN_MISSING)
			continue;
		if (item->kind == TRACEGEN_ABSENT)
			items[i].fault = absent_text;
		else if (state < 0)
			items[i].fault = state_text(state);
		else
			items[i].shape = item->shape;
		items[i].is_guess = item->is_guess;
		items[i].deep = item->deep;
		items[i].typed = item->typed;
		add_after(event, item, &items[i]);
	}
	return items;
}

static void make_arg(const struct traceprint_event *event, const struct tracegen_arg *arg,
		     struct format_arg *out)
{
	uint32_t how = event->head->how;
	int64_t state;

	*out = (struct format_arg){.is_bool = arg->is_bool,
				   .is_unsigned = arg->is_unsigned,
				   .is_guess = arg->is_guess,
				   .text = arg->text,
				   .shape = arg->shape};
	if (arg->kind == TRACEGEN_SPECIAL) {
		special_arg(event, arg, out);
	} else if (arg->kind == TRACEGEN_TEXT) {
		out->kind = FORMAT_TEXT;
	} else if (arg->kind == TRACEGEN_MISSING) {
		out->kind = FORMAT_MISSING;
	} else if (arg->kind == TRACEGEN_ABSENT) {
		set_fault(out, absent_text);
	} else if (arg->kind == TRACEGEN_COMPUTED) { /* of the event: however the call ended */
		uint64_t value = 0;
		bool known = eventexpr_compute(arg->expr, event->head, &value);

		out->kind = FORMAT_INT;
		out->number = (int64_t)value;
		if (!known)
			set_fault(out, state_text(TRACE_BOUNDS));
	} else if (arg->at_return && how >= TRACE_PANICKED) {
		set_fault(out, no_return_text(how));
	} else if (arg->kind == TRACEGEN_LIST) {
		out->kind = FORMAT_LIST;
		out->list = list_items(event, arg);
		out->list_count = arg->count;
	} else if (arg->kind == TRACEGEN_NUMBER) {
		state = word_at(event, arg->at + 8);
		out->kind = FORMAT_INT;
		out->number = word_at(event, arg->at);
		if (state)
			set_fault(out, state_text(state));
	} else {
		state = word_at(event, arg->at);
		out->kind = FORMAT_SHAPE;
		if (state < 0)
			set_fault(out, state_text(state));
	}
}

void traceprint_free_args(struct format_arg *args, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((void *)args[i].list);
	free(args);
}

struct format_arg *traceprint_args(const struct traceprint_event *event)
{
	size_t count = event->item->arg_count;
	struct format_arg *args = mem_zalloc(count + 1, sizeof(*args));

	for (size_t i = 0; i < count; i++)
		make_arg(event, &event->item->args[i], &args[i]);
	return args;
}

/* Without a format: the arguments; at return "-> " and the results. */
static void print_lists(FILE *out, const struct format_arg *args, size_t count,
			const struct value_source *source)
{
	for (size_t i = 0; i < count; i++) {
		bool separate = i > 0 && (args[i].list_count || args[i].kind == FORMAT_FAULT);

		if (separate)
			fputs(args[0].list_count ? " -> " : "-> ", out);
		if (args[i].kind == FORMAT_FAULT)
			fputs(args[i].text, out);
		else
			format_print_list(out, args[i].list, args[i].list_count, source, VALUE_GO);
	}
}

/* Without a format, of a line: which it is, by the last part of the file's path. */
static void print_line(FILE *out, const struct traceprint_event *event)
{
	const char *slash = strrchr(event->file, '/');

	fprintf(out, "%s:%u", slash ? slash + 1 : event->file, event->line);
}

/* In columns, the first result that there is none of says why; in the others that would be noise.
 */
static void say_once(struct format_arg *args, size_t count, uint32_t how)
{
	const char *why = no_return_text(how);
	bool said = false;

	for (size_t i = 0; i < count; i++) {
		if (args[i].kind != FORMAT_FAULT || args[i].text != why)
			continue;
		if (said)
			args[i].text = "-";
		said = true;
	}
}

void traceprint_message(FILE *out, struct traceprint_reader *reader,
			const struct traceprint_event *event)
{
	struct traceprint_lookup lookup;
	struct value_source source = traceprint_source(reader, event, &lookup);
	struct format_arg *args = traceprint_args(event);
	size_t count = event->item->arg_count;
	uint32_t how = event->head->how;

	if (event->columns && how >= TRACE_PANICKED)
		say_once(args, count, how);
	if (event->item->format)
		format_print(out, event->item->format, args, count, &source);
	else if (event->file)
		print_line(out, event);
	else
		print_lists(out, args, count, &source);
	if (event->item->format && how >= TRACE_PANICKED)
		print_ending(out, how);
	traceprint_free_args(args, count);
}
