// SPDX-License-Identifier: Apache-2.0
/* Scripts for bpftrace. As of 0.17, it accepts file offsets in place of names only with --unsafe,
 * as it does not know whether an instruction begins there. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "elf/image.h"
#include "gofuncs/emit_internal.h"
#include "machine/registers.h"
#include "program/program.h"
#include "selection/selection.h"

enum {
	KEY_LEN = 48, /* bytes of a name used in a key; bpftrace allows 63 */
	X86_CF_ZF = 0x41,
	/* at most, unless told otherwise */
	PROBES_MAX = 512,
	KEYS_MAX = 4096,
	OWN_PROBES = 8, /* BEGIN, END, the runtime's hooks */
	LATENCY_KEYS = 65536,
};

struct totals {
	size_t items, probes, in_symbols;
};

static bool in_symbol(const struct emitter *emitter, const struct selection_item *item,
		      const struct site *site)
{
	return emit_spans_cover(&emitter->symbols, emit_offset(item, site));
}

static struct totals count(const struct emitter *emitter)
{
	const struct selection_item *item;
	struct totals all = {0};

	for (size_t i = 0; emit_next(emitter, &i, &item);) {
		if (emit_left_out(emitter, item))
			continue;
		all.items++;
		all.probes += 1 + item->sites.exits;
		all.in_symbols += in_symbol(emitter, item, &item->sites.entry);
		for (size_t j = 0; j < item->sites.exits; j++)
			all.in_symbols +=
				in_symbol(emitter, item, &selection_exits(emitter->sel, item)[j]);
	}
	return all;
}

void emit_bpftrace_head(const struct emitter *emitter, const char *what)
{
	FILE *out = emitter->out;
	struct totals all = count(emitter);
	size_t probes = all.probes + OWN_PROBES, keys = all.items * 2;

	if (emitter->tracer == EMIT_LATENCY && keys < LATENCY_KEYS)
		keys = LATENCY_KEYS;
	fputs("// Run it with: ", out);
	if (probes > PROBES_MAX)
		fprintf(out, "BPFTRACE_MAX_PROBES=%zu BPFTRACE_MAX_BPF_PROGS=%zu ", probes, probes);
	if (keys > KEYS_MAX)
		fprintf(out, "BPFTRACE_MAP_KEYS_MAX=%zu ", keys);
	fputs("bpftrace --unsafe FILE\n", out);
	fprintf(out, "// %s: %zu function%s, %zu probes, in\n// %s\n", what, all.items,
		all.items == 1 ? "" : "s", all.probes, emitter->path);
	if (all.in_symbols)
		fprintf(out,
			"// %zu of them are in symbols: that takes a bpftrace that was built with\n"
			"// libbfd (\"bpftrace --info\" says so), or a stripped program.\n",
			all.in_symbols);
	emit_warning(emitter);
}

void emit_bpftrace_key(const struct emitter *emitter, const struct selection_item *item)
{
	const char *name = emitter->sel->rows[item->row].name;
	size_t len = strlen(name), from = len > KEY_LEN ? len - KEY_LEN : 0;

	while (from && (name[from] & 0xc0) == 0x80)
		from++; /* do not cut a UTF-8 character */
	fputc('"', emitter->out);
	if (from || !escape_is_literal(name))
		fprintf(emitter->out, "%u:%s", item->row, from ? "..." : "");
	escape_literal(emitter->out, name + from);
	fputc('"', emitter->out);
}

void emit_bpftrace_place(const struct emitter *emitter, const struct selection_item *item,
			 const struct site *site)
{
	uint64_t off = emit_offset(item, site);
	/* bpftrace takes a number within a symbol as an address, any other as an offset */
	bool mistaken = in_symbol(emitter, item, site);

	fprintf(emitter->out, "uprobe:%s:0x%" PRIx64, emitter->path, mistaken ? site->addr : off);
}

void emit_bpftrace_line(const struct emitter *emitter, const struct selection_item *item,
			const struct site *site, const char *before_name)
{
	emit_bpftrace_place(emitter, item, site);
	fputs(before_name, emitter->out);
	escape_comment(emitter->out, emitter->sel->rows[item->row].name);
	fputc('\n', emitter->out);
}

void emit_bpftrace_filter(const struct emitter *emitter, const struct site *site)
{
	if (!emit_needs_flags(site))
		return;
	if (image_arch(emitter->sel->items[0].prog->img) == ARCH_ARM64)
		fputs(" /(reg(\"pstate\") & 0x60000000) == 0x20000000/", emitter->out);
	else
		fprintf(emitter->out, " /(reg(\"flags\") & 0x%x) == 0/", X86_CF_ZF);
}

void emit_bpftrace_g(const struct emitter *emitter)
{
	const struct goruntime *rt = &emitter->rt;
	enum arch arch = image_arch(emitter->sel->items[0].prog->img);

	if (rt->g_in_register) /* bpftrace calls x28 r28 */
		fprintf(emitter->out, "\t$g = reg(\"r%s\");\n", registers_g(arch)->name + 1);
	else
		fprintf(emitter->out, "\t$g = *(uint64 *)uptr(curtask->thread.fsbase %c %d);\n",
			rt->tls_g < 0 ? '-' : '+', rt->tls_g < 0 ? -rt->tls_g : rt->tls_g);
}

/* --- counting --- */

static void print_count(const struct emitter *emitter, const struct selection_item *item,
			const char *map)
{
	fprintf(emitter->out, " { @%s[", map);
	emit_bpftrace_key(emitter, item);
	fputs("] = count(); }\n", emitter->out);
}

static void count_item(const struct emitter *emitter, const struct selection_item *item)
{
	const struct site *exits = selection_exits(emitter->sel, item);

	emit_bpftrace_place(emitter, item, &item->sites.entry);
	emit_bpftrace_filter(emitter, &item->sites.entry);
	print_count(emitter, item, "calls");
	for (size_t i = 0; i < item->sites.exits; i++) {
		emit_bpftrace_place(emitter, item, &exits[i]);
		if (i + 1 < item->sites.exits)
			fputs(",\n", emitter->out);
		else
			print_count(emitter, item, "returns");
	}
}

void emit_bpftrace_count(const struct emitter *emitter)
{
	const struct selection_item *item;

	emit_bpftrace_head(emitter, "Counts calls and returns");
	for (size_t i = 0; emit_next(emitter, &i, &item);) {
		const char *reason = emit_left_out(emitter, item);

		emit_comment(emitter, item, reason ? reason : item->skipped ? item->skipped : "");
		if (!reason)
			count_item(emitter, item);
	}
}
