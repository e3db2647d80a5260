/* SPDX-License-Identifier: Apache-2.0 */
/* From a PROBE to the code that its probe sites run. */
#ifndef TRACEGEN_PLAN_INTERNAL_H
#define TRACEGEN_PLAN_INTERNAL_H

#include "gotrace/tracegen.h"

/* `memory` owns the plan, except for its text (tracegen_free()). 0, or -1 with *err ("col 34:
 * ..."). */
int tracegen_plan(struct gotypes *memory, const struct tracegen_probe *probe,
		  struct tracegen_plan *out, struct errmsg *err);
void tracegen_free(struct tracegen_plan *plan);

#endif
