// SPDX-License-Identifier: Apache-2.0
#include "dwarf/dietree_sections_internal.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include "elf/image_sections.h"
#include "files/heldfile.h"

/* .debug_NAME, or .zdebug_NAME as Go's linker compressed them up to 1.15; the first two are those
 * of locations */
static const char *const kinds[] = {"loc",      "loclists",    "info",   "abbrev",   "str",
				    "line_str", "str_offsets", "ranges", "rnglists", "addr"};

enum { KINDS = sizeof(kinds) / sizeof(*kinds), OF_LOCATIONS = 2, ALIGN = 16, NAME_MAX_LEN = 24 };

struct part { /* of the file that is put together */
	Elf64_Shdr sh;
	char name[NAME_MAX_LEN];
	uint64_t from; /* offset in the file */
};

struct gathering {
	bool locations;
	struct part parts[KINDS]; /* those that are there have a name */
};

static int kind_of(const char *name, bool locations)
{
	bool old = strncmp(name, ".zdebug_", 8) == 0;

	if (!old && strncmp(name, ".debug_", 7) != 0)
		return -1;
	for (int i = locations ? 0 : OF_LOCATIONS; i < KINDS; i++)
		if (strcmp(name + 7 + old, kinds[i]) == 0)
			return i;
	return -1;
}

/* Takes the first of several sections of one name, as libdw does. */
static bool see_section(const char *name, const Elf64_Shdr *sh, void *ctx)
{
	struct gathering *gathering = ctx;
	int kind = kind_of(name, gathering->locations);
	struct part *part = kind < 0 ? NULL : &gathering->parts[kind];

	if (!part || *part->name || sh->sh_type == SHT_NOBITS || !sh->sh_size)
		return true;
	strcpy(part->name, name);
	part->from = sh->sh_offset;
	part->sh = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				.sh_flags = sh->sh_flags & SHF_COMPRESSED,
				.sh_size = sh->sh_size,
				.sh_addralign = 1};
	return true;
}

static uint64_t section_aligned(uint64_t off)
{
	return (off + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
}

/* Where everything is: header, section headers, names, sections. Returns the size of all. */
static uint64_t lay_out_sections(struct gathering *gathering, uint64_t file_size)
{
	uint64_t end = sizeof(Elf64_Ehdr) + (KINDS + 2) * sizeof(Elf64_Shdr);

	end = section_aligned(end + (KINDS + 1) * NAME_MAX_LEN);
	for (size_t i = 0; i < KINDS; i++) {
		struct part *part = &gathering->parts[i];

		/* what is past the file's end is not there */
		if (part->from > file_size || part->sh.sh_size > file_size - part->from)
			part->sh = (Elf64_Shdr){.sh_type = SHT_NOBITS};
		part->sh.sh_offset = end;
		part->sh.sh_name = (i + 1) * NAME_MAX_LEN;
		end = section_aligned(end + part->sh.sh_size);
	}
	return end;
}

static void write_headers(const struct image_sections *secs, const struct gathering *gathering,
			  uint8_t *data)
{
	Elf64_Ehdr eh = *image_sections_header(secs);
	Elf64_Shdr names = {.sh_type = SHT_STRTAB,
			    .sh_offset = sizeof(eh) + (KINDS + 2) * sizeof(names),
			    .sh_size = (KINDS + 1) * NAME_MAX_LEN,
			    .sh_addralign = 1};
	uint8_t *table = data + sizeof(eh) + sizeof(Elf64_Shdr);

	eh.e_phoff = eh.e_phnum = eh.e_entry = 0;
	eh.e_shoff = eh.e_ehsize = sizeof(eh);
	eh.e_shentsize = sizeof(Elf64_Shdr);
	eh.e_shnum = KINDS + 2;
	eh.e_shstrndx = KINDS + 1;
	memcpy(data, &eh, sizeof(eh));
	for (size_t i = 0; i < KINDS; i++) {
		const struct part *part = &gathering->parts[i];

		memcpy(table + i * sizeof(part->sh), &part->sh, sizeof(part->sh));
		memcpy(data + names.sh_offset + part->sh.sh_name, part->name, NAME_MAX_LEN);
	}
	memcpy(table + KINDS * sizeof(names), &names, sizeof(names));
}

static bool read_parts(struct heldfile *file, const struct gathering *gathering, uint8_t *data)
{
	for (size_t i = 0; i < KINDS; i++) {
		const struct part *part = &gathering->parts[i];

		if (!heldfile_read(file, part->from, part->sh.sh_size, data + part->sh.sh_offset))
			return false;
	}
	return true;
}

void *dietree_sections_gather(const struct image_sections *secs, bool locations, size_t *size)
{
	struct heldfile *file = image_sections_file(secs);
	struct gathering gathering = {.locations = locations};
	void *data;

	image_sections_each(secs, see_section, &gathering);
	*size = lay_out_sections(&gathering, heldfile_size(file));
	data = mmap(NULL, *size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (data == MAP_FAILED)
		return NULL;
	write_headers(secs, &gathering, data);
	if (read_parts(file, &gathering, data))
		return data;
	munmap(data, *size);
	return NULL;
}
