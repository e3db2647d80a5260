// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dietree_internal.h"
#include "dwarf/dietree_place_internal.h"
#include "dwarf/dietree_sections_internal.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/image_sections.h"
#include "files/heldfile.h"

_Static_assert(sizeof(struct die) >= sizeof(Dwarf_Die), "a struct die holds a Dwarf_Die");

enum { MAX_UNITS = 1 << 20, MAX_RANGES = 1 << 16, MAX_LOCATIONS = 1 << 12 };

struct dietree {
	void *data; /* memory of dietree_sections.h; NULL: none */
	size_t size;
	Elf *elf;
	Dwarf *dwarf; /* NULL: there is none */
};

static Dwarf_Die *raw(const struct die *die)
{
	return (Dwarf_Die *)die->priv;
}

struct dietree *dietree_open(const struct image_sections *secs, bool locations, struct errmsg *err)
{
	struct dietree *tree = mem_zalloc(1, sizeof(*tree));

	elf_version(EV_CURRENT);
	tree->data = dietree_sections_gather(secs, locations, &tree->size);
	if (!tree->data && heldfile_check(image_sections_file(secs), err) == 0)
		errmsg_set(err, "\"%s\": not enough memory for its debug information",
			   heldfile_path(image_sections_file(secs)));
	tree->elf = tree->data ? elf_memory(tree->data, tree->size) : NULL;
	if (!tree->elf) {
		dietree_close(tree);
		return NULL;
	}
	tree->dwarf = dwarf_begin_elf(tree->elf, DWARF_C_READ, NULL);
	return tree;
}

void dietree_close(struct dietree *tree)
{
	if (!tree)
		return;
	dwarf_end(tree->dwarf);
	elf_end(tree->elf);
	if (tree->data)
		munmap(tree->data, tree->size);
	free(tree);
}

void dietree_each_unit(struct dietree *tree, bool (*fn)(const struct die *, void *), void *ctx)
{
	Dwarf_CU *cu = NULL;
	struct die unit = {0};

	for (unsigned i = 0; tree->dwarf && i < MAX_UNITS; i++) {
		if (dwarf_get_units(tree->dwarf, cu, &cu, NULL, NULL, raw(&unit), NULL) != 0)
			return;
		if (!fn(&unit, ctx))
			return;
	}
}

bool dietree_at(struct dietree *tree, uint64_t off, struct die *out)
{
	return tree->dwarf && dwarf_offdie(tree->dwarf, off, raw(out));
}

void die_each_range(const struct die *die, void (*fn)(uint64_t from, uint64_t to, void *),
		    void *ctx)
{
	Dwarf_Addr base = 0, from, to;
	ptrdiff_t cursor = 0;

	for (unsigned i = 0; i < MAX_RANGES; i++) {
		cursor = dwarf_ranges(raw(die), cursor, &base, &from, &to);
		if (cursor <= 0)
			return;
		fn(from, to, ctx);
	}
}

uint64_t die_off(const struct die *die)
{
	return dwarf_dieoffset(raw(die));
}

enum die_tag die_tag(const struct die *die)
{
	static const struct {
		int dw;
		enum die_tag tag;
	} tags[] = {
		{DW_TAG_subprogram, DIE_SUBPROGRAM},
		{DW_TAG_formal_parameter, DIE_PARAMETER},
		{DW_TAG_base_type, DIE_BASE_TYPE},
		{DW_TAG_structure_type, DIE_STRUCT},
		{DW_TAG_member, DIE_MEMBER},
		{DW_TAG_array_type, DIE_ARRAY},
		{DW_TAG_subrange_type, DIE_SUBRANGE},
		{DW_TAG_pointer_type, DIE_POINTER},
		{DW_TAG_typedef, DIE_TYPEDEF},
		{DW_TAG_subroutine_type, DIE_SUBROUTINE_TYPE},
		{DW_TAG_variable, DIE_VARIABLE},
		{DW_TAG_lexical_block, DIE_BLOCK},
		{DW_TAG_inlined_subroutine, DIE_INLINED},
	};
	int dw = dwarf_tag(raw(die));

	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
		if (tags[i].dw == dw)
			return tags[i].tag;
	return DIE_OTHER;
}

bool die_child(const struct die *die, struct die *out)
{
	return dwarf_child(raw(die), raw(out)) == 0;
}

bool die_sibling(const struct die *die, struct die *out)
{
	const void *from = raw(die)->addr;
	struct die next = {0};

	/* DW_AT_sibling may lead back */
	if (dwarf_siblingof(raw(die), raw(&next)) != 0 || raw(&next)->addr <= from)
		return false;
	*out = next;
	return true;
}

const char *die_name(const struct die *die)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(raw(die), DW_AT_name, &attr));
}

static Dwarf_Attribute *find_attr(const struct die *die, enum die_attr attr, Dwarf_Attribute *out)
{
	static const unsigned names[] = {
		[DIE_LOW_PC] = DW_AT_low_pc,
		[DIE_TYPE] = DW_AT_type,
		[DIE_ORIGIN] = DW_AT_abstract_origin,
		[DIE_BYTE_SIZE] = DW_AT_byte_size,
		[DIE_COUNT] = DW_AT_count,
		[DIE_MEMBER_OFF] = DW_AT_data_member_location,
		[DIE_IS_RESULT] = DW_AT_variable_parameter,
		[DIE_GO_KIND] = 0x2900,
		[DIE_GO_KEY] = 0x2901,
		[DIE_GO_ELEM] = 0x2902,
		[DIE_GO_EMBEDDED] = 0x2903,
		[DIE_GO_RUNTIME_TYPE] = 0x2904,
		[DIE_GO_PACKAGE] = 0x2905,
		[DIE_ENCODING] = DW_AT_encoding,
		[DIE_UPPER_BOUND] = DW_AT_upper_bound,
		[DIE_LINE] = DW_AT_decl_line,
		[DIE_COLUMN] = DW_AT_decl_column,
	};

	return dwarf_attr(raw(die), names[attr], out);
}

bool die_number(const struct die *die, enum die_attr attr, uint64_t *out)
{
	Dwarf_Attribute found;
	Dwarf_Word value;
	Dwarf_Addr addr;
	bool flag;

	if (!find_attr(die, attr, &found))
		return false;
	switch (dwarf_whatform(&found)) {
	case DW_FORM_flag:
	case DW_FORM_flag_present:
		if (dwarf_formflag(&found, &flag) != 0)
			return false;
		*out = flag;
		return true;
	case DW_FORM_addr:
	case DW_FORM_addrx:
		if (dwarf_formaddr(&found, &addr) != 0)
			return false;
		*out = addr;
		return true;
	default:
		if (dwarf_formudata(&found, &value) != 0)
			return false;
		*out = value;
		return true;
	}
}

bool die_text(const struct die *die, enum die_attr attr, const char **out)
{
	Dwarf_Attribute found;

	*out = dwarf_formstring(find_attr(die, attr, &found));
	return *out;
}

bool die_reference(const struct die *die, enum die_attr attr, struct die *out)
{
	Dwarf_Attribute found;

	return dwarf_formref_die(find_attr(die, attr, &found), raw(out));
}

/* 0: there are too many */
static size_t take_ops(const Dwarf_Op *ops, size_t count, struct dietree_op *out)
{
	if (count > DIETREE_OPS_MAX)
		return 0;
	for (size_t i = 0; i < count; i++)
		out[i] = (struct dietree_op){ops[i].atom, ops[i].number};
	return count;
}

bool die_place(const struct die *die, uint64_t addr, struct die_place *out)
{
	Dwarf_Attribute attr;
	Dwarf_Block block;
	struct dietree_op taken[DIETREE_OPS_MAX];
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(raw(die), DW_AT_location, &attr))
		return false;
	if (dwarf_formblock(&attr, &block) == 0)
		return dietree_place_of_bytes(block.data, block.length, out);
	return dwarf_getlocation_addr(&attr, addr, &ops, &count, 1) == 1 &&
	       dietree_place_of_ops(taken, take_ops(ops, count, taken), out);
}

void die_each_location(const struct die *die,
		       void (*fn)(uint64_t from, uint64_t to, const struct die_pieces *pieces,
				  void *ctx),
		       void *ctx)
{
	struct die_pieces pieces;
	struct dietree_op taken[DIETREE_OPS_MAX];
	Dwarf_Attribute attr;
	Dwarf_Block block;
	Dwarf_Addr base, from, to;
	Dwarf_Op *ops;
	size_t count;
	ptrdiff_t cursor = 0;

	if (!dwarf_attr(raw(die), DW_AT_location, &attr) || dwarf_formblock(&attr, &block) == 0)
		return;
	for (unsigned i = 0; i < MAX_LOCATIONS; i++) {
		cursor = dwarf_getlocations(&attr, cursor, &base, &from, &to, &ops, &count);
		if (cursor <= 0)
			return;
		dietree_pieces_of_ops(taken, take_ops(ops, count, taken), &pieces);
		if (from < to)
			fn(from, to, &pieces, ctx);
	}
}

bool die_address(const struct die *die, uint64_t *addr)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(raw(die), DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &count) != 0 || count != 1 || ops[0].atom != DW_OP_addr)
		return false;
	*addr = ops[0].number;
	return true;
}
