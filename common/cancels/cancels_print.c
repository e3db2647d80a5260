// SPDX-License-Identifier: Apache-2.0
#include "cancels/cancels_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/shortnum.h"
#include "base/tally.h"
#include "blocked/stacks.h"
#include "bpf-src/shared/cancels.h"
#include "cancels/cancellation_internal.h"
#include "frames/frame_print.h"

enum { INDENT = 8 };

/* --- lines --- */

static void print_clock(const struct cancels_view *view)
{
	char text[CLOCK_TEXT];

	if (!view->timestamp)
		return;
	clock_text(text);
	printf("%s ", text);
}

void cancels_print_head(const struct cancels_view *view)
{
	printf("%s%-7s %-7s %6s %5s CANCELLED BY\n", view->timestamp ? "TIME     " : "", "PID",
	       "GOID", "AGE", "WOKEN");
}

static void print_who(FILE *out, const struct cancellation *of)
{
	if (of->by.func)
		frame_print(out, &of->by);
	else
		fputs(of->how == CANCELLATION_DEADLINE ? "its deadline"
		      : of->how == CANCELLATION_PARENT ? "its parent"
						       : "[lost]",
		      out);
	if (!of->by.func)
		return;
	if (of->how == CANCELLATION_DEADLINE)
		fputs(", whose deadline had passed", out);
	else if (of->how == CANCELLATION_PARENT)
		fputs(", as its parent was cancelled", out);
}

static bool same_error(const struct cancel_error *a, const struct cancel_error *b)
{
	return a->type == b->type && a->len == b->len && !memcmp(a->text, b->text, sizeof(a->text));
}

/* What tells more than that a context was cancelled */
static const struct cancel_error *reason_of(const struct cancels_view *view,
					    const struct cancellation *of)
{
	static const char plain[] = "context canceled";
	const struct cancel_event *event = of->event;
	const struct cancel_error *reason = &event->error;
	const char *type, *text;
	size_t len;
	bool cut;

	if (event->cause.type && !same_error(&event->cause, &event->error))
		return &event->cause;
	type = cancellation_type(of, reason, view->types);
	text = cancellation_text(reason, type, &len, &cut);
	if (!type || (of->how == CANCELLATION_DEADLINE && text) ||
	    (text && len == strlen(plain) && !memcmp(text, plain, len)))
		return NULL;
	return reason;
}

static void print_reason(const struct cancels_view *view, const struct cancellation *of)
{
	const struct cancel_error *error = reason_of(view, of);
	size_t len;
	bool cut;

	if (!error)
		return;
	const char *type = cancellation_type(of, error, view->types);
	const char *text = cancellation_text(error, type, &len, &cut);

	fputs(": ", stdout);
	if (text)
		escape_write(stdout, text, len);
	else
		escape_print(stdout, type);
	if (text && cut)
		fputs("...", stdout);
}

static void print_creator(const struct cancellation *of)
{
	/* where it was cancelled from the start, the line above has told it */
	if (!of->event->created_ns || (of->by.func && of->how != CANCELLATION_CALL))
		return;
	printf("%*screated by ", INDENT, "");
	if (of->creator.func)
		frame_print(stdout, &of->creator);
	else
		fputs("[lost]", stdout);
	putchar('\n');
}

static void print_woken(const char *text, uint64_t count, void *ctx)
{
	(void)ctx;
	printf("%*swoke %" PRIu64 " in %s\n", INDENT, "", count, text);
}

static void print_all_woken(const struct cancels_view *view, const struct cancellation *of)
{
	uint32_t told = of->event->woken < CANCEL_WOKEN ? of->event->woken : CANCEL_WOKEN;
	struct tally *places = tally_new();

	for (uint32_t i = 0; i < told; i++) {
		struct frame at;
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		cancellation_outside(view->stacks, of->event->by[i].stack, of->bias, &at);
		if (at.func)
			frame_print(out, &at);
		else
			fputs("package context", out);
		fclose(out);
		tally_add(places, text);
		free(text);
	}
	tally_each(places, print_woken, NULL);
	tally_free(places);
	if (of->event->woken > told)
		printf("%*swoke %u more\n", INDENT, "", of->event->woken - told);
}

void cancels_print(const struct cancels_view *view, const struct cancellation *of)
{
	const struct cancel_event *event = of->event;
	char age[SHORTNUM] = "-";

	if (event->created_ns)
		shortnum_ns(age, (double)(event->begin_ns - event->created_ns));
	print_clock(view);
	printf("%-7u %-7" PRIu64 " %6s %5u ", event->pid, (uint64_t)event->who.id, age,
	       event->woken);
	print_who(stdout, of);
	print_reason(view, of);
	putchar('\n');
	if (event->contested)
		printf("%*sor by another goroutine at the same time\n", INDENT, "");
	print_creator(of);
	print_all_woken(view, of);
	if (event->children)
		printf("%*sand %u child%s\n", INDENT, "", event->children,
		       event->children == 1 ? "" : "ren");
}

/* --- JSON --- */

static void json_error(const struct cancels_view *view, const struct cancellation *of,
		       const char *key, const struct cancel_error *error, struct json *json)
{
	const char *type = cancellation_type(of, error, view->types), *text;
	size_t len;
	bool cut;

	json_key(json, key);
	if (!type) {
		json_null(json);
		return;
	}
	text = cancellation_text(error, type, &len, &cut);
	json_object(json);
	json_member_string(json, "go_type", type);
	json_key(json, "text");
	if (text)
		json_bytes(json, text, len);
	else
		json_null(json);
	if (text && cut)
		json_member_bool(json, "cut", true);
	json_object_end(json);
}

static void json_goroutine(const struct cancels_view *view, const struct cancellation *of,
			   uint64_t goid, uint64_t stack, struct json *json)
{
	json_object(json);
	json_member_u64(json, "goid", goid);
	json_key(json, "stack");
	stacks_json(view->stacks, stack, of->bias, json);
	json_object_end(json);
}

static void json_who(const struct cancels_view *view, const struct cancellation *of,
		     struct json *json)
{
	const struct cancel_event *event = of->event;
	uint32_t told = event->woken < CANCEL_WOKEN ? event->woken : CANCEL_WOKEN;

	json_key(json, "stack");
	stacks_json(view->stacks, event->stack, of->bias, json);
	json_key(json, "created_by");
	if (event->created_ns)
		json_goroutine(view, of, event->created_goid, event->created_stack, json);
	else
		json_null(json);
	json_key(json, "wakes");
	json_array(json);
	for (uint32_t i = 0; i < told; i++)
		json_goroutine(view, of, event->by[i].goid, event->by[i].stack, json);
	json_array_end(json);
}

void cancels_json(const struct cancels_view *view, const struct cancellation *of)
{
	static const char *const hows[] = {
		[CANCELLATION_CALL] = "call",
		[CANCELLATION_DEADLINE] = "deadline",
		[CANCELLATION_PARENT] = "parent",
		[CANCELLATION_STOP] = "stop",
	};
	const struct cancel_event *event = of->event;
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", "cancel");
	if (view->time)
		view->time(&json);
	json_member_u64(&json, "pid", event->pid);
	json_member_u64(&json, "goid", event->who.id);
	json_member_string(&json, "how", hows[of->how]);
	json_error(view, of, "error", &event->error, &json);
	json_error(view, of, "cause", &event->cause, &json);
	json_key(&json, "age_ns");
	if (event->created_ns)
		json_u64(&json, event->begin_ns - event->created_ns);
	else
		json_null(&json);
	json_member_u64(&json, "woken", event->woken);
	json_member_u64(&json, "children", event->children);
	json_member_bool(&json, "contested", event->contested);
	json_who(view, of, &json);
	json_object_end(&json);
}

/* --- counts --- */

void cancels_count(const struct cancellation *of, struct tally *tally)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print_who(out, of);
	fprintf(out, "\n%*screated by ", INDENT, "");
	if (of->creator.func)
		frame_print(out, &of->creator);
	else
		fputs(of->event->created_ns ? "[lost]" : "[before]", out);
	fclose(out);
	tally_add(tally, text);
	free(text);
}

static void print_count(const char *text, uint64_t count, void *ctx)
{
	(void)ctx;
	printf("%7" PRIu64 " %s\n", count, text);
}

void cancels_print_counts(const struct tally *tally)
{
	printf("%7s CANCELLED BY\n", "COUNT");
	tally_each(tally, print_count, NULL);
}
