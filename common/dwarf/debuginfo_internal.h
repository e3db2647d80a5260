/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of debuginfo share. */
#ifndef DEBUGINFO_INTERNAL_H
#define DEBUGINFO_INTERNAL_H

#include "base/index.h"
#include "dwarf/debuginfo.h"
#include "dwarf/debuginfo_file_internal.h"
#include "dwarf/dietree.h"

struct debuginfo_unit {
	struct die die;
	bool is_runtime, indexed;      /* of package runtime: one such unit has all types */
	struct debuginfo_entry *funcs; /* by address, once indexed */
	size_t count, cap;
	struct debuginfo_desc *descs; /* gccgo: by name, once somebody asks for one */
	size_t desc_count, desc_cap;
	bool has_descs, has_types; /* the latter is known with the former */
};

struct debuginfo_range { /* code of a unit */
	uint64_t from, to;
	size_t unit;
};

struct debuginfo_package {
	const char *path, *name; /* memory of the tree */
};

struct debuginfo_part { /* a type whose parts are yet to be found */
	struct gotype *type;
	struct die die;
};

struct debuginfo {
	const struct image *img;
	const struct functab *tab;
	int release;
	const struct debuginfo_dialect *dialect;
	bool has_places;
	struct gotypes *types;
	struct debuginfo_file file;
	struct dietree *tree, *places; /* the same with locations, which `tree` has if has_places */
	struct debuginfo_unit *units;
	struct debuginfo_range *ranges; /* by address */
	size_t unit_count, unit_cap, range_count, range_cap;
	struct debuginfo_package *packages; /* by path: those whose name is not its last part */
	struct debuginfo_named *named;      /* by name, once somebody asks for a name */
	size_t package_count, package_cap, named_count, named_cap;
	struct debuginfo_known *known; /* types */
	struct index by_off;           /* of `known`, which has by_off.count entries */
	struct debuginfo_part *queue;
	size_t queue_count, queue_cap, known_cap;
	const struct gotype *unknown;
	struct debuginfo_foreign foreign; /* gccgo */
	uint64_t types_addr;              /* moduledata.types; 0: not known */
	struct insn_decoder *dec;         /* NULL, until it is needed */
};

/* The DIE of the function that begins at addr. */
bool debuginfo_find_function(struct debuginfo *dbg, uint64_t addr, struct die *out);

/* The type that a DIE's DW_AT_type refers to, complete; never NULL: GOTYPE_UNKNOWN of size 0. */
const struct gotype *debuginfo_type_of(struct debuginfo *dbg, const struct die *die);
const struct gotype *debuginfo_type_at(struct debuginfo *dbg, uint64_t off); /* or NULL */
/* The name of the type that a DIE refers to, in full: "*net/http.Request"; "" if it has none. */
const char *debuginfo_full_name(const struct die *die);

/* A type's name as Go prints it: "*http.Request". Memory of dbg->types. */
const char *debuginfo_short_name(struct debuginfo *dbg, const char *full);
void debuginfo_sort_packages(struct debuginfo *dbg);

#endif
