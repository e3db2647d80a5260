// SPDX-License-Identifier: Apache-2.0
#include "program/functab_internal.h"

#include <stdlib.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/image.h"
#include "program/functab_symbols_internal.h"
#include "program/pclntab_table_internal.h"
#include "program/pcvalue_index_internal.h"
#include "program/toolchain.h"

enum { FLAG_ASM = 4 };

static uint64_t file_size(const struct image *img)
{
	size_t count;
	const struct image_segment *segs = image_segments(img, &count);
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++)
		if (segs[i].off + segs[i].filesz > end)
			end = segs[i].off + segs[i].filesz;
	return end;
}

struct functab *functab_open(const struct image *img, struct errmsg *err)
{
	struct functab *tab = mem_zalloc(1, sizeof(*tab));
	struct image_section exports;

	if (pclntab_table_find(img, tab, err) == 0) {
		tab->values = pcvalue_index_new(tab->pcs.data, tab->pcs.len, tab->quantum);
		return tab;
	}
	*tab = (struct functab){.img = img, .symbols = functab_symbols_new(img, file_size(img))};
	if (tab->symbols)
		return tab;
	if (image_section(img, ".go_export", &exports)) /* gccgo's; strip leaves it */
		errmsg_set(err,
			   "\"%s\": a gccgo program without symbols: its functions are not known",
			   image_path(img));
	free(tab);
	return NULL;
}

void functab_close(struct functab *tab)
{
	if (!tab)
		return;
	functab_symbols_free(tab->symbols);
	pcvalue_index_free(tab->values);
	free(tab);
}

const struct toolchain *functab_toolchain(const struct functab *tab)
{
	return tab->symbols ? &toolchain_gccgo : &toolchain_gc;
}

enum pclntab_layout pclntab_layout(const struct functab *tab)
{
	return tab->layout;
}

size_t functab_count(const struct functab *tab)
{
	return tab->symbols ? functab_symbols_count(tab->symbols) : tab->nfunc;
}

uint64_t functab_addr(const struct functab *tab)
{
	return tab->addr;
}

uint64_t functab_moduledata(const struct functab *tab)
{
	return tab->moduledata;
}

int functab_release_guess(const struct functab *tab)
{
	return tab->release_guess;
}

uint64_t functab_file_size(const struct functab *tab)
{
	return file_size(tab->img);
}

size_t functab_left_out(const struct functab *tab)
{
	return tab->symbols ? functab_symbols_left_out(tab->symbols) : 0;
}

/* Up to Go 1.17 no flag marks functions of assembly: their source file's name does. */
static bool is_asm_file(const struct functab *tab, const struct functab_func *fn)
{
	const char *file;
	int line;

	if (!functab_line(tab, fn, fn->addr, &file, &line))
		return false;

	size_t len = strlen(file);

	return len > 2 && strcmp(file + len - 2, ".s") == 0;
}

bool functab_func(const struct functab *tab, size_t index, struct functab_func *out)
{
	struct pclntab_record rec;
	uint64_t off, after;

	if (tab->symbols)
		return functab_symbols_func(tab->symbols, index, out);
	if (index >= tab->nfunc)
		return false;
	*out = (struct functab_func){.index = index};
	pclntab_entry(tab, index, &out->addr, &off);
	pclntab_entry(tab, index + 1, &out->end, &after);
	if (!image_is_text(tab->img, out->addr) ||
	    image_left(tab->img, out->addr) < out->end - out->addr)
		return false;
	out->record = tab->records.addr + off;
	if (!pclntab_record(tab, out, &rec))
		return false;
	out->name = pclntab_part_text(&tab->names, rec.name);
	out->func_id = rec.func_id;
	out->flags = rec.flags;
	out->is_wrapper = rec.func_id == tab->wrapper_id;
	out->is_asm = tab->layout < PCLNTAB_118 ? is_asm_file(tab, out) : rec.flags & FLAG_ASM;
	return out->name;
}

bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *out)
{
	uint32_t low = 0, high = tab->nfunc;
	uint64_t start, record;

	if (tab->symbols)
		return functab_symbols_find(tab->symbols, addr, out);
	/* entry(low) <= addr < entry(high) once the first and last are checked */
	pclntab_entry(tab, high, &start, &record);
	if (addr >= start)
		return false;
	pclntab_entry(tab, low, &start, &record);
	if (addr < start)
		return false;
	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		pclntab_entry(tab, mid, &start, &record);
		if (start <= addr)
			low = mid;
		else
			high = mid;
	}
	return functab_func(tab, low, out);
}

/* only the name: the record's other parts cost more to read */
static const char *name_of_function(const struct functab *tab, uint32_t index)
{
	struct functab_func fn;
	uint64_t addr, off;
	uint32_t name;

	if (tab->symbols)
		return functab_symbols_func(tab->symbols, index, &fn) ? fn.name : NULL;
	pclntab_entry(tab, index, &addr, &off);
	/* an entry address of 8 or 4 bytes comes first */
	off += tab->layout < PCLNTAB_118 ? 8 : 4;
	if (!pclntab_part_u32(&tab->records, off, &name))
		return NULL;
	return pclntab_part_text(&tab->names, name);
}

bool functab_named(const struct functab *tab, const char *name, struct functab_func *out)
{
	for (uint32_t i = 0; i < functab_count(tab); i++) {
		const char *found = name_of_function(tab, i);

		if (found && strcmp(found, name) == 0 && functab_func(tab, i, out))
			return true;
	}
	return false;
}

bool functab_fips(const struct functab *tab, uint64_t *from, uint64_t *to)
{
	struct functab_func start, end;

	if (pclntab_layout(tab) != PCLNTAB_120 || !functab_named(tab, "go:textfipsstart", &start) ||
	    !functab_named(tab, "go:textfipsend", &end))
		return false;
	*from = start.end;
	*to = end.addr;
	return *from < *to;
}
