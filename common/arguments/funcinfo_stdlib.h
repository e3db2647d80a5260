/* SPDX-License-Identifier: Apache-2.0 */
/* What Go's sources say of functions of the standard library: for programs that do not. */
#ifndef FUNCINFO_STDLIB_H
#define FUNCINFO_STDLIB_H

#include <stdbool.h>

#include "golang/gofunc.h"

struct gotypes;
struct functab_func;
struct signature_names;

/* false: not known, also where the program lacks a type whose size matters. Results that cannot be
 * told are left out with the rest. */
bool funcinfo_stdlib(struct gotypes *memory, const struct signature_names *names,
		     const struct functab_func *fn, struct gofunc *out);
/* Gives the parameters and results of a signature that has none names, where the two agree. */
void funcinfo_stdlib_names(struct gotypes *memory, const struct signature_names *names,
			   const struct functab_func *fn, struct gofunc *sig);

#endif
