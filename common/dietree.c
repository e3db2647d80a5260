// SPDX-License-Identifier: Apache-2.0
#include "dietree.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errmsg.h"
#include "mem.h"

_Static_assert(sizeof(struct die) >= sizeof(Dwarf_Die), "a struct die holds a Dwarf_Die");

enum { MAX_UNITS = 1 << 20 };

struct dietree {
	void *data; /* the file, mapped privately: section headers are changed in it */
	size_t size;
	Elf *elf;
	Dwarf *dwarf; /* NULL: there is none */
};

static Dwarf_Die *raw(const struct die *die)
{
	return (Dwarf_Die *)die->priv;
}

static int map_file(struct dietree *tree, const char *path, struct errmsg *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errmsg_set(err, "\"%s\": %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr)) {
		close(fd);
		return errmsg_set(err, "\"%s\": not an ELF file", path);
	}
	tree->size = st.st_size;
	tree->data = mmap(NULL, tree->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (tree->data == MAP_FAILED) {
		tree->data = NULL;
		return errmsg_set(err, "\"%s\": %s", path, strerror(errno));
	}
	return 0;
}

static bool is_needed(const char *name, bool locations)
{
	static const char *const needed[] = {"info",        "abbrev", "str",      "line_str",
					     "str_offsets", "ranges", "rnglists", "addr"};

	if (strcmp(name, "loc") == 0 || strcmp(name, "loclists") == 0)
		return locations;
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (strcmp(name, needed[i]) == 0)
			return true;
	return false;
}

/* libdw uncompresses each section of DWARF that it finds, line tables and all, when it opens a
 * file: those that nobody will ask for are hidden from it. */
static void hide_section(Elf64_Shdr *sh, const char *names, uint64_t names_len, bool locations)
{
	const char *name = names + sh->sh_name;

	if (sh->sh_name >= names_len || !memchr(name, '\0', names_len - sh->sh_name))
		return;
	if (strncmp(name, ".debug_", 7) == 0)
		name += 7;
	else if (strncmp(name, ".zdebug_", 8) == 0)
		name += 8;
	else
		return;
	if (!is_needed(name, locations))
		sh->sh_type = SHT_NOBITS;
}

static void hide_sections(struct dietree *tree, bool locations)
{
	const Elf64_Ehdr *eh = tree->data;
	uint64_t count = eh->e_shnum;

	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_shentsize != sizeof(Elf64_Shdr) ||
	    eh->e_shoff % 8 || eh->e_shoff > tree->size ||
	    count > (tree->size - eh->e_shoff) / sizeof(Elf64_Shdr) || eh->e_shstrndx >= count)
		return;

	Elf64_Shdr *sh = (Elf64_Shdr *)((uint8_t *)tree->data + eh->e_shoff);
	const Elf64_Shdr *names = &sh[eh->e_shstrndx];

	if (names->sh_type == SHT_NOBITS || names->sh_offset > tree->size ||
	    names->sh_size > tree->size - names->sh_offset)
		return;
	for (uint64_t i = 0; i < count; i++)
		hide_section(&sh[i], (const char *)tree->data + names->sh_offset, names->sh_size,
			     locations);
}

struct dietree *dietree_open(const char *path, bool locations, struct errmsg *err)
{
	struct dietree *tree = mem_zalloc(1, sizeof(*tree));

	elf_version(EV_CURRENT);
	if (map_file(tree, path, err) != 0)
		goto fail;
	if (memcmp(tree->data, ELFMAG, SELFMAG) != 0) {
		errmsg_set(err, "\"%s\": not an ELF file", path);
		goto fail;
	}
	hide_sections(tree, locations);
	tree->elf = elf_memory(tree->data, tree->size);
	if (!tree->elf) {
		errmsg_set(err, "\"%s\": %s", path, elf_errmsg(-1));
		goto fail;
	}
	tree->dwarf = dwarf_begin_elf(tree->elf, DWARF_C_READ, NULL);
	return tree;
fail:
	dietree_close(tree);
	return NULL;
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

static bool see_unit(const struct die *unit, void *ctx)
{
	(void)unit;
	*(bool *)ctx = true;
	return false;
}

bool dietree_empty(const struct dietree *tree)
{
	bool seen = false;

	dietree_each_unit((struct dietree *)tree, see_unit, &seen);
	return !seen;
}

const uint8_t *dietree_build_id(const struct dietree *tree, size_t *len)
{
	const void *id = NULL;
	ssize_t got = dwelf_elf_gnu_build_id(tree->elf, &id);

	*len = got > 0 ? got : 0;
	return got > 0 ? id : NULL;
}

const char *dietree_debuglink(const struct dietree *tree, uint32_t *crc)
{
	GElf_Word sum = 0;
	const char *name = dwelf_elf_gnu_debuglink(tree->elf, &sum);

	*crc = sum;
	return name;
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

bool die_range(const struct die *die, ptrdiff_t *cursor, uint64_t *from, uint64_t *to)
{
	Dwarf_Addr base, start, end;

	*cursor = dwarf_ranges(raw(die), *cursor, &base, &start, &end);
	if (*cursor <= 0)
		return false;
	*from = start;
	*to = end;
	return true;
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
		{DW_TAG_subprogram, DIE_SUBPROGRAM},  {DW_TAG_formal_parameter, DIE_PARAMETER},
		{DW_TAG_base_type, DIE_BASE_TYPE},    {DW_TAG_structure_type, DIE_STRUCT},
		{DW_TAG_member, DIE_MEMBER},          {DW_TAG_array_type, DIE_ARRAY},
		{DW_TAG_subrange_type, DIE_SUBRANGE}, {DW_TAG_pointer_type, DIE_POINTER},
		{DW_TAG_typedef, DIE_TYPEDEF},        {DW_TAG_subroutine_type, DIE_SUBROUTINE_TYPE},
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
	struct die next;

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

/* one byte, then a signed LEB128 number: what follows DW_OP_fbreg */
static bool read_sleb(const uint8_t *bytes, size_t len, int64_t *out)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (size_t i = 0; i < len && shift < 63; i++, shift += 7) {
		value |= (uint64_t)(bytes[i] & 0x7f) << shift;
		if (bytes[i] & 0x80)
			continue;
		shift += 7;
		if (shift < 64 && bytes[i] & 0x40)
			value |= ~(uint64_t)0 << shift;
		*out = value;
		return true;
	}
	return false;
}

/* The first operation as bytes: Go writes locations outside lists as DW_FORM_block1, which libdw
 * does not take for a location. */
static bool place_of_bytes(const uint8_t *bytes, size_t len, struct die_place *out)
{
	*out = (struct die_place){0};
	if (len && bytes[0] == DW_OP_call_frame_cfa)
		return true;
	if (len && bytes[0] == DW_OP_fbreg)
		return read_sleb(bytes + 1, len - 1, &out->n);
	if (!len || bytes[0] < DW_OP_reg0 || bytes[0] > DW_OP_reg31)
		return false;
	*out = (struct die_place){true, bytes[0] - DW_OP_reg0};
	return true;
}

static bool place_of_op(const Dwarf_Op *op, struct die_place *out)
{
	*out = (struct die_place){0};
	if (op->atom == DW_OP_call_frame_cfa)
		return true;
	if (op->atom == DW_OP_fbreg)
		out->n = op->number;
	else if (op->atom == DW_OP_regx)
		*out = (struct die_place){true, op->number};
	else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		*out = (struct die_place){true, op->atom - DW_OP_reg0};
	else
		return false;
	return true;
}

bool die_place(const struct die *die, uint64_t addr, struct die_place *out)
{
	Dwarf_Attribute attr;
	Dwarf_Block block;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(raw(die), DW_AT_location, &attr))
		return false;
	if (dwarf_formblock(&attr, &block) == 0)
		return place_of_bytes(block.data, block.length, out);
	return dwarf_getlocation_addr(&attr, addr, &ops, &count, 1) == 1 && count &&
	       place_of_op(ops, out);
}
