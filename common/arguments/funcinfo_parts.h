/* SPDX-License-Identifier: Apache-2.0 */
/* What the modules funcinfo* share. */
#ifndef FUNCINFO_PARTS_H
#define FUNCINFO_PARTS_H

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

#endif
