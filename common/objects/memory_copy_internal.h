/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a program's memory as they were at one moment, to be read when it runs on. */
#ifndef MEMORY_COPY_INTERNAL_H
#define MEMORY_COPY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory;
struct memory_copy;

struct memory_copy *memory_copy_new(void);
void memory_copy_free(struct memory_copy *copy); /* NULL is all right */
/* Gets so many bytes ready, so that to copy as many later takes less time. */
void memory_copy_reserve(struct memory_copy *copy, size_t bytes);
/* Copies these bytes, which are none of another part; false: they cannot be read. */
bool memory_copy_add(struct memory_copy *copy, const struct memory *mem, uint64_t addr, size_t len);
/* Of struct memory, ctx: the copy. To be called when all parts are added. */
bool memory_copy_read(void *ctx, uint64_t addr, void *out, size_t len);

#endif
