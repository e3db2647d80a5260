/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a Go program, from one of two providers.
 *
 * gc's programs, stripped ones too, carry a pclntab (pclntab_*.c): every layout since Go 1.2 (magic
 * fffffffb, fffffffa, fffffff0, fffffff1), with the text base and the base of funcdata from
 * moduledata. Formats: Go's src/runtime/symtab.go, src/internal/abi/symtab.go,
 * src/cmd/link/internal/ld/pcln.go.
 *
 * gccgo's have no such table: theirs is made of the ELF symbols (functab_symbols.c), and has names
 * and extents alone.
 *
 * Addresses are virtual, with load bias 0. */
#ifndef FUNCTAB_H
#define FUNCTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errmsg;
struct image;
struct functab;
struct toolchain;

enum pclntab_layout { PCLNTAB_12, PCLNTAB_116, PCLNTAB_118, PCLNTAB_120 };
enum { PCLNTAB_PCDATA_UNSAFE_POINT = 0, PCLNTAB_PCDATA_INLTREE = 2 };

struct functab_func {
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

/* Of gccgo's programs stack offsets, argument sizes, lines, inline trees and funcdata are unknown,
 * and layout and moduledata are 0. */
const struct toolchain *functab_toolchain(const struct functab *tab);
size_t functab_count(const struct functab *tab);
uint64_t functab_moduledata(const struct functab *tab); /* address; 0: not found */
int functab_release_guess(const struct functab *tab);   /* the lowest with this layout */
/* Bytes of the file, as far as it is loaded: budgets for reading it grow with this. */
uint64_t functab_file_size(const struct functab *tab);
/* gccgo: the number of symbols that were skipped, because their names are longer together than in
 * any real program. */
size_t functab_left_out(const struct functab *tab);

/* false: the index is out of range, or the record is malformed and must be skipped. [addr, end)
 * lies in the file's part of one executable segment, and functions do not overlap. */
bool functab_func(const struct functab *tab, size_t index, struct functab_func *out);
bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *out);
/* first function of exactly this name; false: none */
bool functab_named(const struct functab *tab, const char *name, struct functab_func *out);
/* From Go 1.24 on: the functions whose code a program in FIPS mode hashes when it starts, between
 * two marks, [*from, *to). Format: Go's src/cmd/link/internal/ld/fips140.go. false: none. */
bool functab_fips(const struct functab *tab, uint64_t *from, uint64_t *to);

/* How many bytes the stack pointer is below its value at entry, at the instruction at addr. false:
 * unknown. */
bool functab_sp_delta(const struct functab *tab, const struct functab_func *fn, uint64_t addr,
		      int32_t *bytes);
/* Bytes of stack arguments, stack results and slots for register arguments; in assembly that does
 * not say: INT32_MIN. false: unknown. */
bool functab_args_size(const struct functab *tab, const struct functab_func *fn, int32_t *bytes);
/* The source position of an address; in an inlined body, that of the innermost callee. *file lives
 * as long as the image. */
bool functab_line(const struct functab *tab, const struct functab_func *fn, uint64_t addr,
		  const char **file, int *line);

/* As functab_pcdata(), of lines; in an inlined body, of the innermost callee's file. */
bool functab_each_line(const struct functab *tab, const struct functab_func *fn,
		       bool (*each)(uint64_t from, uint64_t to, int32_t line, void *ctx),
		       void *ctx);

/* The line of the function's declaration; 0: not known, as before Go 1.20. */
int functab_start_line(const struct functab *tab, const struct functab_func *fn);

/* Calls fn for each run [from, to) of equal values in a PCDATA table, in order; -1 means "none".
 * Stops when fn returns false. Returns false when the table is missing or malformed. */
bool functab_pcdata(const struct functab *tab, const struct functab_func *fn, unsigned table,
		    bool (*each)(uint64_t from, uint64_t to, int32_t value, void *ctx), void *ctx);
/* virtual address of FUNCDATA `index`; 0: none */
uint64_t functab_funcdata(const struct functab *tab, const struct functab_func *fn, unsigned index);

struct functab_inlined { /* one node of a function's inline tree */
	const char *name;
	int32_t parent;     /* node that it is inlined into; -1: the function itself */
	uint64_t parent_pc; /* address of an instruction at the call's position, or 0 */
	int32_t call_line;  /* line of the call; 0: unknown (1.20+: take functab_line's view) */
	int32_t start_line; /* of the function's declaration; 0: not known */
};

/* The innermost node at an address; -1: none. */
int32_t functab_node_at(const struct functab *tab, const struct functab_func *fn, uint64_t addr);
/* one of them: slower for all */
bool functab_inlined(const struct functab *tab, const struct functab_func *fn, int32_t node,
		     struct functab_inlined *out);

#endif
