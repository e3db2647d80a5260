// SPDX-License-Identifier: Apache-2.0
#include "elf/gnuproperty.h"

#include <stdint.h>
#include <string.h>

#include "elf/image.h"
#include "elf/image_sections.h"
#include "files/heldfile.h"

/* NOTES_MAX: bytes of one segment of notes; real ones have some hundreds. The last two are
 * elf.h's, which older ones lack. */
enum { NOTES_MAX = 1 << 16, PHDRS_MAX = 256, SHADOW_STACK = 1 << 1 };
#define SEGMENT_GNU_PROPERTY 0x6474e553
#define PROPERTY_X86_FEATURES 0xc0000002 /* GNU_PROPERTY_X86_FEATURE_1_AND */

enum answer { NO, YES, MALFORMED };

struct bytes { /* what is left to be read */
	const uint8_t *at;
	uint64_t len;
};

/* Takes `len` bytes off, and padding up to a multiple of `align`, a power of two; the very last
 * piece may lack its padding. NULL: there are not as many. */
static const uint8_t *take(struct bytes *from, uint64_t len, uint64_t align)
{
	const uint8_t *at = from->at;
	uint64_t padded = (len + align - 1) & ~(align - 1);

	if (len > from->len)
		return NULL;
	if (padded > from->len)
		padded = from->len;
	from->at += padded;
	from->len -= padded;
	return at;
}

/* type, length, value; again and again */
static enum answer scan_properties(struct bytes desc)
{
	while (desc.len) {
		const uint8_t *head = take(&desc, 2 * sizeof(uint32_t), 1);
		uint32_t type, len, features;

		if (!head)
			return MALFORMED;
		memcpy(&type, head, sizeof(type));
		memcpy(&len, head + sizeof(type), sizeof(len));
		const uint8_t *value = take(&desc, len, 8);

		if (!value)
			return MALFORMED;
		if (type != PROPERTY_X86_FEATURES)
			continue;
		if (len != sizeof(features))
			return MALFORMED;
		memcpy(&features, value, sizeof(features));
		if (features & SHADOW_STACK)
			return YES;
	}
	return NO;
}

/* lengths of name and descriptor, type, name, descriptor; again and again */
static enum answer scan_notes(struct bytes notes, uint64_t align)
{
	enum answer found = NO;
	Elf64_Nhdr note;

	while (notes.len && found == NO) {
		const uint8_t *head = take(&notes, sizeof(note), 1), *name, *desc;

		if (!head)
			return MALFORMED;
		memcpy(&note, head, sizeof(note));
		name = take(&notes, note.n_namesz, 4);
		desc = name ? take(&notes, note.n_descsz, align) : NULL;
		if (!desc)
			return MALFORMED;
		if (note.n_type == NT_GNU_PROPERTY_TYPE_0 &&
		    note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			found = scan_properties((struct bytes){desc, note.n_descsz});
	}
	return found;
}

static enum answer scan_segment(struct heldfile *file, const Elf64_Phdr *ph)
{
	const uint8_t *data = NULL;

	if (!ph->p_filesz)
		return NO;
	if (ph->p_filesz <= NOTES_MAX)
		data = heldfile_at(file, ph->p_offset, ph->p_filesz);
	if (!data)
		return MALFORMED;
	return scan_notes((struct bytes){data, ph->p_filesz}, ph->p_align == 8 ? 8 : 4);
}

bool gnuproperty_shadow_stack(const struct image *img)
{
	const struct image_sections *secs = image_sections(img);
	const Elf64_Ehdr *eh = image_sections_header(secs);
	struct heldfile *file = image_sections_file(secs);
	enum answer found = eh->e_phnum > PHDRS_MAX ? MALFORMED : NO;
	Elf64_Phdr ph;

	for (unsigned i = 0; i < eh->e_phnum && found == NO; i++) {
		if (!heldfile_read(file, eh->e_phoff + i * sizeof(ph), sizeof(ph), &ph))
			return true;
		if (ph.p_type == PT_NOTE || ph.p_type == SEGMENT_GNU_PROPERTY)
			found = scan_segment(file, &ph);
	}
	return found != NO;
}
