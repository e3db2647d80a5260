/* SPDX-License-Identifier: Apache-2.0 */
/* ELF notes, one after the other (elf(5)). */
#ifndef ELFNOTE_INTERNAL_H
#define ELFNOTE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct elfnote { /* points into the notes' bytes */
	uint32_t type, name_len, len;
	const uint8_t *name, *desc;
};

/* The note at *off, which moves on behind it; false: there are no more, or what follows goes beyond
 * the end. */
bool elfnote_next(const uint8_t *data, uint64_t len, uint64_t *off, struct elfnote *out);
/* Has it this name of `len` bytes, the NUL at its end included? */
bool elfnote_is(const struct elfnote *note, uint32_t type, const char *name, uint32_t len);

#endif
