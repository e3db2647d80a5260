// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/column.h"
#include "base/escape.h"
#include "base/json.h"
#include "runq/slow_wait_internal.h"
#include "tracing/toolrun.h"

enum { SHOWN = 3, NS_PER_S = 1000000000, US = 1000 };

void slow_wait_print_head(void)
{
	puts("TIME     COMM             PID     GOID     WAIT(us) FUNC: RAN(us)");
}

/* When the wait ended, on the clock on the wall */
static void print_time(uint64_t time_ns)
{
	time_t at = time(NULL) - (time_t)((clock_ns() - time_ns) / NS_PER_S);
	char text[16];
	struct tm tm;

	localtime_r(&at, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	fputs(text, stdout);
}

static void print_comm(const char comm[16])
{
	char text[17] = {0}, *safe;

	memcpy(text, comm, 16);
	safe = escape_text(text);
	column_print(stdout, safe, 16);
	free(safe);
}

static void print_func(const char *name)
{
	if (name)
		escape_print(stdout, name);
	else
		putchar('?');
}

static void print_ran(const struct slow_wait *wait, slow_wait_name *name, void *ctx)
{
	uint64_t others = 0;

	for (size_t i = 0; i < wait->count; i++) {
		const struct slow_ran *ran = &wait->ran[i];

		if (i >= SHOWN) {
			others += ran->ns;
			continue;
		}
		fputs(i ? ", " : " ", stdout);
		print_func(name(ctx, ran->start));
		printf("[%" PRIu64 "] %" PRIu64, ran->goid, ran->ns / US);
	}
	if (wait->count > SHOWN)
		printf(", %zu other%s %" PRIu64, wait->count - SHOWN,
		       wait->count == SHOWN + 1 ? "" : "s", others / US);
	if (!wait->count && !wait->cut_ns)
		fputs(" nobody", stdout);
	if (wait->cut_ns)
		printf("%s not known %" PRIu64, wait->count ? "," : "", wait->cut_ns / US);
}

void slow_wait_print(const struct runq_slow *event, const struct slow_wait *wait,
		     slow_wait_name *name, void *ctx)
{
	print_time(event->time_ns);
	putchar(' ');
	print_comm(event->comm);
	printf(" %-7u %-8" PRIu64 " %8" PRIu64 " ", event->pid, (uint64_t)event->goid,
	       (uint64_t)event->wait_ns / US);
	print_func(name(ctx, event->start));
	putchar(':');
	print_ran(wait, name, ctx);
	putchar('\n');
}

static void json_ran(struct json *json, const struct slow_wait *wait, slow_wait_name *name,
		     void *ctx)
{
	json_key(json, "ran");
	json_array(json);
	for (size_t i = 0; i < wait->count; i++) {
		const struct slow_ran *ran = &wait->ran[i];

		json_object(json);
		json_member_u64(json, "goid", ran->goid);
		json_member_string(json, "func", name(ctx, ran->start));
		json_member_u64(json, "ns", ran->ns);
		json_object_end(json);
	}
	json_array_end(json);
}

void slow_wait_json(const struct runq_slow *event, const struct slow_wait *wait, bool timestamp,
		    slow_wait_name *name, void *ctx)
{
	char comm[17] = {0};
	struct json json;

	memcpy(comm, event->comm, 16);
	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", "runqslower");
	if (timestamp)
		toolrun_json_time(&json);
	json_member_u64(&json, "goid", event->goid);
	json_member_string(&json, "func", name(ctx, event->start));
	json_member_u64(&json, "ns", event->wait_ns);
	json_ran(&json, wait, name, ctx);
	json_member_u64(&json, "cut_ns", wait->cut_ns);
	json_member_u64(&json, "pid", event->pid);
	json_member_u64(&json, "tid", event->tid);
	json_member_u64(&json, "cpu", event->cpu);
	json_member_string(&json, "comm", comm);
	json_object_end(&json);
}
