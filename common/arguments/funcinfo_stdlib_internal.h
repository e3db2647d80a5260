/* SPDX-License-Identifier: Apache-2.0 */
/* What Go's sources say of functions of the standard library, for programs that do not say it. */
#ifndef FUNCINFO_STDLIB_INTERNAL_H
#define FUNCINFO_STDLIB_INTERNAL_H

#include <stdbool.h>

#include "golang/gofunc.h"

struct gotypes;
struct functab_func;
struct signature_names;

/* false: not known, or the program lacks a type whose size matters, even if only a result's. */
bool funcinfo_stdlib(struct gotypes *memory, const struct signature_names *names,
		     const struct functab_func *fn, struct gofunc *out);
/* Names the parameters and results of a signature without names, if Go's sources agree with it. */
void funcinfo_stdlib_names(struct gotypes *memory, const struct signature_names *names,
			   const struct functab_func *fn, struct gofunc *sig);

#endif
