/* SPDX-License-Identifier: Apache-2.0 */
/* Types and signatures from DWARF 4 and 5: in the program's file, compressed or not, or in the
 * separate file that its build ID or its debug link names. */
#ifndef DEBUGINFO_H
#define DEBUGINFO_H

#include <stdint.h>

#include "abi/abi.h"
#include "dwarf/dietree_place.h"

struct debuginfo;
struct errmsg;
struct image;
struct functab;

/* NULL with *err: why there is none ("no debug information (DWARF) in it, nor in a separate file
 * ..."). `tab` checks signatures; it may be NULL. Types go to `types`. All of
 * them outlive it. */
struct debuginfo *debuginfo_open(const struct image *img, const struct functab *tab, int release,
				 struct gotypes *types, struct errmsg *err);
void debuginfo_close(struct debuginfo *dbg); /* NULL is all right */

/* The signature of the function that begins at virtual address `addr` and is called `name` in
 * pclntab. 0; -1: nothing is known of it, or not for certain: to Go 1.21 DWARF lacks parameters
 * that have no name. Where their sizes are known from elsewhere, they are there as "_" of kind
 * GOTYPE_UNKNOWN, or of a struct of such. */
int debuginfo_func(struct debuginfo *dbg, uint64_t addr, const char *name, struct gofunc *out);

/* Where a parameter of `sig`, which is from debug information, is at the function's first
 * instruction; for gccgo's programs. If that is not told, *out is unchanged; parts that are not
 * told have no pieces. */
void debuginfo_place(struct debuginfo *dbg, uint64_t addr, const struct gofunc *sig, size_t param,
		     struct abi_value *out);
struct debuginfo_location { /* while one of [from, to) is about to be executed */
	uint64_t from, to;
	struct die_piece *pieces; /* none: nowhere */
	size_t count;
	uint64_t size; /* as in struct die_pieces */
};

struct debuginfo_variable { /* where a parameter is said to be */
	struct debuginfo_location *locations;
	size_t count;
};

/* Of an inlined copy of function `name`, in the function that begins at `func`, whose lowest
 * address is `copy`: the signature, and the places of each of its parameters; memory of the types.
 * 0; -1: nothing is known of it. */
int debuginfo_inlined(struct debuginfo *dbg, uint64_t func, const char *name, uint64_t copy,
		      struct gofunc *out, struct debuginfo_variable **vars);

/* gccgo: DWARF does not tell the package of what another package exports. Who is asked for the name
 * in full, as Go prints it, of the one type called `last` of this kind and size (UINT64_MAX: any);
 * NULL: not known. */
struct debuginfo_foreign {
	const char *(*find)(void *ctx, const char *last, enum gotype_kind kind, uint64_t size);
	void *ctx;
};
void debuginfo_ask(struct debuginfo *dbg, const struct debuginfo_foreign *foreign);

/* By Go's name, "net/http.Request" or, if that is unique, "http.Request"; NULL: none. */
const struct gotype *debuginfo_type(struct debuginfo *dbg, const char *name);

#endif
