// SPDX-License-Identifier: Apache-2.0
/* Inline trees: FUNCDATA_InlTree holds one record for each inlined call, PCDATA_InlTreeIndex tells
 * for each instruction the record of its innermost call. Format: Go's src/cmd/link/internal/ld/
 * pcln.go (genInlTreeSym) and src/runtime/symtabinl.go. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/image.h"
#include "program/pclntab_table_internal.h"
#include "program/functab_internal.h"

enum {
	FUNCDATA_INLTREE_12 = 4,
	FUNCDATA_INLTREE = 3, /* from 1.16 */
	NODE_SIZE_OLD = 20,   /* to 1.19 */
	NODE_SIZE = 16,
};

static bool raise_to(uint64_t from, uint64_t to, int32_t value, void *ctx)
{
	int32_t *highest = ctx;

	(void)from;
	(void)to;
	if (value > *highest)
		*highest = value;
	return true;
}

int32_t functab_inlined_count(const struct functab *tab, const struct functab_func *fn)
{
	int32_t highest = -1;

	if (!functab_pcdata(tab, fn, PCLNTAB_PCDATA_INLTREE, raise_to, &highest))
		return 0;
	return highest < INT32_MAX ? highest + 1 : 0;
}

struct node {
	int16_t parent; /* to 1.19 */
	uint32_t name, parent_pc, line, start;
};

/* to 1.19: i16 parent, u8 funcID, u8 pad, i32 file, line, name, parentPc
 * from 1.20: u8 funcID, u8 pad[3], i32 name, parentPc, startLine */
static bool read_node(const struct functab *tab, uint64_t tree, int32_t index, struct node *out)
{
	bool old = tab->layout < PCLNTAB_120;
	unsigned size = old ? NODE_SIZE_OLD : NODE_SIZE;
	const uint8_t *data = image_at(tab->img, tree + (uint64_t)index * size, size);

	*out = (struct node){0};
	if (!data)
		return false;
	if (old) {
		memcpy(&out->parent, data, 2);
		memcpy(&out->line, data + 8, 4);
		memcpy(&out->name, data + 12, 4);
		memcpy(&out->parent_pc, data + 16, 4);
	} else {
		memcpy(&out->name, data + 4, 4);
		memcpy(&out->parent_pc, data + 8, 4);
		memcpy(&out->start, data + 12, 4);
	}
	return true;
}

static uint64_t tree_of(const struct functab *tab, const struct functab_func *fn)
{
	return functab_funcdata(tab, fn,
				tab->layout == PCLNTAB_12 ? FUNCDATA_INLTREE_12 : FUNCDATA_INLTREE);
}

/* Fills all but, from 1.20, parent and call_line: these are not stored, but are those of the
 * instruction at parentPc. */
static bool fill_inlined(const struct functab *tab, const struct functab_func *fn, int32_t index,
			 const struct node *node, struct functab_inlined *out)
{
	bool old = tab->layout < PCLNTAB_120;

	out->name = pclntab_part_text(&tab->names, node->name);
	out->parent = old && node->parent != index ? node->parent : -1;
	out->parent_pc = node->parent_pc < fn->end - fn->addr ? fn->addr + node->parent_pc : 0;
	out->call_line = old ? (int32_t)node->line : 0;
	out->start_line = node->start <= INT32_MAX ? (int32_t)node->start : 0;
	return out->name;
}

int32_t functab_node_at(const struct functab *tab, const struct functab_func *fn, uint64_t addr)
{
	int32_t node;

	return pclntab_pcdata_at(tab, fn, PCLNTAB_PCDATA_INLTREE, addr, &node) ? node : -1;
}

bool functab_inlined(const struct functab *tab, const struct functab_func *fn, int32_t index,
		     struct functab_inlined *out)
{
	uint64_t tree = tree_of(tab, fn);
	const char *file;
	struct node node;

	if (index < 0 || !tree || !read_node(tab, tree, index, &node) ||
	    !fill_inlined(tab, fn, index, &node, out))
		return false;
	if (tab->layout < PCLNTAB_120 || !out->parent_pc)
		return true;
	if (!pclntab_pcdata_at(tab, fn, PCLNTAB_PCDATA_INLTREE, out->parent_pc, &out->parent) ||
	    out->parent == index)
		out->parent = -1;
	if (!functab_line(tab, fn, out->parent_pc, &file, &out->call_line))
		out->call_line = 0;
	return true;
}

/* --- all of them, in one pass over each table --- */

struct pass {
	struct functab_inlined *nodes;
	int32_t *order; /* nodes by rising parent_pc */
	int32_t at, count;
	bool lines; /* this is the pass over lines, not over nodes */
};

static bool assign_range(uint64_t from, uint64_t to, int32_t value, void *ctx)
{
	struct pass *pass = ctx;

	for (; pass->at < pass->count; pass->at++) {
		int32_t index = pass->order[pass->at];
		struct functab_inlined *node = &pass->nodes[index];

		if (node->parent_pc >= to)
			return true;
		if (node->parent_pc < from)
			continue;
		if (pass->lines)
			node->call_line = value;
		else
			node->parent = value == index ? -1 : value;
	}
	return false;
}

static int by_parent_pc(const void *a, const void *b, void *ctx)
{
	const struct functab_inlined *nodes = ctx;
	uint64_t x = nodes[*(const int32_t *)a].parent_pc;
	uint64_t y = nodes[*(const int32_t *)b].parent_pc;

	return (x > y) - (x < y);
}

static void find_parents(const struct functab *tab, const struct functab_func *fn,
			 struct functab_inlined *nodes, int32_t count)
{
	struct pass pass = {.nodes = nodes, .count = count};

	pass.order = mem_alloc(count * sizeof(*pass.order));
	for (int32_t i = 0; i < count; i++)
		pass.order[i] = i;
	qsort_r(pass.order, count, sizeof(*pass.order), by_parent_pc, nodes);
	functab_pcdata(tab, fn, PCLNTAB_PCDATA_INLTREE, assign_range, &pass);
	pass.at = 0;
	pass.lines = true;
	functab_each_line(tab, fn, assign_range, &pass);
	free(pass.order);
}

int32_t functab_inlined_all(const struct functab *tab, const struct functab_func *fn,
			    struct functab_inlined *out, int32_t count)
{
	uint64_t tree = tree_of(tab, fn);
	int32_t found = 0;
	struct node node;

	while (tree && found < count && read_node(tab, tree, found, &node) &&
	       fill_inlined(tab, fn, found, &node, &out[found]))
		found++;
	if (tab->layout == PCLNTAB_120 && found)
		find_parents(tab, fn, out, found);
	return found;
}
