/* SPDX-License-Identifier: Apache-2.0 */
/* Section headers and symbols of an ELF file. Libraries are not used for this, because they need
 * the whole file in memory, and trust that string tables are terminated. */
#ifndef IMAGE_SECTIONS_H
#define IMAGE_SECTIONS_H

#include <elf.h>
#include <stdbool.h>

#include "elf/image.h"

struct heldfile;
struct image_sections;

/* Never NULL; unusable section headers are none, as is what is not ELF of 64 bits. `file` is
 * shared. */
struct image_sections *image_sections_new(struct heldfile *file);
void image_sections_free(struct image_sections *secs); /* NULL is all right */

struct heldfile *image_sections_file(const struct image_sections *secs);
const Elf64_Ehdr *image_sections_header(const struct image_sections *secs);
/* Each section in the file's order, the first, which is none, left out; `name` is "" where it has
 * none. Stops when fn answers false. */
void image_sections_each(const struct image_sections *secs,
			 bool (*fn)(const char *name, const Elf64_Shdr *sh, void *ctx), void *ctx);

#endif
