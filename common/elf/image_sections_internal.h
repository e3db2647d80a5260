/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room elf uses of image_sections. */
#ifndef IMAGE_SECTIONS_INTERNAL_H
#define IMAGE_SECTIONS_INTERNAL_H

#include "elf/image_sections.h"

/* as image_section, image_has_symtab and image_each_symbol */
bool image_sections_find(const struct image_sections *secs, const char *name,
			 struct image_section *out);
bool image_sections_has_symtab(const struct image_sections *secs);
void image_sections_each_symbol(const struct image_sections *secs,
				bool (*fn)(const struct image_symbol *, void *), void *ctx);

#endif
