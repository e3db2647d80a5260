// SPDX-License-Identifier: Apache-2.0
#include "elf/image_sections_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "files/heldfile.h"

struct image_sections {
	struct heldfile *file;
	Elf64_Ehdr header;
	const uint8_t *table; /* NULL: none, or unusable */
	uint64_t count;
	const char *names;
	uint64_t names_len; /* up to and with the last NUL */
};

static void get_header(const struct image_sections *secs, uint64_t i, Elf64_Shdr *out)
{
	memcpy(out, secs->table + i * sizeof(*out), sizeof(*out));
}

/* Up to the last NUL, so that every text that begins in it also ends in it. */
static const char *texts(const struct image_sections *secs, const Elf64_Shdr *sh, uint64_t *len)
{
	const char *text = NULL, *last;

	*len = 0;
	if (sh->sh_type != SHT_NOBITS)
		text = heldfile_at(secs->file, sh->sh_offset, sh->sh_size);
	last = text ? memrchr(text, '\0', sh->sh_size) : NULL;
	if (last)
		*len = last - text + 1;
	return text;
}

/* If the file's header cannot hold the number of sections, section 0's header does. */
static void read_section_table(struct image_sections *secs)
{
	const Elf64_Ehdr *eh = &secs->header;
	uint64_t names = eh->e_shstrndx;
	Elf64_Shdr sh;

	secs->count = eh->e_shnum;
	if (eh->e_shentsize != sizeof(sh) || !eh->e_shoff ||
	    !heldfile_read(secs->file, eh->e_shoff, sizeof(sh), &sh))
		return;
	if (!secs->count)
		secs->count = sh.sh_size;
	if (names == SHN_XINDEX)
		names = sh.sh_link;
	if (names >= secs->count || secs->count > UINT64_MAX / sizeof(sh))
		return;
	secs->table = heldfile_at(secs->file, eh->e_shoff, secs->count * sizeof(sh));
	if (!secs->table)
		return;
	get_header(secs, names, &sh);
	secs->names = texts(secs, &sh, &secs->names_len);
}

struct image_sections *image_sections_new(struct heldfile *file)
{
	struct image_sections *secs = mem_zalloc(1, sizeof(*secs));
	const Elf64_Ehdr *eh = &secs->header;

	secs->file = heldfile_share(file);
	if (heldfile_read(file, 0, sizeof(*eh), &secs->header) &&
	    memcmp(eh->e_ident, ELFMAG, SELFMAG) == 0 && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	    eh->e_ident[EI_DATA] == ELFDATA2LSB)
		read_section_table(secs);
	return secs;
}

void image_sections_free(struct image_sections *secs)
{
	if (!secs)
		return;
	heldfile_close(secs->file);
	free(secs);
}

struct heldfile *image_sections_file(const struct image_sections *secs)
{
	return secs->file;
}

const Elf64_Ehdr *image_sections_header(const struct image_sections *secs)
{
	return &secs->header;
}

void image_sections_each(const struct image_sections *secs,
			 bool (*fn)(const char *name, const Elf64_Shdr *sh, void *ctx), void *ctx)
{
	Elf64_Shdr sh;

	for (uint64_t i = 1; secs->table && i < secs->count; i++) {
		get_header(secs, i, &sh);
		if (!fn(sh.sh_name < secs->names_len ? secs->names + sh.sh_name : "", &sh, ctx))
			return;
	}
}

struct search {
	const char *name;
	bool found;
	struct image_section *out;
};

static bool see_name(const char *name, const Elf64_Shdr *sh, void *ctx)
{
	struct search *search = ctx;

	if (strcmp(name, search->name) != 0)
		return true;
	*search->out = (struct image_section){sh->sh_addr, sh->sh_size, sh->sh_offset};
	search->found = true;
	return false;
}

bool image_sections_find(const struct image_sections *secs, const char *name,
			 struct image_section *out)
{
	struct search search = {.name = name, .out = out};

	image_sections_each(secs, see_name, &search);
	return search.found;
}

struct by_type {
	Elf64_Word type;
	bool found;
	Elf64_Shdr *out;
};

static bool see_type(const char *name, const Elf64_Shdr *sh, void *ctx)
{
	struct by_type *search = ctx;

	(void)name;
	if (sh->sh_type != search->type)
		return true;
	*search->out = *sh;
	search->found = true;
	return false;
}

static bool find_section_type(const struct image_sections *secs, Elf64_Word type, Elf64_Shdr *out)
{
	struct by_type search = {.type = type, .out = out};

	image_sections_each(secs, see_type, &search);
	return search.found;
}

bool image_sections_has_symtab(const struct image_sections *secs)
{
	Elf64_Shdr sh;

	return find_section_type(secs, SHT_SYMTAB, &sh);
}

struct symbol_table {
	const uint8_t *syms; /* Elf64_Sym, perhaps not aligned */
	uint64_t count;
	const char *names;
	uint64_t names_len; /* up to and with the last NUL */
};

static bool read_symbol_table(const struct image_sections *secs, struct symbol_table *tab)
{
	Elf64_Shdr sh, names;

	if (!find_section_type(secs, SHT_SYMTAB, &sh) && !find_section_type(secs, SHT_DYNSYM, &sh))
		return false;
	if (sh.sh_link >= secs->count)
		return false;
	get_header(secs, sh.sh_link, &names);
	tab->syms = heldfile_at(secs->file, sh.sh_offset, sh.sh_size);
	tab->count = sh.sh_size / sizeof(Elf64_Sym);
	tab->names = texts(secs, &names, &tab->names_len);
	return tab->syms && tab->names;
}

void image_sections_each_symbol(const struct image_sections *secs,
				bool (*fn)(const struct image_symbol *, void *), void *ctx)
{
	struct symbol_table tab;
	Elf64_Sym sym;

	if (!read_symbol_table(secs, &tab))
		return;
	for (uint64_t i = 0; i < tab.count; i++) {
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
