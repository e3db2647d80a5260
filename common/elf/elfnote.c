// SPDX-License-Identifier: Apache-2.0
#include "elf/elfnote_internal.h"

#include <elf.h>
#include <string.h>

static uint64_t padded(uint64_t len)
{
	return (len + 3) & ~3ull;
}

/* Lengths of name and descriptor, type, name, descriptor. The last one may lack its padding. */
bool elfnote_next(const uint8_t *data, uint64_t len, uint64_t *off, struct elfnote *out)
{
	Elf64_Nhdr head;

	if (len < *off || len - *off < sizeof(head))
		return false;
	memcpy(&head, data + *off, sizeof(head));
	uint64_t at = *off + sizeof(head), name = padded(head.n_namesz);

	if (name > len - at || head.n_descsz > len - at - name)
		return false;
	*out = (struct elfnote){.type = head.n_type,
				.name_len = head.n_namesz,
				.len = head.n_descsz,
				.name = data + at,
				.desc = data + at + name};
	*off = at + name + padded(head.n_descsz);
	return true;
}

bool elfnote_is(const struct elfnote *note, uint32_t type, const char *name, uint32_t len)
{
	return note->type == type && note->name_len == len && !memcmp(note->name, name, len);
}
