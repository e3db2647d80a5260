/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of inlined copies, where debug information has them and the code agrees. */
#ifndef COPYINFO_LOCATED_INTERNAL_H
#define COPYINFO_LOCATED_INTERNAL_H

#include "abi/abi.h"

struct debuginfo_variable;
struct inlining_copy;
struct functab_func;
struct site_finder;

struct copyinfo_vars {
	struct site_finder *finder;
	const struct functab_func *fn; /* that contains the copy */
	const struct inlining_copy *copy;
	const struct gofunc *sig;
	const struct debuginfo_variable *vars; /* of its parameters */
	unsigned *steps;                       /* as in struct provenance */
};

/* No parameter, no result has a place. Caller frees the layout. */
void copyinfo_nowhere(const struct gofunc *sig, struct abi_layout *out);
/* Their places while the instruction at addr is about to be executed. Caller frees the layout. */
void copyinfo_located(const struct copyinfo_vars *vars, uint64_t addr, struct abi_layout *out);

#endif
