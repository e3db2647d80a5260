// SPDX-License-Identifier: Apache-2.0
#include "collections/collections_print.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "blocked/stacks.h"
#include "collections/collections.h"
#include "frames/frame_print.h"
#include "frames/frames.h"

enum { CELL = 16, STOP_INDENT = 14, CLOCK_WIDTH = 9 };

static const char *const triggers[] = {
	[GC_TRIGGER_UNKNOWN] = NULL,
	[GC_TRIGGER_HEAP] = "heap",
	[GC_TRIGGER_TIME] = "time",
	[GC_TRIGGER_CALL] = "runtime.GC",
};

/* --- cells --- */

/* Three digits at most, and a unit. */
static const char *shorten(char out[CELL], double n, double base, const char *const *units)
{
	for (; n >= base * 0.9995 && units[1]; units++)
		n /= base;
	snprintf(out, CELL, n < 9.95 && **units && n > 0 ? "%.1f%s" : "%.0f%s", n, *units);
	return out;
}

static const char *time_cell(char out[CELL], uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};

	return shorten(out, (double)ns, 1000, units);
}

static void print_bytes(uint64_t n, bool known)
{
	static const char *const units[] = {"", "K", "M", "G", "T", NULL};
	char text[CELL];

	printf("%7s", known ? shorten(text, (double)n, 1024, units) : "-");
}

static void print_time(uint64_t ns, bool known)
{
	char text[CELL];

	printf("%8s", known ? time_cell(text, ns) : "-");
}

static void print_clock(const struct collections_view *view)
{
	struct tm local;
	time_t now;
	char text[16];

	if (!view->timestamp)
		return;
	now = time(NULL);
	localtime_r(&now, &local);
	strftime(text, sizeof(text), "%H:%M:%S ", &local);
	fputs(text, stdout);
}

static int stop_indent(const struct collections_view *view)
{
	return STOP_INDENT + (view->timestamp ? CLOCK_WIDTH : 0);
}

/* --- who asked --- */

struct asker {
	bool found;
	FILE *out;
	int indent;
};

/* The first function that is not of package runtime, or one below it */
static void print_asker(void *ctx, const struct frame *frame)
{
	struct asker *asker = ctx;

	if (asker->found || (!strncmp(frame->func, "runtime", strlen("runtime")) &&
			     strchr("./", frame->func[strlen("runtime")])))
		return;
	asker->found = true;
	fprintf(asker->out, "\n%*s  by ", asker->indent, "");
	frame_print(asker->out, frame);
}

static void print_stop(const struct collections_view *view, const struct stop *stop, bool asked)
{
	struct asker asker = {.out = stdout, .indent = stop_indent(view) + 8};
	char all[CELL], stopping[CELL];

	printf("%8s  %s, %s until all had stopped", time_cell(all, stop->ns),
	       stop->reason.words ? stop->reason.words : "unknown",
	       time_cell(stopping, stop->stopping_ns));
	if (asked)
		stacks_each(view->stacks, stop->stack, stop->bias, false, print_asker, &asker);
	putchar('\n');
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
	json_object_end(&json);
}

void collections_json_stop(const struct collections_view *view, const struct stop *stop)
{
	struct json json;

	json_begin(view, &json, "stw");
	json_member_u64(&json, "pid", stop->pid);
	json_stop_members(stop, &json);
	json_asker(view, stop, &json);
	json_object_end(&json);
}
