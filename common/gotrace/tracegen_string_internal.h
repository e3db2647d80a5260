/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `tracegen`: strings compared with literals, in the kernel. All write code;
 * two set a bool. They return 0, or -1 with the error set. */
#ifndef TRACEGEN_STRING_INTERNAL_H
#define TRACEGEN_STRING_INTERNAL_H

#include "gotrace/tracegen_internal.h"

/* Where the string is that an expression yields: of $ctx(), the one that the context's value is. */
int gen_string_place(struct gen *gen, const struct expr *expr, struct place *out);
/* Is the string at a place, or slice of bytes, equal to a literal? */
int gen_string_equal(struct gen *gen, const struct place *place, const struct expr *literal,
		     struct number *out);
/* STRCMP, hasprefix */
int gen_string_call(struct gen *gen, const struct expr *expr, struct number *out);

#endif
