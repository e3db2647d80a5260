// SPDX-License-Identifier: Apache-2.0
#include "dietree_sections.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

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

void dietree_hide_sections(void *data, size_t size, bool locations)
{
	const Elf64_Ehdr *eh = data;
	uint64_t count = eh->e_shnum;

	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_shentsize != sizeof(Elf64_Shdr) ||
	    eh->e_shoff % 8 || eh->e_shoff > size ||
	    count > (size - eh->e_shoff) / sizeof(Elf64_Shdr) || eh->e_shstrndx >= count)
		return;

	Elf64_Shdr *sh = (Elf64_Shdr *)((uint8_t *)data + eh->e_shoff);
	const Elf64_Shdr *names = &sh[eh->e_shstrndx];

	if (names->sh_type == SHT_NOBITS || names->sh_offset > size ||
	    names->sh_size > size - names->sh_offset)
		return;
	for (uint64_t i = 0; i < count; i++)
		hide_section(&sh[i], (const char *)data + names->sh_offset, names->sh_size,
			     locations);
}
