/* SPDX-License-Identifier: Apache-2.0 */
/* Through which of its fields an object leads to another one. */
#ifndef OBJECT_STEP_INTERNAL_H
#define OBJECT_STEP_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct object_kind;

/* A number for the field at this offset, the same in all elements of an array; 0 where there are
 * none. `kind` NULL: nothing is known of it. */
uint64_t object_step(const struct object_kind *kind, uint64_t off);
/* The field of this number: ".next", ".byName[].leaf"; nothing where there is none. */
void object_step_print(FILE *out, const struct object_kind *kind, uint64_t step);
/* Is the word at this offset a pointer? Where nothing is known of it, it may be one. */
bool object_step_is_pointer(const struct object_kind *kind, uint64_t off);

#endif
