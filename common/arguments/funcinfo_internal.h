/* SPDX-License-Identifier: Apache-2.0 */
/* What the modules funcinfo* share. */
#ifndef FUNCINFO_INTERNAL_H
#define FUNCINFO_INTERNAL_H

#include "abi/evidence.h"
#include "arguments/funcinfo.h"

struct funcinfo {
	const struct program *prog;
	struct funcinfo *library; /* of a gccgo program; NULL: none is known */
	struct gotypes *memory;
	struct debuginfo *dbg; /* NULL: none, or not opened */
	struct rtti *rtti;     /* the same */
	bool dbg_tried, rtti_tried;
	struct insn_decoder *decoder; /* NULL: not needed yet */
	struct evidence evidence;
	uint64_t evidence_of; /* address of the function that `evidence` describes; 0: none yet */
	const char **missing; /* types that signatures name; of `memory` */
	size_t missing_count, missing_cap;
};

/* gccgo: tells `dbg`, just opened, where to look up names of types that it lacks. */
void funcinfo_foreign(struct funcinfo *info);

/* The signature that the user gives for a name that exists only as inlined copies: nothing in the
 * program can check it. */
int funcinfo_typed(struct funcinfo *info, const char *name, const char *text, unsigned col,
		   struct gofunc *out, struct errmsg *err);
/* As debuginfo_inlined(), of a copy in `fn`. */
int funcinfo_inlined(struct funcinfo *info, const struct functab_func *fn, const char *name,
		     uint64_t copy, struct gofunc *out, struct debuginfo_variable **vars);

#endif
