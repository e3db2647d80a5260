// SPDX-License-Identifier: Apache-2.0
/* bpftrace scripts that print arguments and results, and skeletons of them to be filled in. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "elf/image.h"
#include "gofuncs/emit_leaf_internal.h"
#include "gofuncs/emit_internal.h"
#include "gofuncs/funclist_types_internal.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/selection.h"

/* Bytes that printed values may take of the BPF stack, which has 512; found by trial with bpftrace
 * 0.17. */
enum { STACK_MAX = 360, NUMBER_MAX = 48 };

struct call { /* the function whose blocks are being written */
	const struct emitter *emitter;
	const struct selection_item *item;
	struct gofunc sig;
	struct abi_layout layout;
};

/* --- parameters --- */

static void find_leaves(const struct call *call, const struct site *site, bool results,
			struct emit_leaves *out)
{
	const struct gofunc *sig = &call->sig;
	const struct goparam *params = results ? sig->results : sig->params;
	const struct abi_value *values = results ? call->layout.results : call->layout.params;
	size_t count = results ? sig->result_count : sig->param_count;
	const struct image *img = call->item->prog->img;
	struct emit_leaf_site at = {.arch = image_arch(img),
				    .sp_adjust = site->sp_adjust,
				    .addr = site->addr,
				    .is_pie = image_is_pie(img),
				    .type_names = call->emitter->type_names,
				    .prefix = results ? "ret" : "arg"};

	*out = (struct emit_leaves){0};
	for (size_t i = 0; i < count && sig->source != GOFUNC_NONE && !call->item->is_copy; i++) {
		at.value = &values[i];
		emit_leaf_param(out, &at, &params[i], i + 1);
	}
}

static void drop_if(struct emit_leaves *leaves, bool numbers, unsigned *used)
{
	for (size_t i = 0; i < leaves->count; i++) {
		struct emit_leaf *leaf = &leaves->items[i];

		if (leaf->lost || (leaf->stack <= NUMBER_MAX) != numbers)
			continue;
		if (*used + leaf->stack > STACK_MAX)
			leaf->lost = "bpftrace's stack has no room for more";
		else
			*used += leaf->stack;
	}
}

/* Drops values that bpftrace's stack has no room for: numbers have priority over texts. */
static void drop_surplus(struct emit_leaves *leaves)
{
	unsigned used = 0;

	drop_if(leaves, true, &used);
	drop_if(leaves, false, &used);
}

static void print_lost(FILE *out, const struct emit_leaves *leaves)
{
	for (size_t i = 0; i < leaves->count; i++) {
		const struct emit_leaf *leaf = &leaves->items[i];

		if (leaf->lost) {
			fputs("//   not printed: ", out);
			escape_comment(out, leaf->name);
			fputc(' ', out);
			escape_comment(out, leaf->type);
			fprintf(out, ": %s\n", leaf->lost);
		}
		if (leaf->is_guess && !leaf->lost) {
			fputs("//   a guess: ", out);
			escape_comment(out, leaf->name);
			fputc('\n', out);
		}
	}
}

/* --- blocks --- */

/* Sets $goid; on a system stack, that of the goroutine which the thread works for. */
static void print_goid(const struct emitter *emitter)
{
	const struct goruntime *rt = &emitter->rt;

	if (!emitter->has_goroutines) {
		fputs("\t$goid = 0; // not known\n", emitter->out);
		return;
	}
	emit_bpftrace_g(emitter);
	fprintf(emitter->out,
		"\t$goid = *(uint64 *)($g + %u);\n"
		"\tif ($goid == 0) { $goid = "
		"*(uint64 *)(*(uint64 *)(*(uint64 *)($g + %u) + %u) + %u); }\n",
		rt->g_goid, rt->g_m, rt->m_curg, rt->g_goid);
}

static void print_call_line(const struct call *call, const struct emit_leaves *leaves,
			    const char *open, const char *close)
{
	FILE *out = call->emitter->out;

	for (size_t i = 0; i < leaves->count; i++)
		if (!leaves->items[i].lost)
			fputs(leaves->items[i].setup, out);
	fputs("\tprintf(\"%-7d %-7d %-7lld ", out);
	escape_format(out, call->emitter->sel->rows[call->item->row].name);
	fputs(open, out);
	for (size_t i = 0; i < leaves->count; i++) {
		const struct emit_leaf *leaf = &leaves->items[i];

		fputs(i ? ", " : "", out);
		escape_format(out, leaf->name);
		fprintf(out, "%s=%s", leaf->is_guess ? "?" : "", leaf->lost ? "?" : leaf->format);
	}
	fprintf(out, "%s\\n\", pid, tid, $goid", close);
	for (size_t i = 0; i < leaves->count; i++)
		if (!leaves->items[i].lost)
			fprintf(out, ",\n\t\t%s", leaves->items[i].args);
	fputs(");\n", out);
}

/* Prints, as comments, what the user may want to use in the block. */
static void print_choice(const struct call *call, const struct emit_leaves *leaves)
{
	FILE *out = call->emitter->out;

	for (size_t i = 0; i < leaves->count; i++) {
		const struct emit_leaf *leaf = &leaves->items[i];

		fputs("\t// ", out);
		escape_comment(out, leaf->name);
		fputc(' ', out);
		escape_comment(out, leaf->type);
		fprintf(out, "%s: %s\n", leaf->is_guess ? " (a guess)" : "",
			leaf->lost ? leaf->lost : leaf->args);
		for (const char *c = leaf->lost ? "" : leaf->setup; *c; c += strcspn(c, "\n") + 1)
			fprintf(out, "\t//   %.*s\n", (int)strcspn(c, "\n") - 1, c + 1);
	}
}

static void print_body(const struct call *call, struct emit_leaves *leaves, const char *open,
		       const char *close)
{
	fputs("\n{\n", call->emitter->out);
	print_goid(call->emitter);
	if (call->emitter->tracer == EMIT_SKELETON)
		print_choice(call, leaves);
	else
		print_call_line(call, leaves, open, close);
	fputs("}\n", call->emitter->out);
}

static void print_entry(const struct call *call)
{
	const struct site *site = &call->item->sites.entry;
	bool is_skeleton = call->emitter->tracer == EMIT_SKELETON;
	struct emit_leaves leaves = {0};

	if (site->args_intact)
		find_leaves(call, site, false, &leaves);
	if (!is_skeleton) {
		drop_surplus(&leaves);
		print_lost(call->emitter->out, &leaves);
	}
	emit_bpftrace_place(call->emitter, call->item, site);
	emit_bpftrace_filter(call->emitter, site);
	print_body(call, &leaves, "(", ")");
	emit_leaves_free(&leaves);
}

/* Can two exits share a block, because results are read in the same way at both? Registers are, but
 * not what is found relative to the stack or instruction pointer. */
static bool same_block(const struct call *call, const struct site *a, const struct site *b)
{
	return !image_is_pie(call->item->prog->img) && a->sp_adjust == b->sp_adjust &&
	       (a->kind == SITE_RET) == (b->kind == SITE_RET);
}

static void print_end(const struct call *call, const struct site *site)
{
	bool is_return = site->kind == SITE_RET || call->item->is_copy;
	struct emit_leaves leaves = {0};

	if (site->kind == SITE_RET)
		find_leaves(call, site, true, &leaves);
	if (call->emitter->tracer != EMIT_SKELETON)
		drop_surplus(&leaves);
	print_body(call, &leaves,
		   !is_return     ? " goes on in another function"
		   : leaves.count ? " returned "
				  : " returned",
		   "");
	emit_leaves_free(&leaves);
}

static void print_ends(const struct call *call)
{
	const struct emitter *emitter = call->emitter;
	const struct site *exits = selection_exits(emitter->sel, call->item);

	for (size_t i = 0; i < call->item->sites.exits; i++) {
		bool is_last = i + 1 == call->item->sites.exits ||
			       !same_block(call, &exits[i], &exits[i + 1]);

		emit_bpftrace_place(emitter, call->item, &exits[i]);
		if (is_last)
			print_end(call, &exits[i]);
		else
			fputs(",\n", emitter->out);
	}
}

/* --- all --- */

static void print_call(const struct emitter *emitter, const struct selection_item *item)
{
	struct call call = {.emitter = emitter, .item = item};
	struct functab_func fn;

	if (!functab_func(item->prog->tab, item->func, &fn))
		return;
	funclist_types_find(emitter->types, &fn, &call.sig, &call.layout);
	print_entry(&call);
	print_ends(&call);
	abi_layout_free(&call.layout);
}

static const char *what_is_missing(const struct selection_item *item)
{
	if (item->skipped)
		return item->skipped;
	if (item->is_copy)
		return "inlined: without its arguments";
	return item->sites.entry.args_intact ? "" : "its arguments are gone where it can be probed";
}

void emit_calls(const struct emitter *emitter)
{
	bool is_skeleton = emitter->tracer == EMIT_SKELETON;
	const struct selection_item *item;

	emit_bpftrace_head(emitter, is_skeleton ? "A skeleton" : "Prints calls");
	fputs(is_skeleton ? "// In each block: what can be read there.\n"
			  : "// Strings end where bpftrace's do, after 63 bytes; their length is "
			    "told. More with\n"
			    "// BPFTRACE_STRLEN, up to 200, where few are printed at once.\n"
			    "BEGIN { printf(\"%-7s %-7s %-7s %s\\n\", \"PID\", \"TID\", \"GOID\", "
			    "\"CALL\"); }\n",
	      emitter->out);
	for (size_t i = 0; emit_next(emitter, &i, &item);) {
		const char *reason = emit_left_out(emitter, item);

		fputc('\n', emitter->out);
		emit_comment(emitter, item, reason ? reason : what_is_missing(item));
		if (!reason)
			print_call(emitter, item);
	}
}
