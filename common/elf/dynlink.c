// SPDX-License-Identifier: Apache-2.0
#include "elf/dynlink.h"

#include <elf.h>
#include <string.h>

#include "elf/image.h"

enum { NEEDED_MAX = 1024 };

struct strings {
	const char *text;
	uint64_t len; /* up to and including the last NUL */
};

static bool read_strings(const struct image *img, struct strings *out)
{
	uint64_t addr, size;

	if (!image_dynamic(img, DT_STRTAB, 0, &addr) || !image_dynamic(img, DT_STRSZ, 0, &size))
		return false;
	if (size > image_left(img, addr))
		size = image_left(img, addr);
	out->text = image_at(img, addr, size);
	if (!out->text || !size)
		return false;

	const char *last = memrchr(out->text, '\0', size);

	out->len = last ? last - out->text + 1 : 0;
	return true;
}

static bool read_symbol(const struct image *img, const struct strings *names, uint64_t table,
			uint32_t index, struct dynlink_symbol *out)
{
	uint64_t addr;
	Elf64_Sym sym;

	if (__builtin_add_overflow(table, index * sizeof(sym), &addr))
		return false;

	const void *at = image_at(img, addr, sizeof(sym));

	if (!at)
		return false;
	memcpy(&sym, at, sizeof(sym));
	if (sym.st_name >= names->len)
		return false;
	*out = (struct dynlink_symbol){names->text + sym.st_name, sym.st_value, sym.st_size,
				       sym.st_shndx != SHN_UNDEF};
	return true;
}

void dynlink_each(const struct image *img, bool (*fn)(const struct dynlink_reloc *, void *ctx),
		  void *ctx)
{
	uint64_t rela, size, symbols;
	struct strings names;

	if (!image_dynamic(img, DT_RELA, 0, &rela) || !image_dynamic(img, DT_RELASZ, 0, &size) ||
	    !image_dynamic(img, DT_SYMTAB, 0, &symbols) || !read_strings(img, &names))
		return;
	if (size > image_left(img, rela))
		size = image_left(img, rela);

	const uint8_t *table = image_at(img, rela, size);

	for (uint64_t off = 0; table && size - off >= sizeof(Elf64_Rela);
	     off += sizeof(Elf64_Rela)) {
		struct dynlink_reloc reloc;
		Elf64_Rela entry;

		memcpy(&entry, table + off, sizeof(entry));
		reloc.addr = entry.r_offset;
		reloc.type = ELF64_R_TYPE(entry.r_info);
		reloc.addend = entry.r_addend;
		if (ELF64_R_SYM(entry.r_info) &&
		    read_symbol(img, &names, symbols, ELF64_R_SYM(entry.r_info), &reloc.symbol) &&
		    !fn(&reloc, ctx))
			return;
	}
}

const char *dynlink_needs(const struct image *img, const char *prefix)
{
	struct strings names;
	uint64_t name;

	if (!read_strings(img, &names))
		return NULL;
	for (size_t n = 0; n < NEEDED_MAX && image_dynamic(img, DT_NEEDED, n, &name); n++)
		if (name < names.len && strncmp(names.text + name, prefix, strlen(prefix)) == 0)
			return names.text + name;
	return NULL;
}
