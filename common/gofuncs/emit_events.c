// SPDX-License-Identifier: Apache-2.0
/* Lines for tracefs's uprobe_events, and `perf probe` commands, which take the same arguments. */
#include <ctype.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "base/mem.h"
#include "elf/image.h"
#include "gofuncs/emit_args_internal.h"
#include "gofuncs/emit_internal.h"
#include "gofuncs/funclist_types_internal.h"
#include "machine/registers.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/selection.h"

enum { EVENT_LEN = 40 }; /* bytes of a function's name used in an event's; the kernel allows 63 */

struct event {
	unsigned next; /* the number to try where the name is taken */
	char *name;    /* in the same allocation */
};

static int compare_events(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static struct event *make_event(const char *prefix, const char *text, unsigned number)
{
	struct event *event = mem_alloc(sizeof(*event) + strlen(prefix) + strlen(text) + 16);

	event->next = 2;
	event->name = (char *)(event + 1);
	strcat(strcpy(event->name, prefix), text);
	if (number)
		sprintf(event->name + strlen(event->name), "_%u", number);
	return event;
}

/* Adds the event. false: its name is taken; it is freed, and *event is the one with that name. */
static bool keep_event(struct emitter *emitter, struct event **event)
{
	struct event *kept = *(struct event **)tsearch(*event, &emitter->events, compare_events);
	bool is_new = kept == *event;

	if (!is_new)
		free(*event);
	*event = kept;
	return is_new;
}

/* "main_T_Get" for main.(*T).Get, or main_T_Get_2 if that is taken. The emitter's. */
static const char *event_name(struct emitter *emitter, const struct selection_item *item)
{
	const char *name = emitter->sel->rows[item->row].name;
	struct event *event, *first;
	const char *prefix;
	char text[EVENT_LEN + 1];
	size_t len = 0, total = strlen(name);

	for (const char *c = name + (total > EVENT_LEN ? total - EVENT_LEN : 0); *c; c++)
		if (isalnum((unsigned char)*c) || (len && text[len - 1] != '_'))
			text[len++] = isalnum((unsigned char)*c) ? *c : '_';
	while (len && text[len - 1] == '_')
		len--;
	text[len] = 0;
	prefix = !len || isdigit((unsigned char)*text) ? "f" : "";
	event = make_event(prefix, text, 0);
	if (keep_event(emitter, &event))
		return event->name;
	first = event;
	do
		event = make_event(prefix, text, first->next++);
	while (!keep_event(emitter, &event));
	return event->name;
}

static enum arch arch_of(const struct selection_item *item)
{
	return image_arch(item->prog->img);
}

static void begin_event(const struct emitter *emitter, const struct selection_item *item,
			const struct site *site, const char *event, const char *suffix)
{
	if (emitter->tracer == EMIT_PERF)
		fprintf(emitter->out, "perf probe -f -x %s --add 'gotools:%s%s=0x%" PRIx64,
			emitter->path, event, suffix, emit_offset(item, site));
	else
		fprintf(emitter->out, "p:gotools/%s%s %s:0x%" PRIx64, event, suffix, emitter->path,
			emit_offset(item, site));
}

/* Only with g in a register: fetch arguments cannot read thread-local memory. */
static void print_goid(const struct emitter *emitter, const struct selection_item *item)
{
	if (emitter->has_goroutines && emitter->rt.g_in_register)
		fprintf(emitter->out, " goid=+%u(%%%s):u64", emitter->rt.g_goid,
			registers_g(arch_of(item))->name);
}

static void end_event(const struct emitter *emitter)
{
	fputs(emitter->tracer == EMIT_PERF ? "'\n" : "\n", emitter->out);
}

static void print_filter(const struct emitter *emitter, const struct selection_item *item,
			 const char *event)
{
	if (!emit_needs_flags(&item->sites.entry))
		return;
	fprintf(emitter->out, "# filter of %s: %s\n", event,
		arch_of(item) == ARCH_ARM64 ? "flags & 0x20000000 && !(flags & 0x40000000)"
					    : "!(flags & 0x41)");
}

static void event_entry(const struct emitter *emitter, const struct selection_item *item,
			const char *event, const struct gofunc *sig,
			const struct abi_layout *layout)
{
	const struct site *site = &item->sites.entry;

	print_filter(emitter, item, event);
	begin_event(emitter, item, site, event, "");
	if (emit_needs_flags(site))
		fprintf(emitter->out, " flags=%%%s:x64",
			arch_of(item) == ARCH_ARM64 ? "pstate" : "flags");
	print_goid(emitter, item);
	if (!item->is_copy && site->args_intact && sig->source != GOFUNC_NONE)
		emit_args(emitter->out, arch_of(item), sig->params, layout->params,
			  sig->param_count, site, "arg");
	end_event(emitter);
}

/* Exits with the same arguments share one event; at a jump there are no results yet. */
static void event_exits(const struct emitter *emitter, const struct selection_item *item,
			const char *event, const struct gofunc *sig,
			const struct abi_layout *layout)
{
	for (size_t i = 0; i < item->sites.exits; i++) {
		const struct site *site = &selection_exits(emitter->sel, item)[i];
		bool is_return = site->kind == SITE_RET;

		begin_event(emitter, item, site, event, is_return ? "_return" : "_end");
		print_goid(emitter, item);
		if (is_return && sig->source != GOFUNC_NONE)
			emit_args(emitter->out, arch_of(item), sig->results, layout->results,
				  sig->result_count, site, "ret");
		end_event(emitter);
	}
}

static void event_item(struct emitter *emitter, const struct selection_item *item)
{
	const char *event = event_name(emitter, item);
	struct abi_layout layout;
	struct functab_func fn;
	struct gofunc sig;

	if (!functab_func(item->prog->tab, item->func, &fn))
		return;
	funclist_types_find(emitter->types, &fn, &sig, &layout);
	event_entry(emitter, item, event, &sig, &layout);
	event_exits(emitter, item, event, &sig, &layout);
	abi_layout_free(&layout);
}

void emit_events(struct emitter *emitter)
{
	const struct selection_item *item;

	emit_warning(emitter);
	for (size_t i = 0; emit_next(emitter, &i, &item);) {
		const char *reason = emit_left_out(emitter, item);

		emit_comment(emitter, item, reason ? reason : item->skipped ? item->skipped : "");
		if (!reason)
			event_item(emitter, item);
	}
}
