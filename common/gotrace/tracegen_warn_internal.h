/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `tracegen`: warns of expressions whose meaning in C is probably not what the
 * user meant. */
#ifndef TRACEGEN_WARN_INTERNAL_H
#define TRACEGEN_WARN_INTERNAL_H

#include "gotrace/tracegen_internal.h"

/* checks a binary expression with its two sides, and warns through the probe's `told` */
void gen_warn(const struct gen *gen, const struct expr *expr, const struct number *a,
	      const struct number *b);

#endif
