// SPDX-License-Identifier: Apache-2.0
/* A bpftrace script that times calls as gofunclatency.bpf.c does: each goroutine has a stack of
 * calls. All functions share a few blocks, which look up the function by the address of its entry
 * site. In a position-independent program only the offset within a page is known beforehand: there,
 * functions with equal offsets are in different blocks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/image.h"
#include "gofuncs/emit_internal.h"
#include "program/program.h"
#include "selection/selection.h"

enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS };
enum { MANY = 200 };     /* functions; bpftrace takes time by the square of the names in BEGIN */
enum { DEAD_MAX = 256 }; /* calls that one hit removes; the verifier walks each iteration */

struct entry {
	const struct selection_item *item;
	const struct site *site;
	uint64_t group; /* of functions whose keys differ: they share a block */
};

struct entries {
	struct entry *items;
	size_t count, cap;
};

/* --- what is to be written --- */

static void add_entry(struct entries *to, const struct selection_item *item,
		      const struct site *site)
{
	to->items = mem_grow(to->items, to->count, &to->cap, sizeof(*to->items));
	to->items[to->count++] = (struct entry){item, site, 0};
}

/* Collects the sites of functions; inlined copies have blocks of their own. */
static void collect(const struct emitter *emitter, struct entries *begins, struct entries *ends)
{
	const struct selection_item *item;

	for (size_t i = 0; emit_next(emitter, &i, &item);) {
		if (item->is_copy || emit_left_out(emitter, item))
			continue;
		add_entry(begins, item, &item->sites.entry);
		for (size_t j = 0; j < item->sites.exits; j++)
			add_entry(ends, item, &selection_exits(emitter->sel, item)[j]);
	}
}

static int by_place_in_page(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	uint64_t left = x->site->addr % PAGE, right = y->site->addr % PAGE;

	if (left == right)
		return (x->site->addr > y->site->addr) - (x->site->addr < y->site->addr);
	return left < right ? -1 : 1;
}

static int by_block(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int left[] = {emit_needs_flags(x->site), x->site->sp_adjust, (int)x->group};
	int right[] = {emit_needs_flags(y->site), y->site->sp_adjust, (int)y->group};

	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return (x->site->addr > y->site->addr) - (x->site->addr < y->site->addr);
}

static bool same_block(const struct entry *a, const struct entry *b)
{
	return emit_needs_flags(a->site) == emit_needs_flags(b->site) &&
	       a->site->sp_adjust == b->site->sp_adjust && a->group == b->group;
}

static void make_groups(struct entries *begins)
{
	qsort(begins->items, begins->count, sizeof(*begins->items), by_place_in_page);
	for (size_t i = 0; i < begins->count; i++) {
		struct entry *entry = &begins->items[i];
		bool same = i && !((entry[-1].site->addr ^ entry->site->addr) % PAGE);

		entry->group = same ? entry[-1].group + 1 : 1;
	}
}

static void sort(struct entries *entries)
{
	if (entries->count)
		qsort(entries->items, entries->count, sizeof(*entries->items), by_block);
}

/* --- parts of blocks --- */

static bool is_pie(const struct emitter *emitter)
{
	return image_is_pie(emitter->sel->items[0].prog->img);
}

/* The key by which an entry's block finds the function's name. */
static uint64_t key_of(const struct emitter *emitter, const struct entry *entry)
{
	return is_pie(emitter) ? entry->group << PAGE_BITS | entry->site->addr % PAGE
			       : entry->site->addr;
}

/* Larger than any function's key. */
static uint64_t key_of_copy(const struct emitter *emitter, const struct selection_item *item)
{
	return (UINT64_C(1) << 40) + (uint64_t)(item - emitter->sel->items);
}

static void print_name(const struct emitter *emitter, uint64_t key,
		       const struct selection_item *item)
{
	fprintf(emitter->out, "\t@name[0x%" PRIx64 "] = ", key);
	emit_bpftrace_key(emitter, item);
	fputs(";\n", emitter->out);
}

/* Prints the names into one map; histograms' keys are its values: with strings of several sizes as
 * keys, bpftrace 0.17 writes programs that the verifier refuses. */
static void print_names(const struct emitter *emitter, const struct entries *begins)
{
	const struct selection_item *item;

	fputs("BEGIN\n{\n", emitter->out);
	for (size_t i = 0; i < begins->count; i++)
		print_name(emitter, key_of(emitter, &begins->items[i]), begins->items[i].item);
	for (size_t i = 0; emit_next(emitter, &i, &item);)
		if (item->is_copy && !emit_left_out(emitter, item))
			print_name(emitter, key_of_copy(emitter, item), item);
	fputs("\tprintf(\"Tracing. Hit Ctrl-C to end.\\n\");\n}\n", emitter->out);
}

/* Sets $id: the goroutine; on a system stack, which belongs to no goroutine, the thread's g. */
static void print_goroutine(const struct emitter *emitter)
{
	emit_bpftrace_g(emitter);
	fprintf(emitter->out,
		"\t$goid = *(uint64 *)($g + %u);\n"
		"\t$id = $goid ? $goid : $g;\n",
		emitter->rt.g_goid);
}

/* Sets $depth: how deep in its stack the call began. A copy is at least 1 deeper than the function
 * that contains it. */
static void print_depth(const struct emitter *emitter, const struct selection_item *item,
			const struct site *site)
{
	fprintf(emitter->out, "\t$depth = ($goid ? *(uint64 *)($g + %u) : 0) - reg(\"sp\")",
		emitter->rt.g_stack_hi);
	if (site->sp_adjust)
		fprintf(emitter->out, " %c %d", site->sp_adjust < 0 ? '+' : '-',
			abs(site->sp_adjust));
	fputs(item->is_copy ? " + 1;\n" : ";\n", emitter->out);
}

/* Removes calls that are over though they did not return, as what runs now shows: `alive` is the
 * condition on the depth of a call that is certainly not over. */
static void print_clear(const struct emitter *emitter, const char *alive)
{
	fprintf(emitter->out,
		"\t$n = @open[pid, $id];\n"
		"\t$i = 0;\n"
		"\twhile ($i < %d) {\n"
		"\t\tif ($n == 0 || @call[pid, $id, $n].0 %s) { break; }\n"
		"\t\tdelete(@call[pid, $id, $n]);\n"
		"\t\t$n = $n - 1;\n"
		"\t\t$i = $i + 1;\n"
		"\t}\n",
		DEAD_MAX, alive);
}

static void print_push(const struct emitter *emitter)
{
	fputs("\t$n = $n + 1;\n"
	      "\t@call[pid, $id, $n] = ($depth, $f, nsecs);\n"
	      "\tif (@call[pid, $id, $n].0 == $depth) { @open[pid, $id] = $n; }\n"
	      "\telse { @lost = count(); }\n",
	      emitter->out);
}

static void print_keep(const struct emitter *emitter)
{
	fputs("\tif ($n) { @open[pid, $id] = $n; } else { delete(@open[pid, $id]); }\n}\n",
	      emitter->out);
}

/* --- blocks --- */

static void begin_block(const struct emitter *emitter, const struct entry *block)
{
	emit_bpftrace_filter(emitter, block->site);
	fputs(emit_needs_flags(block->site) ? "\n{\n" : "{\n", emitter->out);
	print_goroutine(emitter);
	print_depth(emitter, block->item, block->site);
}

static void print_begin(const struct emitter *emitter, const struct entry *block)
{
	begin_block(emitter, block);
	if (is_pie(emitter))
		fprintf(emitter->out, "\t$f = 0x%" PRIx64 " + (reg(\"ip\") & 0x%x);\n",
			block->group << PAGE_BITS, PAGE - 1);
	else
		fputs("\t$f = reg(\"ip\");\n", emitter->out);
	print_clear(emitter, "< $depth");
	print_push(emitter);
	fputs("\t@calls[@name[$f]] = count();\n}\n", emitter->out);
}

static void print_end(const struct emitter *emitter, const struct entry *block)
{
	begin_block(emitter, block);
	print_clear(emitter, "<= $depth");
	fputs("\t$c = @call[pid, $id, $n];\n"
	      "\tif ($n && $c.0 == $depth) {\n"
	      "\t\t@ns[@name[$c.1]] = hist(nsecs - $c.2);\n"
	      "\t\tdelete(@call[pid, $id, $n]);\n"
	      "\t\t$n = $n - 1;\n"
	      "\t}\n",
	      emitter->out);
	print_keep(emitter);
}

static void print_blocks(const struct emitter *emitter, const struct entries *entries,
			 void (*print)(const struct emitter *, const struct entry *))
{
	for (size_t i = 0; i < entries->count; i++) {
		const struct entry *entry = &entries->items[i];
		bool is_last = i + 1 == entries->count || !same_block(entry, entry + 1);

		emit_bpftrace_line(emitter, entry->item, entry->site, is_last ? " // " : ", // ");
		if (is_last)
			print(emitter, entry);
	}
}

/* --- inlined copies --- */

/* Copies in one frame have one depth. They end in reverse order of their beginning; an entry that
 * has ended may be 0. */
static void begin_copy(const struct emitter *emitter, const struct entry *entry)
{
	emit_bpftrace_line(emitter, entry->item, entry->site, " // ");
	begin_block(emitter, entry);
	fprintf(emitter->out, "\t$f = (uint64)0x%" PRIx64 ";\n", key_of_copy(emitter, entry->item));
}

static void copy_begin(const struct emitter *emitter, const struct selection_item *item)
{
	struct entry entry = {item, &item->sites.entry, 0};

	begin_copy(emitter, &entry);
	print_clear(emitter, "<= $depth && @call[pid, $id, $n].1 != 0");
	print_push(emitter);
	fputs("\t@calls[@name[$f]] = count();\n}\n", emitter->out);
}

static void copy_end(const struct emitter *emitter, const struct selection_item *item,
		     const struct site *exit)
{
	struct entry entry = {item, exit, 0};

	begin_copy(emitter, &entry);
	print_clear(emitter, "<= $depth && @call[pid, $id, $n].1 != 0");
	fputs("\t$k = $n;\n"
	      "\t$i = 0;\n"
	      "\twhile ($i < 8) {\n"
	      "\t\tif ($k == 0 || @call[pid, $id, $k].0 != $depth ||\n"
	      "\t\t    @call[pid, $id, $k].1 == $f) { break; }\n"
	      "\t\t$k = $k - 1;\n"
	      "\t\t$i = $i + 1;\n"
	      "\t}\n"
	      "\t$c = @call[pid, $id, $k];\n"
	      "\tif ($k && $c.0 == $depth && $c.1 == $f) {\n"
	      "\t\t@ns[@name[$f]] = hist(nsecs - $c.2);\n"
	      "\t\t@call[pid, $id, $k] = ($depth, (uint64)0, (uint64)0);\n"
	      "\t}\n",
	      emitter->out);
	print_keep(emitter);
}

/* At one place an outer copy begins before those in it and ends after them: blocks run in the order
 * in which the script has them. */
static void print_copies(const struct emitter *emitter)
{
	const struct selection *sel = emitter->sel;
	const struct selection_item *item;

	for (size_t i = sel->item_count; i-- > 0;) {
		item = &sel->items[i];
		for (size_t j = 0; item->is_copy && !item->skipped && j < item->sites.exits; j++)
			copy_end(emitter, item, &selection_exits(emitter->sel, item)[j]);
	}
	for (size_t i = 0; emit_next(emitter, &i, &item);)
		if (item->is_copy && !emit_left_out(emitter, item))
			copy_begin(emitter, item);
}

/* --- all --- */

static void print_hook(const struct emitter *emitter, const struct site *site, const char *after)
{
	if (!site->addr)
		return;
	emit_bpftrace_place(emitter, &emitter->sel->items[0], site);
	fputs(after, emitter->out);
}

/* Hooks: calls end without a return, because a panic was recovered further up or the goroutine
 * ends. */
static void print_hooks(const struct emitter *emitter)
{
	const struct goruntime *rt = &emitter->rt;

	if (rt->recovered.addr) {
		print_hook(emitter, &rt->recovered, "\n{\n");
		emit_bpftrace_g(emitter);
		fprintf(emitter->out,
			"\t$g = *(uint64 *)(*(uint64 *)($g + %u) + %u);\n"
			"\t$id = *(uint64 *)($g + %u);\n"
			"\t$depth = *(uint64 *)($g + %u) - *(uint64 *)($g + %u);\n",
			rt->g_m, rt->m_curg, rt->g_goid, rt->g_stack_hi, rt->g_sched_sp);
		print_clear(emitter, "< $depth");
		print_keep(emitter);
	}
	if (rt->goexit.addr || rt->fatal.addr) {
		print_hook(emitter, &rt->goexit, rt->fatal.addr ? ",\n" : "\n{\n");
		print_hook(emitter, &rt->fatal, "\n{\n");
		print_goroutine(emitter);
		print_clear(emitter, "== 0");
		print_keep(emitter);
	}
}

/* Prints which items are left out; false: all are. */
static bool print_left_out(const struct emitter *emitter)
{
	const struct selection_item *item;
	bool any = false;

	for (size_t i = 0; emit_next(emitter, &i, &item);) {
		const char *reason = emit_left_out(emitter, item);

		any |= !reason;
		if (reason)
			emit_comment(emitter, item, reason);
	}
	return any;
}

static void print_script(const struct emitter *emitter, struct entries *begins,
			 struct entries *ends)
{
	collect(emitter, begins, ends);
	if (begins->count > MANY)
		fputs("// With so many functions bpftrace takes minutes to start and to end;\n"
		      "// gofunclatency takes seconds.\n",
		      emitter->out);
	if (is_pie(emitter))
		make_groups(begins);
	sort(begins);
	sort(ends);
	print_names(emitter, begins);
	print_hooks(emitter);
	fputs("// calls begin\n", emitter->out);
	print_blocks(emitter, begins, print_begin);
	fputs("// calls end\n", emitter->out);
	print_blocks(emitter, ends, print_end);
	print_copies(emitter);
	fputs("END\n{\n\tclear(@name);\n\tclear(@call);\n\tclear(@open);\n}\n", emitter->out);
}

void emit_latency(const struct emitter *emitter)
{
	struct entries begins = {0}, ends = {0};

	emit_bpftrace_head(emitter, "Times calls");
	fputs("//\n"
	      "// A goroutine's calls are @call[process, goroutine, 1 and on]: how deep in the\n"
	      "// goroutine's stack the call began, where, and when. Neither threads nor the\n"
	      "// stack's address matter. @ns: histograms of nanoseconds. @calls: all that began,\n"
	      "// more by those ended by a panic or Goexit, and those still running. @lost: calls\n"
	      "// for which there was no room.\n",
	      emitter->out);
	if (print_left_out(emitter))
		print_script(emitter, &begins, &ends);
	free(begins.items);
	free(ends.items);
}
