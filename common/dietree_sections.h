/* SPDX-License-Identifier: Apache-2.0 */
/* libdw uncompresses each section of DWARF that it finds when it opens a file: those that nobody
 * will ask for, line tables above all, are hidden from it. */
#ifndef DIETREE_SECTIONS_H
#define DIETREE_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>

/* Changes section headers in `data`, a private copy of an ELF file, of `size` bytes. `locations`:
 * where variables are is asked for. What is malformed stays as it is. */
void dietree_hide_sections(void *data, size_t size, bool locations);

#endif
