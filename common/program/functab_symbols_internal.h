/* SPDX-License-Identifier: Apache-2.0 */
/* The function table of a gccgo program, made of its ELF symbols. */
#ifndef FUNCTAB_SYMBOLS_INTERNAL_H
#define FUNCTAB_SYMBOLS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;
struct functab_func;
struct functab_symbols;

/* NULL when the file was not made by gccgo. */
struct functab_symbols *functab_symbols_new(const struct image *img, uint64_t file_size);
void functab_symbols_free(struct functab_symbols *syms); /* NULL is all right */

/* As functab_left_out(), functab_count(), functab_func() and functab_find(). */
size_t functab_symbols_left_out(const struct functab_symbols *syms);
size_t functab_symbols_count(const struct functab_symbols *syms);
bool functab_symbols_func(const struct functab_symbols *syms, size_t index,
			  struct functab_func *out);
bool functab_symbols_find(const struct functab_symbols *syms, uint64_t addr,
			  struct functab_func *out);

#endif
