// SPDX-License-Identifier: Apache-2.0
#include "gotree/hotcalls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "selection/selection.h"

enum { SAID_MAX = 5 };
#define SECOND_NS UINT64_C(1000000000)

struct hotcall {
	char *name;
	uint64_t rate; /* calls a second */
};

struct hotcalls { /* most calls first */
	struct hotcall *items;
	size_t count;
};

static int by_rate(const void *a, const void *b)
{
	const struct hotcall *x = a, *y = b;

	return (x->rate < y->rate) - (x->rate > y->rate);
}

static uint64_t rate_of(uint64_t calls, uint64_t took_ns)
{
	return took_ns ? (double)calls * SECOND_NS / took_ns : 0;
}

struct hotcalls *hotcalls_new(const struct selection *sel, size_t first, const uint64_t *counts,
			      uint64_t took_ns, uint64_t budget)
{
	struct hotcalls *hot = mem_zalloc(1, sizeof(*hot));
	uint64_t all = 0;
	size_t count = 0;

	hot->items = mem_zalloc(sel->row_count, sizeof(*hot->items));
	for (size_t row = 0; row < sel->row_count; row++) {
		uint64_t rate = rate_of(counts[row], took_ns);

		all += rate;
		if (row >= first && rate)
			hot->items[count++] = (struct hotcall){(char *)sel->rows[row].name, rate};
	}
	qsort(hot->items, count, sizeof(*hot->items), by_rate);
	while (all > budget && hot->count < count) {
		struct hotcall *item = &hot->items[hot->count++];

		all -= item->rate;
		item->name = mem_strdup(item->name); /* the selection goes */
	}
	return hot;
}

void hotcalls_free(struct hotcalls *hot)
{
	if (!hot)
		return;
	for (size_t i = 0; i < hot->count; i++)
		free(hot->items[i].name);
	free(hot->items);
	free(hot);
}

static bool is_hot(const struct hotcalls *hot, const char *name)
{
	for (size_t i = 0; i < hot->count; i++)
		if (!strcmp(hot->items[i].name, name))
			return true;
	return false;
}

void hotcalls_skip(const struct hotcalls *hot, struct selection *sel, size_t first)
{
	for (size_t i = 0; i < sel->item_count; i++) {
		struct selection_item *item = &sel->items[i];

		if (item->row >= first && is_hot(hot, sel->rows[item->row].name))
			selection_skip(sel, item, "called too often");
	}
}

void hotcalls_say(FILE *out, const struct hotcalls *hot, const char *tool)
{
	if (!hot->count)
		return;
	fprintf(out, "%s: %zu function%s called too often, and left out: ", tool, hot->count,
		hot->count == 1 ? " is" : "s are");
	for (size_t i = 0; i < hot->count && i < SAID_MAX; i++) {
		fputs(i ? ", " : "", out);
		escape_print(out, hot->items[i].name);
		fprintf(out, " (%" PRIu64 " calls a second)", hot->items[i].rate);
	}
	if (hot->count > SAID_MAX)
		fprintf(out, " and %zu more", hot->count - SAID_MAX);
	fputs("\nhint: name the functions that you want, after ROOT: none of these is left out\n",
	      out);
}
