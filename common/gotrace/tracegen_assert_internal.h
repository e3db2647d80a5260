/* SPDX-License-Identifier: Apache-2.0 */
/* x.(T): what an interface holds. */
#ifndef TRACEGEN_ASSERT_INTERNAL_H
#define TRACEGEN_ASSERT_INTERNAL_H

#include "gotrace/tracegen_internal.h"

struct tracegen_held {
	/* The type of x.(NAME), with its `rtype`, and whether an interface's data word is the
	 * value; NULL with *err. */
	const struct gotype *(*find)(void *ctx, const char *name, bool *direct, struct errmsg *err);
	void *ctx;
	const struct tracegen_contexts *contexts; /* NULL: not known */
};

/* The type with this name, of values that interfaces hold; NULL with the error set. */
const struct gotype *gen_held_type(struct gen *gen, const char *name, unsigned col, bool *direct);

/* Writes code that reads the value; 0, or -1 with the error set. If x holds another type, the
 * value's state says so. */
int gen_assert_place(struct gen *gen, const struct expr *expr, struct place *out);
/* A number that is 0 where x holds no T, or a T that is nil. */
int gen_assert_test(struct gen *gen, const struct expr *expr, struct number *out);

#endif
