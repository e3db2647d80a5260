// SPDX-License-Identifier: Apache-2.0
#include "elf/corefile_program.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/corefile_internal.h"
#include "elf/elfnote_internal.h"
#include "elf/image.h"
#include "elf/image_sections.h"
#include "files/heldfile.h"

enum { NOTES_MAX = 1 << 16, PHDRS_MAX = 256, PAGE = 4096, GO_BUILD_ID = 4, MAPPINGS_MAX = 1 << 16 };

/* --- build IDs --- */

/* Notes of other kinds are the same in many programs. */
static bool has_id(const uint8_t *data, uint64_t len)
{
	struct elfnote note;

	for (uint64_t off = 0; elfnote_next(data, len, &off, &note);)
		if (note.len && (elfnote_is(&note, NT_GNU_BUILD_ID, "GNU", sizeof("GNU")) ||
				 elfnote_is(&note, GO_BUILD_ID, "Go\0", 4)))
			return true;
	return false;
}

static enum corefile_match compare_notes(const struct corefile *core, const struct image *img,
					 const Elf64_Phdr *ph, uint64_t bias)
{
	uint64_t len = ph->p_filesz;
	const uint8_t *want = len <= NOTES_MAX ? image_at(img, ph->p_vaddr, len) : NULL;
	enum corefile_match match = COREFILE_UNTOLD;

	if (!want || !has_id(want, len))
		return match;
	uint8_t *got = mem_alloc(len);

	if (corefile_read(core, ph->p_vaddr + bias, got, len) == len)
		match = memcmp(got, want, len) ? COREFILE_OTHER : COREFILE_SAME;
	free(got);
	return match;
}

static enum corefile_match compare(const struct corefile *core, const struct image *img,
				   uint64_t bias)
{
	const Elf64_Ehdr *eh = image_sections_header(image_sections(img));
	enum corefile_match match = COREFILE_UNTOLD;
	Elf64_Phdr ph;

	for (unsigned i = 0; i < eh->e_phnum && i < PHDRS_MAX && match == COREFILE_UNTOLD; i++)
		if (heldfile_read(image_file(img), eh->e_phoff + i * sizeof(ph), sizeof(ph), &ph) &&
		    ph.p_type == PT_NOTE)
			match = compare_notes(core, img, &ph, bias);
	return match;
}

/* --- where it may be --- */

/* Where the kernel has put it; but if the dynamic linker was called by its name, where that is. */
static bool loaded_at(const struct corefile *core, const struct image *img, uint64_t *bias)
{
	const Elf64_Ehdr *eh = image_sections_header(image_sections(img));
	uint64_t entry;

	if (!corefile_auxv(core, AT_ENTRY, &entry))
		return false;
	*bias = entry - eh->e_entry;
	return true;
}

static enum corefile_match mapped_at(const struct corefile *core, const struct image *img,
				     uint64_t *bias)
{
	size_t count;
	const struct image_segment *segs = image_segments(img, &count);
	uint64_t addr, off;

	for (size_t i = 0; i < MAPPINGS_MAX && corefile_mapping(core, i, &addr, &off); i++) {
		*bias = addr - segs->addr / PAGE * PAGE;
		if (off == segs->off / PAGE * PAGE && compare(core, img, *bias) == COREFILE_SAME)
			return COREFILE_SAME;
	}
	return COREFILE_OTHER;
}

enum corefile_match corefile_program(const struct corefile *core, const struct image *img,
				     uint64_t *bias)
{
	uint64_t found = 0, mapped;
	bool told = loaded_at(core, img, &found);
	enum corefile_match match;

	*bias = image_is_pie(img) ? found : 0;
	match = compare(core, img, *bias);
	if (match == COREFILE_SAME)
		return match;
	if (image_is_pie(img) && mapped_at(core, img, &mapped) == COREFILE_SAME) {
		*bias = mapped;
		return COREFILE_SAME;
	}
	if (match == COREFILE_UNTOLD && told && (*bias != found || found % PAGE))
		return COREFILE_OTHER;
	return match;
}
