/* SPDX-License-Identifier: Apache-2.0 */
/* What an ELF file says of itself in its GNU property note (the x86-64 psABI, "Program Property").
 */
#ifndef GNUPROPERTY_H
#define GNUPROPERTY_H

#include <stdbool.h>

struct image;

/* May the C library give threads that run this file's code a shadow stack? It does if the note says
 * so. Yes, too, where the notes cannot be read. */
bool gnuproperty_shadow_stack(const struct image *img);

#endif
