/* SPDX-License-Identifier: Apache-2.0 */
/* How a compiler describes Go in DWARF: gc in a way of its own, GCC as if it were C. */
#ifndef DEBUGINFO_DIALECT_INTERNAL_H
#define DEBUGINFO_DIALECT_INTERNAL_H

#include "abi/abi.h"
#include "dwarf/debuginfo_internal.h"

struct debuginfo_dialect {
	/* as debuginfo_func(), of the function's DIE */
	int (*signature)(struct debuginfo *dbg, const struct die *func, uint64_t addr,
			 const char *name, struct gofunc *out);
	/* As debuginfo_place(); `out` has no pieces yet. false: the place is not told. NULL:
	 * parameters are where the convention has them. */
	bool (*place)(const struct die *func, uint64_t addr, size_t param,
		      const struct gotype *type, struct abi_value *out);
	/* from the DIE that a reference leads to, to that of the type */
	bool (*skip)(struct die *die);
	/* a type without its parts; these, when it is their turn */
	struct gotype *(*type)(struct debuginfo *dbg, const struct die *die);
	void (*parts)(struct debuginfo *dbg, struct gotype *type, const struct die *die);
	/* the name in full that a type is looked up by, of a unit's child; NULL: it is none */
	const char *(*name)(struct debuginfo *dbg, const struct die *die);
	bool one_has_all; /* the runtime's unit has all types; else each has its own */
};

extern const struct debuginfo_dialect debuginfo_gc, debuginfo_gccgo;

#endif
