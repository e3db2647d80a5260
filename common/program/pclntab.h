/* SPDX-License-Identifier: Apache-2.0 */
/* Go's function table, pclntab, in every layout since Go 1.2 (magic fffffffb, fffffffa, fffffff0,
 * fffffff1), with the text base and the base of funcdata from moduledata. Stripped programs have
 * it too. Formats: Go's src/runtime/symtab.go, src/internal/abi/symtab.go,
 * src/cmd/link/internal/ld/pcln.go. Programs of gccgo have no such table: theirs is made from the
 * ELF symbols, and has only names and extents. Addresses are virtual, with load bias 0. */
#ifndef PCLNTAB_H
#define PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errmsg;
struct image;
struct pclntab;

enum pclntab_layout { PCLNTAB_12, PCLNTAB_116, PCLNTAB_118, PCLNTAB_120 };
enum { PCLNTAB_PCDATA_UNSAFE_POINT = 0, PCLNTAB_PCDATA_INLTREE = 2 };

struct pclntab_func {
	uint32_t index;
	const char *name; /* as Go prints it; lives as long as the image and the table */
	uint64_t addr;
	uint64_t end;    /* the next function's addr: padding included */
	uint8_t func_id; /* runtime's funcID: numbers differ by version */
	uint8_t flags;   /* TopFrame 1, SPWrite 2, Asm 4 (from 1.18) */
	bool is_asm;     /* flags, or where they do not say, its file ends in .s */
	bool is_wrapper; /* compiler-made wrapper (funcID_wrapper) */
	bool is_clone;   /* gccgo: GCC changed how it is called (main.f.isra.0, .constprop.0) */
	uint64_t record; /* address of its _func, for this module's own use */
};

/* NULL and *err ("not a Go program" or what is malformed). The image outlives it. */
struct pclntab *pclntab_open(const struct image *img, struct errmsg *err);
void pclntab_close(struct pclntab *tab);

/* Was it made from the symbols of a gccgo program? Then stack offsets, argument sizes, lines,
 * inline trees and funcdata are unknown, and layout and moduledata are 0. */
bool pclntab_is_gccgo(const struct pclntab *tab);
enum pclntab_layout pclntab_layout(const struct pclntab *tab);
size_t pclntab_count(const struct pclntab *tab);
uint64_t pclntab_addr(const struct pclntab *tab);       /* of its header */
uint64_t pclntab_moduledata(const struct pclntab *tab); /* address; 0: not found */
int pclntab_release_guess(const struct pclntab *tab);   /* the lowest with this layout */
/* Bytes of the file, as far as it is loaded: budgets for reading it grow with this. */
uint64_t pclntab_file_size(const struct pclntab *tab);
/* gccgo: the number of symbols that were skipped, because their names are longer together than in
 * any real program. */
size_t pclntab_left_out(const struct pclntab *tab);

/* false: the index is out of range, or the record is malformed and must be skipped. [addr, end)
 * lies in the file's part of one executable segment, and functions do not overlap. */
bool pclntab_func(const struct pclntab *tab, size_t index, struct pclntab_func *out);
bool pclntab_find(const struct pclntab *tab, uint64_t addr, struct pclntab_func *out);
/* first function of exactly this name; false: none */
bool pclntab_named(const struct pclntab *tab, const char *name, struct pclntab_func *out);
/* From Go 1.24 on: the functions whose code a program in FIPS mode hashes when it starts, between
 * two marks, [*from, *to). Format: Go's src/cmd/link/internal/ld/fips140.go. false: none. */
bool pclntab_fips(const struct pclntab *tab, uint64_t *from, uint64_t *to);

/* How many bytes the stack pointer is below its value at entry, at the instruction at addr. false:
 * unknown. */
bool pclntab_sp_delta(const struct pclntab *tab, const struct pclntab_func *fn, uint64_t addr,
		      int32_t *bytes);
/* Bytes of stack arguments, stack results and slots for register arguments; in assembly that does
 * not say: INT32_MIN. false: unknown. */
bool pclntab_args_size(const struct pclntab *tab, const struct pclntab_func *fn, int32_t *bytes);
/* The source position of an address; in an inlined body, that of the innermost callee. *file lives
 * as long as the image. */
bool pclntab_line(const struct pclntab *tab, const struct pclntab_func *fn, uint64_t addr,
		  const char **file, int *line);

/* Calls fn for each run [from, to) of equal values in a PCDATA table, in order; -1 means "none".
 * Stops when fn returns false. Returns false when the table is missing or malformed. */
bool pclntab_pcdata(const struct pclntab *tab, const struct pclntab_func *fn, unsigned table,
		    bool (*each)(uint64_t from, uint64_t to, int32_t value, void *ctx), void *ctx);
/* virtual address of FUNCDATA `index`; 0: none */
uint64_t pclntab_funcdata(const struct pclntab *tab, const struct pclntab_func *fn, unsigned index);

struct pclntab_inlined { /* one node of a function's inline tree */
	const char *name;
	int32_t parent;     /* node that it is inlined into; -1: the function itself */
	uint64_t parent_pc; /* address of an instruction at the call's position, or 0 */
	int32_t call_line;  /* line of the call; 0: unknown (1.20+: take pclntab_line's view) */
};

/* Number of nodes that have code: 1 + the highest index in PCDATA_INLTREE. */
int32_t pclntab_inlined_count(const struct pclntab *tab, const struct pclntab_func *fn);
/* Reads nodes 0 to count - 1 into `out`; returns how many were read before one was malformed. */
int32_t pclntab_inlined_all(const struct pclntab *tab, const struct pclntab_func *fn,
			    struct pclntab_inlined *out, int32_t count);
/* The innermost node at an address; -1: none. */
int32_t pclntab_node_at(const struct pclntab *tab, const struct pclntab_func *fn, uint64_t addr);
/* one of them: slower for all */
bool pclntab_inlined(const struct pclntab *tab, const struct pclntab_func *fn, int32_t node,
		     struct pclntab_inlined *out);

#endif
