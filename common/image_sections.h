/* SPDX-License-Identifier: Apache-2.0 */
/* Section headers and symbols of an image, through libelf: the only file that includes it. */
#ifndef IMAGE_SECTIONS_H
#define IMAGE_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "image.h"

struct image_sections;

/* Of the whole file in memory, which must outlive it. Unusable section headers are none. */
struct image_sections *image_sections_new(void *data, size_t size);
void image_sections_free(struct image_sections *secs);

/* as image_section, image_has_symtab and image_each_symbol */
bool image_sections_find(const struct image_sections *secs, const char *name,
			 struct image_section *out);
bool image_sections_has_symtab(const struct image_sections *secs);
void image_sections_each_symbol(const struct image_sections *secs,
				bool (*fn)(const struct image_symbol *, void *), void *ctx);

#endif
