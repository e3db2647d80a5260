// SPDX-License-Identifier: Apache-2.0
#include "elf/debuglink.h"

#include <string.h>

#include "base/mem.h"
#include "elf/elfnote_internal.h"
#include "elf/image_sections_internal.h"
#include "files/heldfile.h"

/* NOTES_MAX: bytes of one section or segment of notes; real ones have some hundreds */
enum { NOTES_MAX = 1 << 16, LINK_MAX = 4096, PHDRS_MAX = 256 };

struct search {
	struct heldfile *file;
	struct debuglink_id *out;
};

static uint64_t padded(uint64_t len)
{
	return (len + 3) & ~3ull;
}

static void scan_notes(const uint8_t *data, uint64_t len, struct debuglink_id *out)
{
	struct elfnote note;

	for (uint64_t off = 0; !out->len && elfnote_next(data, len, &off, &note);) {
		if (!elfnote_is(&note, NT_GNU_BUILD_ID, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) ||
		    note.len > DEBUGLINK_ID_MAX)
			continue;
		out->len = note.len;
		memcpy(out->bytes, note.desc, note.len);
	}
}

static void read_notes(const struct search *search, uint64_t off, uint64_t len)
{
	const uint8_t *data = len <= NOTES_MAX ? heldfile_at(search->file, off, len) : NULL;

	if (data && !search->out->len)
		scan_notes(data, len, search->out);
}

static bool see_section(const char *name, const Elf64_Shdr *sh, void *ctx)
{
	struct search *search = ctx;

	(void)name;
	if (sh->sh_type == SHT_NOTE)
		read_notes(search, sh->sh_offset, sh->sh_size);
	return !search->out->len;
}

/* Files without section headers still have segments of notes: the kernel reads some of them. */
static void read_segments(const struct search *search, const Elf64_Ehdr *eh)
{
	Elf64_Phdr ph;

	for (unsigned i = 0; i < eh->e_phnum && i < PHDRS_MAX; i++)
		if (eh->e_phoff < heldfile_size(search->file) &&
		    heldfile_read(search->file, eh->e_phoff + i * sizeof(ph), sizeof(ph), &ph) &&
		    ph.p_type == PT_NOTE)
			read_notes(search, ph.p_offset, ph.p_filesz);
}

void debuglink_read_id(const struct image_sections *secs, struct debuglink_id *out)
{
	struct search search = {image_sections_file(secs), out};

	out->len = 0;
	image_sections_each(secs, see_section, &search);
	if (!out->len)
		read_segments(&search, image_sections_header(secs));
}

char *debuglink_read_name(const struct image_sections *secs, uint32_t *checksum)
{
	struct image_section sec;
	const char *text = NULL;

	/* a name that ends in a NUL, padding, and the checksum at a multiple of 4 */
	if (image_sections_find(secs, ".gnu_debuglink", &sec) && sec.size <= LINK_MAX)
		text = heldfile_at(image_sections_file(secs), sec.off, sec.size);
	const char *end = text ? memchr(text, '\0', sec.size) : NULL;
	uint64_t off = end ? padded(end + 1 - text) : 0;

	if (!end || end == text || memchr(text, '/', end - text) ||
	    sec.size < off + sizeof(*checksum))
		return NULL;
	memcpy(checksum, text + off, sizeof(*checksum));
	return mem_strdup(text);
}

bool debuglink_checksum(struct heldfile *file, uint32_t *out)
{
	uint64_t size = heldfile_size(file);
	const uint8_t *data = heldfile_at(file, 0, size);
	uint32_t table[256], sum = 0xffffffff;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (uint64_t i = 0; data && i < size; i++)
		sum = sum >> 8 ^ table[(sum ^ data[i]) & 0xff];
	*out = ~sum;
	return data;
}
