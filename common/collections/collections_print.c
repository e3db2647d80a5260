// SPDX-License-Identifier: Apache-2.0
#include "collections/collections_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/shortnum.h"
#include "blocked/stacks.h"
#include "collections/collections.h"
#include "frames/frame_print.h"
#include "frames/frames.h"

enum { STOP_INDENT = 14, CLOCK_WIDTH = 9 };

static const char *const triggers[] = {
	[GC_TRIGGER_UNKNOWN] = NULL,
	[GC_TRIGGER_HEAP] = "heap",
	[GC_TRIGGER_TIME] = "time",
	[GC_TRIGGER_CALL] = "runtime.GC",
};

/* --- cells --- */

static void print_bytes(uint64_t n, bool known)
{
	char text[SHORTNUM];

	printf("%7s", known ? shortnum_bytes(text, (double)n) : "-");
}

static void print_time(uint64_t ns, bool known)
{
	char text[SHORTNUM];

	printf("%8s", known ? shortnum_ns(text, (double)ns) : "-");
}

static void print_clock(const struct collections_view *view)
{
	char text[CLOCK_TEXT];

	if (!view->timestamp)
		return;
	clock_text(text);
	printf("%s ", text);
}

static int stop_indent(const struct collections_view *view)
{
	return STOP_INDENT + (view->timestamp ? CLOCK_WIDTH : 0);
}

/* --- who --- */

struct line { /* with the first frame that `is_shown` */
	bool (*is_shown)(const char *func);
	bool printed;
};

static bool is_any(const char *func)
{
	(void)func;
	return true;
}

/* Not of package runtime, nor of one below it */
static bool is_outside(const char *func)
{
	static const char runtime[] = "runtime";
	size_t len = strlen(runtime);

	return strncmp(func, runtime, len) != 0 || !strchr("./", func[len]);
}

static void print_first(void *ctx, const struct frame *frame)
{
	struct line *line = ctx;

	if (line->printed || !line->is_shown(frame->func))
		return;
	line->printed = true;
	frame_print(stdout, frame);
}

static void print_who(const struct collections_view *view, const struct stop *stop, bool asked)
{
	int indent = stop_indent(view) + 10;
	struct line asker = {.is_shown = is_outside}, last = {.is_shown = is_any};

	if (asked) {
		printf("%*sby ", indent, "");
		stacks_each(view->stacks, stop->stack, stop->bias, false, print_first, &asker);
		puts(asker.printed ? "" : "the runtime");
	}
	if (!stop->last_goid)
		return;
	printf("%*slast to stop: goroutine %" PRIu64 " at ", indent, "", stop->last_goid);
	stacks_each(view->stacks, stop->last_stack, stop->bias, false, print_first, &last);
	puts(last.printed ? "" : "[lost]");
}

static void print_stop(const struct collections_view *view, const struct stop *stop, bool asked)
{
	char all[SHORTNUM], stopping[SHORTNUM];

	printf("%8s  %s, %s until all had stopped\n", shortnum_ns(all, (double)stop->ns),
	       stop->reason.words ? stop->reason.words : "unknown",
	       shortnum_ns(stopping, (double)stop->stopping_ns));
	print_who(view, stop, asked);
}

/* --- lines --- */

void collections_print_head(const struct collections_view *view)
{
	if (view->timestamp)
		printf("%-8s ", "TIME");
	puts("    PID     GC WHY           TOTAL STOPPED    MARK  ASSIST BEFORE  AFTER   GOAL");
}

static uint64_t stopped_ns(const struct collection *collection)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < collection->stop_count; i++)
		ns += collection->stops[i].ns;
	return ns;
}

void collections_print(const struct collections_view *view, const struct collection *collection)
{
	const struct gc_numbers *n = &collection->numbers;
	const char *trigger = triggers[collection->trigger];
	bool asked = collection->trigger == GC_TRIGGER_CALL;

	print_clock(view);
	printf("%7u %6llu %-10s", collection->pid, n->cycle, trigger ? trigger : "-");
	print_time(collection->ns, true);
	print_time(stopped_ns(collection), true);
	print_time(collection->mark_ns, true);
	print_time(n->assist_ns, n->goal);
	print_bytes(n->heap0, n->heap0);
	print_bytes(n->heap2, n->heap0);
	print_bytes(n->goal, n->goal);
	putchar('\n');
	for (size_t i = 0; i < collection->stop_count; i++) {
		printf("%*s", stop_indent(view), "");
		print_stop(view, &collection->stops[i], asked && !i);
	}
}

void collections_print_stop(const struct collections_view *view, const struct stop *stop)
{
	print_clock(view);
	printf("%7u stop  ", stop->pid);
	print_stop(view, stop, true);
}

/* --- JSON --- */

static void json_begin(const struct collections_view *view, struct json *json, const char *type)
{
	json_init(json, stdout);
	json_object(json);
	json_member_string(json, "type", type);
	if (view->time)
		view->time(json);
}

static void json_known(struct json *json, const char *key, uint64_t n, bool known)
{
	json_key(json, key);
	if (known)
		json_u64(json, n);
	else
		json_null(json);
}

static void json_stop_members(const struct stop *stop, struct json *json)
{
	json_member_string(json, "reason", stop->reason.words ? stop->reason.words : "unknown");
	json_member_u64(json, "ns", stop->ns);
	json_member_u64(json, "stopping_ns", stop->stopping_ns);
}

/* Who has stopped last */
static void json_last(const struct collections_view *view, const struct stop *stop,
		      struct json *json)
{
	if (!stop->last_goid) {
		json_null(json);
		return;
	}
	json_object(json);
	json_member_u64(json, "goid", stop->last_goid);
	json_key(json, "stack");
	stacks_json(view->stacks, stop->last_stack, stop->bias, json);
	json_object_end(json);
}

static void json_asker(const struct collections_view *view, const struct stop *stop,
		       struct json *json)
{
	json_known(json, "goid", stop ? stop->goid : 0, stop);
	json_key(json, "stack");
	if (stop)
		stacks_json(view->stacks, stop->stack, stop->bias, json);
	else
		json_null(json);
}

void collections_json(const struct collections_view *view, const struct collection *collection)
{
	const struct gc_numbers *n = &collection->numbers;
	struct json json;

	json_begin(view, &json, "gc");
	json_member_u64(&json, "pid", collection->pid);
	json_known(&json, "cycle", n->cycle, n->cycle);
	json_member_string(&json, "trigger", triggers[collection->trigger]);
	json_key(&json, "stw");
	json_array(&json);
	for (size_t i = 0; i < collection->stop_count; i++) {
		json_object(&json);
		json_stop_members(&collection->stops[i], &json);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_member_u64(&json, "mark_ns", collection->mark_ns);
	json_known(&json, "assist_ns", n->assist_ns, n->goal);
	json_known(&json, "heap_before", n->heap0, n->heap0);
	json_known(&json, "heap_after", n->heap2, n->heap0);
	json_known(&json, "heap_goal", n->goal, n->goal);
	json_known(&json, "heap_end", n->heap1, n->heap0);
	json_member_u64(&json, "total_ns", collection->ns);
	json_asker(view, collection->begun ? &collection->stops[0] : NULL, &json);
	json_key(&json, "stopped_last");
	json_array(&json);
	for (size_t i = 0; i < collection->stop_count; i++)
		json_last(view, &collection->stops[i], &json);
	json_array_end(&json);
	json_object_end(&json);
}

void collections_json_stop(const struct collections_view *view, const struct stop *stop)
{
	struct json json;

	json_begin(view, &json, "stw");
	json_member_u64(&json, "pid", stop->pid);
	json_stop_members(stop, &json);
	json_asker(view, stop, &json);
	json_key(&json, "stopped_last");
	json_last(view, stop, &json);
	json_object_end(&json);
}
