/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `tracegen`: expressions that are taken as C has them, which is probably not
 * what was meant. */
#ifndef TRACEGEN_WARN_H
#define TRACEGEN_WARN_H

#include "gotrace/tracegen_code.h"

/* of a binary one and what its sides are: tells the probe's `warn` */
void gen_warn(const struct gen *gen, const struct expr *expr, const struct number *a,
	      const struct number *b);

#endif
