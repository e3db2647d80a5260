/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room probespec uses of expr. */
#ifndef EXPR_INTERNAL_H
#define EXPR_INTERNAL_H

#include "probespec/expr.h"

void expr_free(struct expr *expr); /* and its parts; NULL is all right */
/* of a binary operator: a higher one binds more tightly; of others 0 */
unsigned expr_op_precedence(enum expr_op op);
/* The one called `name`, which has `len` bytes, the dollar included; -1: none. */
int expr_special_find(const char *name, size_t len);

#endif
