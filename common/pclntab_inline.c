// SPDX-License-Identifier: Apache-2.0
/* Inline trees: FUNCDATA_InlTree holds one record for each inlined call, PCDATA_InlTreeIndex tells
 * for each instruction the record of its innermost call. Format: Go's src/cmd/link/internal/ld/
 * pcln.go (genInlTreeSym) and src/runtime/symtabinl.go. */
#include <string.h>

#include "image.h"
#include "pclntab_table.h"

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

int32_t pclntab_inlined_count(const struct pclntab *tab, const struct pclntab_func *fn)
{
	int32_t highest = -1;

	if (!pclntab_pcdata(tab, fn, PCLNTAB_PCDATA_INLTREE, raise_to, &highest))
		return 0;
	return highest < INT32_MAX ? highest + 1 : 0;
}

struct node {
	int16_t parent; /* to 1.19 */
	uint32_t name, parent_pc, line;
};

/* to 1.19: i16 parent, u8 funcID, u8 pad, i32 file, line, name, parentPc
 * from 1.20: u8 funcID, u8 pad[3], i32 name, parentPc, startLine */
static bool read_node(const struct pclntab *tab, uint64_t tree, int32_t index, struct node *out)
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
	}
	return true;
}

/* From 1.20 the parent is not stored: it is what the instruction at parentPc belongs to. */
static int32_t parent_of(const struct pclntab *tab, const struct pclntab_func *fn, int32_t index,
			 const struct node *node)
{
	int32_t parent = node->parent;

	if (tab->layout == PCLNTAB_120 && !pclntab_pcdata_at(tab, fn, PCLNTAB_PCDATA_INLTREE,
							     fn->addr + node->parent_pc, &parent))
		return -1;
	return parent == index ? -1 : parent;
}

static int32_t call_line(const struct pclntab *tab, const struct pclntab_func *fn,
			 const struct node *node)
{
	const char *file;
	int line;

	if (tab->layout < PCLNTAB_120)
		return node->line;
	return pclntab_line(tab, fn, fn->addr + node->parent_pc, &file, &line) ? line : 0;
}

bool pclntab_inlined(const struct pclntab *tab, const struct pclntab_func *fn, int32_t index,
		     struct pclntab_inlined *out)
{
	unsigned which = tab->layout == PCLNTAB_12 ? FUNCDATA_INLTREE_12 : FUNCDATA_INLTREE;
	uint64_t tree = pclntab_funcdata(tab, fn, which);
	struct node node;

	if (index < 0 || !tree || !read_node(tab, tree, index, &node))
		return false;
	out->name = pclntab_part_text(&tab->names, node.name);
	out->parent = parent_of(tab, fn, index, &node);
	out->parent_pc = node.parent_pc < fn->end - fn->addr ? fn->addr + node.parent_pc : 0;
	out->call_line = call_line(tab, fn, &node);
	return out->name;
}
