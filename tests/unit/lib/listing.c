// SPDX-License-Identifier: Apache-2.0
#include "listing.h"

#include "elf/image.h"
#include "program/functab_internal.h"
#include "program/toolchain.h"
#include "sites/site.h"
#include "unit.h"

static void write_code(struct gofile *g)
{
	static const uint8_t a[0x40] = "\x55\x48\x89\xe5\x5d\xc3"; /* push; mov; pop; ret */
	static const uint8_t b[0x40] = "\x90\x48\x89\xc3\x90\x48\x89\x03"
				       "\x48\x89\x43\x08\x48\x89\x43\x10"
				       "\x48\x89\x43\x08\x48\x89\x43\x10"
				       "\xe8\0\0\0\0\x90\x90\x90\x48\x89\xc1"
				       "\x48\x89\xc8\x48\x89\xc8\x48\x89\xc8"
				       "\xc3\xcc\xcc\xcc";
	static const uint8_t c[] = "\x55\xeb\xfe\xcc"; /* push; jmp to itself */

	elffile_bytes(g->f, g->starts[0], a, sizeof(a));
	elffile_bytes(g->f, g->starts[1], b, sizeof(b));
	memset(elffile_at(g->f, g->starts[2]), 0xcc, 0x40);
	elffile_bytes(g->f, g->starts[2], c, sizeof(c) - 1);
}

static void write_debuginfo(struct dwarffile *d, const char *param, const char *field)
{
	const uint64_t *at = d->g.starts;

	dwarffile_begin(d, "main", "main");
	uint32_t text = dwarffile_base(d, "string", 16, DWARFFILE_STRING);
	uint32_t small = dwarffile_base(d, "int8", 1, DWARFFILE_INT + 1);
	uint32_t whole = dwarffile_base(d, "int", 8, DWARFFILE_INT);
	uint32_t type = dwarffile_struct(d, "main.T", 16);

	dwarffile_field(d, field, text, 0);
	dwarffile_close(d);
	uint32_t pointer = dwarffile_pointer(d, "*main.T", type);
	uint32_t inl1 = dwarffile_abstract(d, "main.inl1"), x = d->used;

	dwarffile_param(d, "x", whole, false);
	dwarffile_close(d);
	dwarffile_func(d, "main.a", at[0]);
	dwarffile_param(d, "n", small, false);
	dwarffile_param(d, "p", pointer, false);
	dwarffile_close(d);
	dwarffile_func(d, "main.b", at[1]);
	dwarffile_param(d, param, type, false);
	dwarffile_copy(d, inl1, at[1] + 4, at[1] + 44);
	dwarffile_copy_param(d, x, at[1] + 4, at[1] + 44, "\x53", 1); /* rbx */
	dwarffile_close(d);
	dwarffile_close(d);
	dwarffile_end(d);
}

void listing_write(struct listing *l, const char *param, const char *field)
{
	*l = (struct listing){0};
	dwarffile_make(&l->d, 23);
	write_code(&l->d.g);
	if (param)
		write_debuginfo(&l->d, param, field);
}

void listing_read(struct listing *l)
{
	const struct selection_want want = {
		.inlined = true, .args = true, .returns = true, .may_miss = true};

	l->prog = (struct program){.toolchain = &toolchain_gc,
				   .path = "/proc/1/exe",
				   .img = elffile_open(l->d.g.f, &l->err)};
	l->prog.tab = l->prog.img ? functab_open(l->prog.img, &l->err) : NULL;
	if (!l->prog.tab)
		fail_msg("%s", l->err.text);
	l->prog.release = functab_release_guess(l->prog.tab);
	l->sel = selection_new(&want);
}

void listing_open(struct listing *l, const char *param, const char *field)
{
	listing_write(l, param, field);
	listing_read(l);
}

void listing_add(struct listing *l, const char *pattern)
{
	struct errmsg ignored;

	if (selection_add(l->sel, &l->prog, pattern, &l->err))
		fail_msg("%s: %s", pattern, l->err.text);
	selection_find_sites(l->sel, &ignored);
}

void listing_close(struct listing *l)
{
	selection_free(l->sel);
	functab_close(l->prog.tab);
	image_close(l->prog.img);
	elffile_free(l->d.g.f);
}
