/* SPDX-License-Identifier: Apache-2.0 */
/* GCC's DWARF for Go: C's types, by whose members Go's are known (gcc/go/gofrontend/types.cc,
 * gcc/go/go-gcc.cc). */
#ifndef DEBUGINFO_GCCGO_INTERNAL_H
#define DEBUGINFO_GCCGO_INTERNAL_H

#include "abi/abi.h"
#include "dwarf/debuginfo_internal.h"

/* The size of an array type until that of its elements is known: DWARF does not tell it. */
#define DEBUGINFO_SIZE_LATER UINT64_MAX

/* As debuginfo_type_of(), but its parts are found later, when it is its turn in the queue. */
const struct gotype *debuginfo_part(struct debuginfo *dbg, const struct die *die,
				    enum die_attr attr);
void debuginfo_queue(struct debuginfo *dbg, struct gotype *type, const struct die *die);
/* Makes room for a struct type's fields; calls `add` for each member, to put its field there. */
typedef void debuginfo_field_fn(struct debuginfo *dbg, struct gotype *type,
				const struct die *member);
void debuginfo_fields(struct debuginfo *dbg, struct gotype *type, const struct die *die,
		      debuginfo_field_fn *add);

/* From qualifiers to the type itself, which may be a typedef. */
bool debuginfo_gccgo_skip(struct die *die);
/* ... and from typedefs to what they stand for */
bool debuginfo_gccgo_bare(struct die *die);
/* Of a DIE that debuginfo_gccgo_bare() led to. */
enum gotype_kind debuginfo_gccgo_kind(const struct die *die);
bool debuginfo_gccgo_is_time(const struct die *die);                 /* time.Time's fields? */
bool debuginfo_gccgo_elem(const struct die *slice, struct die *out); /* what a slice is of */

enum { DEBUGINFO_DIMS = 8 };
/* The lengths of an array and of the arrays in it, outermost first; returns how many there are. */
size_t debuginfo_gccgo_dims(const struct die *array, uint64_t lengths[DEBUGINFO_DIMS]);

/* Does the unit of a DIE tell types, and so parameters? By default gccgo's tell functions alone
 * (-g1). */
bool debuginfo_gccgo_has_types(struct debuginfo *dbg, const struct die *die);
/* As in struct debuginfo_dialect */
int debuginfo_gccgo_signature(struct debuginfo *dbg, const struct die *func, uint64_t addr,
			      const char *name, struct gofunc *out);
bool debuginfo_gccgo_place(const struct die *func, uint64_t addr, size_t param,
			   const struct gotype *type, struct abi_value *out);

struct debuginfo_desc {   /* of a type, made where it was declared */
	const char *last; /* "Thing", of the name; memory of dbg->types */
	const char *full; /* "example.com/lib.Thing" */
	uint64_t addr;    /* of the run-time descriptor */
};

/* The one of the typedef's type; NULL: none, or several might be. */
const struct debuginfo_desc *debuginfo_gccgo_desc(struct debuginfo *dbg, const struct die *def);
/* The name that the program itself prints; NULL: `desc` is not of such a type. */
const char *debuginfo_gccgo_desc_name(struct debuginfo *dbg, const struct debuginfo_desc *desc,
				      enum gotype_kind kind, uint64_t size);
/* The same of a type that another package exports, which has no descriptor in the unit. */
const char *debuginfo_gccgo_foreign_name(struct debuginfo *dbg, const struct die *def,
					 enum gotype_kind kind, uint64_t size);
/* A type's name as Go prints it; memory of dbg->types. */
const char *debuginfo_gccgo_name(struct debuginfo *dbg, const struct die *die);

#endif
