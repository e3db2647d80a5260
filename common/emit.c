// SPDX-License-Identifier: Apache-2.0
#include "emit.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "emit_args.h"
#include "emit_spans.h"
#include "errmsg.h"
#include "funclist_types.h"
#include "image.h"
#include "mem.h"
#include "pclntab.h"
#include "program.h"
#include "selection.h"

enum {
	EVENT_LEN = 40, /* bytes of a name that become an event's; the kernel takes 63 */
	KEY_LEN = 48,   /* and a key's; bpftrace takes 63 */
	X86_CF_ZF = 0x41,
	BPFTRACE_PROBES = 512, /* at most, unless told otherwise */
};

struct emitter {
	FILE *out;
	const struct selection *sel;
	enum emit_tracer tracer;
	const char *path;
	struct funclist_types *types;
	void *events; /* tsearch: names that are taken */
	struct emit_spans symbols;
};

bool emit_parse(const char *name, enum emit_tracer *out)
{
	static const char *const names[] = {"", "bpftrace", "uprobe_events", "perf"};

	for (int i = EMIT_BPFTRACE; i <= EMIT_PERF; i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		*out = i;
		return true;
	}
	return false;
}

/* The comment before the probes of a function: its name, on one line whatever is in it. */
static void print_comment(const struct emitter *emitter, const char *name, const char *more)
{
	fputs(emitter->tracer == EMIT_BPFTRACE ? "// " : "# ", emitter->out);
	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		fputc(*c < ' ' || *c == 0x7f ? '?' : *c, emitter->out);
	fprintf(emitter->out, "%s%s\n", *more ? ": " : "", more);
}

static uint64_t offset_of(const struct selection_item *item, const struct site *site)
{
	uint64_t off = 0;

	image_addr_to_off(item->prog->img, site->addr, &off);
	return off;
}

/* The probe is on the stack check's branch: only hits that do not take it are calls. */
static bool needs_flags(const struct site *site)
{
	return site->kind == SITE_CHECK_BRANCH;
}

/* --- bpftrace --- */

/* What is printed for a function: its name, or its number and what fits of its end. */
static void print_key(const struct emitter *emitter, const struct selection_item *item)
{
	const char *name = emitter->sel->rows[item->row].name;
	size_t len = strlen(name), from = len > KEY_LEN ? len - KEY_LEN : 0;

	fputc('"', emitter->out);
	if (from)
		fprintf(emitter->out, "%u:...", item->row);
	for (const char *c = name + from; *c; c++)
		fputc(isprint((unsigned char)*c) && !strchr("\"\\", *c) ? *c : '?', emitter->out);
	fputc('"', emitter->out);
}

static void print_place(const struct emitter *emitter, const struct selection_item *item,
			const struct site *site)
{
	uint64_t off = offset_of(item, site);
	/* what lies in a symbol it takes as an address, all else as an offset */
	bool mistaken = emit_spans_cover(&emitter->symbols, off);

	fprintf(emitter->out, "uprobe:%s:0x%" PRIx64, emitter->path, mistaken ? site->addr : off);
}

static void bpftrace_item(const struct emitter *emitter, const struct selection_item *item)
{
	const struct site *exits = &emitter->sel->exits.items[item->first_exit];

	print_place(emitter, item, &item->entry);
	if (needs_flags(&item->entry))
		fprintf(emitter->out, " /(reg(\"flags\") & 0x%x) == 0/", X86_CF_ZF);
	fputs(" { @calls[", emitter->out);
	print_key(emitter, item);
	fputs("] = count(); }\n", emitter->out);
	for (size_t i = 0; i < item->exits; i++) {
		print_place(emitter, item, &exits[i]);
		if (i + 1 < item->exits) {
			fputs(",\n", emitter->out);
			continue;
		}
		fputs(" { @returns[", emitter->out);
		print_key(emitter, item);
		fputs("] = count(); }\n", emitter->out);
	}
}

/* --- uprobe_events, perf --- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* main.(*T).Get: main_T_Get, or where that is taken main_T_Get_2. Caller frees nothing. */
static const char *event_name(struct emitter *emitter, const struct selection_item *item)
{
	const char *name = emitter->sel->rows[item->row].name;
	char text[EVENT_LEN + 1], *event;
	size_t len = 0, total = strlen(name);

	for (const char *c = name + (total > EVENT_LEN ? total - EVENT_LEN : 0); *c; c++)
		if (isalnum((unsigned char)*c) || (len && text[len - 1] != '_'))
			text[len++] = isalnum((unsigned char)*c) ? *c : '_';
	while (len && text[len - 1] == '_')
		len--;
	text[len] = 0;
	event = mem_printf("%s%s", !len || isdigit((unsigned char)*text) ? "f" : "", text);
	for (unsigned n = 2; *(char **)tsearch(event, &emitter->events, compare_names) != event;
	     n++) {
		free(event);
		event = mem_printf("f%s_%u", text, n);
	}
	return event;
}

static void begin_event(const struct emitter *emitter, const struct selection_item *item,
			const struct site *site, const char *event, const char *suffix)
{
	if (emitter->tracer == EMIT_PERF)
		fprintf(emitter->out, "perf probe -f -x %s --add 'gotools:%s%s=0x%" PRIx64,
			emitter->path, event, suffix, offset_of(item, site));
	else
		fprintf(emitter->out, "p:gotools/%s%s %s:0x%" PRIx64, event, suffix, emitter->path,
			offset_of(item, site));
}

static void end_event(const struct emitter *emitter)
{
	fputs(emitter->tracer == EMIT_PERF ? "'\n" : "\n", emitter->out);
}

static void event_entry(const struct emitter *emitter, const struct selection_item *item,
			const char *event, const struct gofunc *sig,
			const struct abi_layout *layout)
{
	const struct site *site = &item->entry;

	if (needs_flags(site))
		fprintf(emitter->out, "# filter of %s: !(flags & 0x%x)\n", event, X86_CF_ZF);
	begin_event(emitter, item, site, event, "");
	if (needs_flags(site))
		fputs(" flags=%flags:x64", emitter->out);
	if (!item->is_copy && site->args_intact && sig->source != GOFUNC_NONE)
		emit_args(emitter->out, image_arch(item->prog->img), sig->params, layout->params,
			  sig->param_count, site, "arg");
	end_event(emitter);
}

/* Those of the same name and arguments are one event; a jump has no results yet. */
static void event_exits(const struct emitter *emitter, const struct selection_item *item,
			const char *event, const struct gofunc *sig,
			const struct abi_layout *layout)
{
	for (size_t i = 0; i < item->exits; i++) {
		const struct site *site = &emitter->sel->exits.items[item->first_exit + i];
		bool is_return = site->kind == SITE_RET;

		begin_event(emitter, item, site, event, is_return ? "_return" : "_end");
		if (is_return && sig->source != GOFUNC_NONE)
			emit_args(emitter->out, image_arch(item->prog->img), sig->results,
				  layout->results, sig->result_count, site, "ret");
		end_event(emitter);
	}
}

static void event_item(struct emitter *emitter, const struct selection_item *item)
{
	const char *event = event_name(emitter, item);
	struct abi_layout layout;
	struct pclntab_func fn;
	struct gofunc sig;

	if (!pclntab_func(item->prog->tab, item->func, &fn))
		return;
	funclist_types_find(emitter->types, &fn, &sig, &layout);
	event_entry(emitter, item, event, &sig, &layout);
	event_exits(emitter, item, event, &sig, &layout);
	abi_layout_free(&layout);
}

/* --- all --- */

/* Other tracers read paths as words of a command or of a list. */
static int check_path(const char *path, struct errmsg *err)
{
	for (const char *c = path; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("/._+-@", *c))
			return errmsg_set(err, "\"%s\": no other tracer is given such a path",
					  path);
	return 0;
}

/* An offset that bpftrace would take as the address of something else, where it would not take the
 * address as such either. */
static bool is_ambiguous(const struct emitter *emitter, const struct selection_item *item,
			 const struct site *site)
{
	return emit_spans_cover(&emitter->symbols, offset_of(item, site)) &&
	       !emit_spans_cover(&emitter->symbols, site->addr);
}

static const char *reason_of(const struct emitter *emitter, const struct selection_item *item)
{
	bool ambiguous = item->entry.addr && is_ambiguous(emitter, item, &item->entry);

	for (size_t i = 0; i < item->exits; i++)
		ambiguous |= is_ambiguous(emitter, item,
					  &emitter->sel->exits.items[item->first_exit + i]);
	if (emitter->tracer == EMIT_BPFTRACE && ambiguous)
		return "left out, its offsets are addresses of other symbols";
	return item->entry.addr ? NULL : item->skipped ? item->skipped : "no place to probe";
}

static void print_item(struct emitter *emitter, const struct selection_item *item)
{
	const char *name = emitter->sel->rows[item->row].name;

	const char *reason = reason_of(emitter, item);

	print_comment(emitter, name, reason ? reason : item->skipped ? item->skipped : "");
	if (reason)
		return;
	if (emitter->tracer == EMIT_BPFTRACE)
		bpftrace_item(emitter, item);
	else
		event_item(emitter, item);
}

/* bpftrace has to be told that a script has more probes than usual. */
static void print_how(const struct emitter *emitter)
{
	size_t probes = emitter->sel->exits.count;

	for (size_t i = 0; i < emitter->sel->item_count; i++)
		probes += emitter->sel->items[i].entry.addr != 0;
	fputs("// Run it with: ", emitter->out);
	if (probes > BPFTRACE_PROBES)
		fprintf(emitter->out, "BPFTRACE_MAX_PROBES=%zu ", probes);
	fputs("bpftrace --unsafe FILE\n", emitter->out);
}

static void print_items(struct emitter *emitter, bool functions_only)
{
	if (emitter->tracer == EMIT_BPFTRACE)
		print_how(emitter);
	for (size_t i = 0; i < emitter->sel->item_count; i++)
		if (!functions_only || !emitter->sel->items[i].is_copy)
			print_item(emitter, &emitter->sel->items[i]);
}

int emit_print(FILE *out, const struct selection *sel, enum emit_tracer tracer, bool functions_only,
	       struct errmsg *err)
{
	struct emitter emitter = {.out = out, .sel = sel, .tracer = tracer};

	if (!sel->item_count)
		return 0;
	const struct program *prog = sel->items[0].prog;
	bool of_process = !strncmp(prog->path, "/proc/", 6);
	char *path = of_process ? mem_strdup(prog->path) : realpath(prog->path, NULL);

	if (!path)
		return errmsg_set(err, "%s: %m", prog->path);
	int ret = check_path(path, err);

	if (!ret) {
		emitter.path = path;
		emitter.types = funclist_types_new(prog);
		emit_spans_read(prog->img, &emitter.symbols);
		print_items(&emitter, functions_only);
		funclist_types_free(emitter.types);
		emit_spans_free(&emitter.symbols);
		tdestroy(emitter.events, free);
	}
	free(path);
	return ret;
}
