/* SPDX-License-Identifier: Apache-2.0 */
/* The function table of a gccgo program, made of its ELF symbols. */
#ifndef PCLNTAB_SYMBOLS_H
#define PCLNTAB_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;
struct pclntab_func;
struct pclntab_symbols;

/* NULL when the file was not made by gccgo. */
struct pclntab_symbols *pclntab_symbols_new(const struct image *img, uint64_t file_size);
void pclntab_symbols_free(struct pclntab_symbols *syms); /* NULL is all right */

/* as pclntab_count, pclntab_func and pclntab_find */
/* Symbols that were not looked at: names are too long together. */
size_t pclntab_symbols_left_out(const struct pclntab_symbols *syms);
size_t pclntab_symbols_count(const struct pclntab_symbols *syms);
bool pclntab_symbols_func(const struct pclntab_symbols *syms, size_t index,
			  struct pclntab_func *out);
bool pclntab_symbols_find(const struct pclntab_symbols *syms, uint64_t addr,
			  struct pclntab_func *out);

#endif
