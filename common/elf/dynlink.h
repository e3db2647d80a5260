/* SPDX-License-Identifier: Apache-2.0 */
/* What the dynamic linker does with an x86-64 ELF file: the libraries it loads, and the words it
 * fills with addresses of symbols. Only the dynamic section is read, which stripping keeps. */
#ifndef DYNLINK_H
#define DYNLINK_H

#include <stdbool.h>
#include <stdint.h>

struct image;

struct dynlink_symbol {
	const char *name; /* lives as long as the image */
	uint64_t value, size;
	bool defined; /* in this file */
};

struct dynlink_reloc {
	uint64_t addr; /* of the word that is filled */
	uint32_t type; /* R_X86_64_... */
	int64_t addend;
	struct dynlink_symbol symbol;
};

/* Calls fn for each relocation that names a symbol and is done when the program is loaded; stops
 * when it answers false. */
void dynlink_each(const struct image *img, bool (*fn)(const struct dynlink_reloc *, void *ctx),
		  void *ctx);

/* The name of the first needed library that begins with `prefix`; NULL: none. */
const char *dynlink_needs(const struct image *img, const char *prefix);

#endif
