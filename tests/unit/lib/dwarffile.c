// SPDX-License-Identifier: Apache-2.0
#include "dwarffile.h"

#include <dwarf.h>

enum { /* abbreviations */
       UNIT = 1,
       FUNC,
       PARAM,
       BASE,
       TYPEDEF,
       POINTER,
       STRUCT,
       FIELD,
       ARRAY,
       SUBRANGE,
       ABSTRACT,
       COPY,
       COPY_PARAM,
       DESCRIBED,
       /* Go's own attributes */
       GO_KIND = 0x2900,
       GO_RUNTIME_TYPE = 0x2904,
       GO_PACKAGE = 0x2905,
};

static const struct abbrev {
	uint8_t code, tag;
	bool children;
	uint16_t attrs[8]; /* name, form; ends with 0 */
} abbrevs[] = {
	{UNIT,
	 DW_TAG_compile_unit,
	 true,
	 {DW_AT_name, DW_FORM_string, GO_PACKAGE, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
	  DW_AT_high_pc, DW_FORM_addr}},
	{FUNC, DW_TAG_subprogram, true, {DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr}},
	{PARAM,
	 DW_TAG_formal_parameter,
	 false,
	 {DW_AT_name, DW_FORM_string, DW_AT_variable_parameter, DW_FORM_flag, DW_AT_type,
	  DW_FORM_ref_addr, DW_AT_location, DW_FORM_block1}},
	{BASE,
	 DW_TAG_base_type,
	 false,
	 {DW_AT_name, DW_FORM_string, DW_AT_byte_size, DW_FORM_data1, GO_KIND, DW_FORM_data1}},
	{TYPEDEF,
	 DW_TAG_typedef,
	 false,
	 {DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref_addr}},
	{POINTER,
	 DW_TAG_pointer_type,
	 false,
	 {DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref_addr, GO_KIND, DW_FORM_data1}},
	{STRUCT,
	 DW_TAG_structure_type,
	 true,
	 {DW_AT_name, DW_FORM_string, DW_AT_byte_size, DW_FORM_data8, GO_KIND, DW_FORM_data1}},
	{FIELD,
	 DW_TAG_member,
	 false,
	 {DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref_addr, DW_AT_data_member_location,
	  DW_FORM_data8}},
	{ARRAY,
	 DW_TAG_array_type,
	 true,
	 {DW_AT_name, DW_FORM_string, DW_AT_type, DW_FORM_ref_addr, DW_AT_byte_size, DW_FORM_data8,
	  GO_KIND, DW_FORM_data1}},
	{SUBRANGE, DW_TAG_subrange_type, false, {DW_AT_count, DW_FORM_data8}},
	{ABSTRACT, DW_TAG_subprogram, true, {DW_AT_name, DW_FORM_string}},
	{COPY,
	 DW_TAG_inlined_subroutine,
	 true,
	 {DW_AT_abstract_origin, DW_FORM_ref_addr, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
	  DW_FORM_addr}},
	{COPY_PARAM,
	 DW_TAG_formal_parameter,
	 false,
	 {DW_AT_abstract_origin, DW_FORM_ref_addr, DW_AT_location, DW_FORM_sec_offset}},
	{DESCRIBED,
	 DW_TAG_base_type,
	 false,
	 {DW_AT_name, DW_FORM_string, DW_AT_byte_size, DW_FORM_data1, GO_KIND, DW_FORM_data1,
	  GO_RUNTIME_TYPE, DW_FORM_data8}},
};

static uint8_t *put_uleb(uint8_t *at, unsigned value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = value | 0x80;
	*at++ = value;
	return at;
}

static void put_abbrevs(struct dwarffile *d)
{
	uint8_t *begin = elffile_at(d->g.f, DWARFFILE_ABBREV), *at = begin;

	for (size_t i = 0; i < sizeof(abbrevs) / sizeof(*abbrevs); i++) {
		const struct abbrev *abbrev = &abbrevs[i];

		at = put_uleb(at, abbrev->code);
		at = put_uleb(at, abbrev->tag);
		*at++ = abbrev->children;
		for (unsigned k = 0; k < 8 && abbrev->attrs[k]; k++)
			at = put_uleb(at, abbrev->attrs[k]);
		at += 2; /* zeros end the list */
	}
	elffile_section(d->g.f, ".debug_abbrev", DWARFFILE_ABBREV, at + 1 - begin);
}

static void put(struct dwarffile *d, uint64_t value, unsigned size)
{
	if (d->used + size > DWARFFILE_INFO_MAX)
		abort();
	memcpy(elffile_at(d->g.f, DWARFFILE_INFO + d->used), &value, size);
	d->used += size;
}

static void put_text(struct dwarffile *d, const char *text)
{
	do
		put(d, *text, 1);
	while (*text++);
}

static uint32_t put_die(struct dwarffile *d, unsigned abbrev, const char *name)
{
	uint32_t off = d->used;

	put(d, abbrev, 1);
	put_text(d, name);
	return off;
}

void dwarffile_make(struct dwarffile *d, int release)
{
	*d = (struct dwarffile){0};
	gofile_make(&d->g, release, EM_X86_64);
	put_abbrevs(d);
	elffile_section(d->g.f, ".debug_loc", DWARFFILE_LOC, DWARFFILE_LOC_MAX);
	elffile_section(d->g.f, ".debug_info", DWARFFILE_INFO, 0);
}

void dwarffile_begin(struct dwarffile *d, const char *path, const char *name)
{
	d->unit = d->used;
	put(d, 0, 4); /* its length, later */
	put(d, 4, 2); /* version */
	put(d, 0, 4); /* offset in .debug_abbrev */
	put(d, 8, 1); /* bytes of an address */
	put_die(d, UNIT, path);
	put_text(d, name);
	put(d, d->g.starts[0], 8);
	put(d, d->g.starts[3], 8);
}

void dwarffile_end(struct dwarffile *d)
{
	dwarffile_close(d);
	elffile_u32(d->g.f, DWARFFILE_INFO + d->unit, d->used - d->unit - 4);
	elffile_section_header(d->g.f, d->g.f->nsections - 1)->sh_size = d->used;
}

void dwarffile_func(struct dwarffile *d, const char *name, uint64_t addr)
{
	put_die(d, FUNC, name);
	put(d, addr, 8);
}

void dwarffile_param(struct dwarffile *d, const char *name, uint32_t type, bool is_result)
{
	put_die(d, PARAM, name);
	put(d, is_result, 1);
	put(d, type, 4);
	put(d, 0, 1);
}

void dwarffile_param_at(struct dwarffile *d, const char *name, uint32_t type, uint8_t off)
{
	put_die(d, PARAM, name);
	put(d, 0, 1);
	put(d, type, 4);
	put(d, 2, 1);
	put(d, DW_OP_fbreg, 1);
	put(d, off, 1);
}

void dwarffile_close(struct dwarffile *d)
{
	put(d, 0, 1);
}

uint32_t dwarffile_abstract(struct dwarffile *d, const char *name)
{
	return put_die(d, ABSTRACT, name);
}

void dwarffile_copy(struct dwarffile *d, uint32_t origin, uint64_t low, uint64_t high)
{
	put(d, COPY, 1);
	put(d, origin, 4);
	put(d, low, 8);
	put(d, high, 8);
}

void dwarffile_copy_param(struct dwarffile *d, uint32_t origin, uint64_t from, uint64_t to,
			  const char *ops, size_t len)
{
	uint64_t range[2] = {from - d->g.starts[0], to - d->g.starts[0]};
	uint16_t size = len;
	uint8_t *at = elffile_at(d->g.f, DWARFFILE_LOC + d->located);

	put(d, COPY_PARAM, 1);
	put(d, origin, 4);
	put(d, d->located, 4);
	d->located += 16 + 2 + len + 16; /* zeros end it */
	if (d->located > DWARFFILE_LOC_MAX)
		abort();
	memcpy(at, range, 16);
	memcpy(at + 16, &size, 2);
	memcpy(at + 18, ops, len);
}

uint32_t dwarffile_base(struct dwarffile *d, const char *name, unsigned size, unsigned kind)
{
	uint32_t off = put_die(d, BASE, name);

	put(d, size, 1);
	put(d, kind, 1);
	return off;
}

uint32_t dwarffile_described(struct dwarffile *d, const char *name, unsigned size, unsigned kind,
			     uint64_t descriptor)
{
	uint32_t off = put_die(d, DESCRIBED, name);

	put(d, size, 1);
	put(d, kind, 1);
	put(d, descriptor, 8);
	return off;
}

uint32_t dwarffile_typedef(struct dwarffile *d, const char *name, uint32_t type)
{
	uint32_t off = put_die(d, TYPEDEF, name);

	put(d, type, 4);
	return off;
}

uint32_t dwarffile_pointer(struct dwarffile *d, const char *name, uint32_t type)
{
	uint32_t off = put_die(d, POINTER, name);

	put(d, type, 4);
	put(d, DWARFFILE_POINTER, 1);
	return off;
}

uint32_t dwarffile_struct(struct dwarffile *d, const char *name, uint64_t size)
{
	uint32_t off = put_die(d, STRUCT, name);

	put(d, size, 8);
	put(d, DWARFFILE_STRUCT, 1);
	return off;
}

void dwarffile_field(struct dwarffile *d, const char *name, uint32_t type, uint64_t off)
{
	put_die(d, FIELD, name);
	put(d, type, 4);
	put(d, off, 8);
}

uint32_t dwarffile_array(struct dwarffile *d, const char *name, uint32_t type, uint64_t size,
			 uint64_t count)
{
	uint32_t off = put_die(d, ARRAY, name);

	put(d, type, 4);
	put(d, size, 8);
	put(d, DWARFFILE_ARRAY, 1);
	put(d, SUBRANGE, 1);
	put(d, count, 8);
	dwarffile_close(d);
	return off;
}

void dwarffile_patch(struct dwarffile *d, uint32_t off, const char *name, uint32_t type)
{
	elffile_u32(d->g.f, DWARFFILE_INFO + off + 1 + strlen(name) + 1, type);
}
