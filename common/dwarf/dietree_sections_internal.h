/* SPDX-License-Identifier: Apache-2.0 */
/* What libdw sees of an ELF file: the sections of DWARF that somebody will ask for, each once, in
 * an ELF file put together anew in the tool's memory. libdw uncompresses each section that it
 * finds, trusts what it reads, and opens further files that some sections name: so it is given
 * neither the file nor its other sections. */
#ifndef DIETREE_SECTIONS_INTERNAL_H
#define DIETREE_SECTIONS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct image_sections;

/* `locations`: with the tables that say where variables are. mmap'd memory of *size bytes, which
 * the caller unmaps; without DWARF it has empty sections. NULL: no memory, or it cannot be read. */
void *dietree_sections_gather(const struct image_sections *secs, bool locations, size_t *size);

#endif
