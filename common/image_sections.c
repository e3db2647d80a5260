// SPDX-License-Identifier: Apache-2.0
#include "image_sections.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

struct image_sections {
	Elf *elf; /* NULL: the section headers are unusable; libelf answers nothing for NULL */
};

struct image_sections *image_sections_new(void *data, size_t size)
{
	struct image_sections *secs = mem_zalloc(1, sizeof(*secs));

	elf_version(EV_CURRENT);
	secs->elf = elf_memory(data, size);
	return secs;
}

void image_sections_free(struct image_sections *secs)
{
	if (!secs)
		return;
	elf_end(secs->elf);
	free(secs);
}

bool image_sections_find(const struct image_sections *secs, const char *name,
			 struct image_section *out)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	if (elf_getshdrstrndx(secs->elf, &names) != 0)
		return false;
	while ((scn = elf_nextscn(secs->elf, scn)) && gelf_getshdr(scn, &sh)) {
		const char *found = elf_strptr(secs->elf, names, sh.sh_name);

		if (found && strcmp(found, name) == 0) {
			*out = (struct image_section){sh.sh_addr, sh.sh_size, sh.sh_offset};
			return true;
		}
	}
	return false;
}

static Elf_Scn *section_of_type(const struct image_sections *secs, GElf_Word type, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(secs->elf, scn)) && gelf_getshdr(scn, sh))
		if (sh->sh_type == type)
			return scn;
	return NULL;
}

bool image_sections_has_symtab(const struct image_sections *secs)
{
	GElf_Shdr sh;

	return section_of_type(secs, SHT_SYMTAB, &sh);
}

struct symbol_table {
	const uint8_t *syms; /* Elf64_Sym, perhaps not aligned */
	size_t count;
	const char *names;
	size_t names_len; /* up to and with the last NUL */
};

static bool read_symbol_table(const struct image_sections *secs, struct symbol_table *tab)
{
	GElf_Shdr sh;
	Elf_Scn *scn = section_of_type(secs, SHT_SYMTAB, &sh);

	if (!scn)
		scn = section_of_type(secs, SHT_DYNSYM, &sh);
	if (!scn)
		return false;

	Elf_Data *syms = elf_rawdata(scn, NULL);
	Elf_Scn *strscn = elf_getscn(secs->elf, sh.sh_link);
	Elf_Data *names = strscn ? elf_rawdata(strscn, NULL) : NULL;

	if (!syms || !syms->d_buf || !names || !names->d_buf)
		return false;

	const char *last = memrchr(names->d_buf, '\0', names->d_size);

	tab->syms = syms->d_buf;
	tab->count = syms->d_size / sizeof(Elf64_Sym);
	tab->names = names->d_buf;
	tab->names_len = last ? last - tab->names + 1 : 0;
	return true;
}

void image_sections_each_symbol(const struct image_sections *secs,
				bool (*fn)(const struct image_symbol *, void *), void *ctx)
{
	struct symbol_table tab;
	Elf64_Sym sym;

	if (!read_symbol_table(secs, &tab))
		return;
	for (size_t i = 0; i < tab.count; i++) {
		memcpy(&sym, tab.syms + i * sizeof(sym), sizeof(sym));
		if (sym.st_shndx == SHN_UNDEF || sym.st_name >= tab.names_len)
			continue;

		struct image_symbol out = {
			.name = tab.names + sym.st_name,
			.addr = sym.st_value,
			.size = sym.st_size,
			.is_func = ELF64_ST_TYPE(sym.st_info) == STT_FUNC,
			.is_tls = ELF64_ST_TYPE(sym.st_info) == STT_TLS,
		};

		if (*out.name && !fn(&out, ctx))
			return;
	}
}
