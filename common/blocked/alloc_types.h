/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the types that are allocated. */
#ifndef ALLOC_TYPES_H
#define ALLOC_TYPES_H

#include <stdbool.h>
#include <stdint.h>

struct alloc_types;
struct program;

/* The program outlives it. Never NULL; the caller frees. */
struct alloc_types *alloc_types_new(const struct program *prog);
void alloc_types_free(struct alloc_types *types); /* NULL is all right */
/* As Go prints it, of the descriptor at `addr` in the program's file: "main.T", or with `many`
 * elements of it "[]main.T". 0: memory without pointers, "noscan". Valid as long as the types. Of a
 * process that tells of ever more types, not all have a name. */
const char *alloc_types_name(struct alloc_types *types, uint64_t addr, bool many);

#endif
