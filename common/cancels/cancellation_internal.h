/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CANCELLATION_INTERNAL_H
#define CANCELLATION_INTERNAL_H

#include <stddef.h>

#include "cancels/cancellation.h"

struct cancel_error;

/* The name of the error's type; NULL: nil, or not known. Valid as long as the types. */
const char *cancellation_type(const struct cancellation *of, const struct cancel_error *error,
			      struct alloc_types *types);
/* What its method Error returns, `len` bytes of it; NULL: that is not known for this type. *cut:
 * there is more. Valid as long as the error. */
const char *cancellation_text(const struct cancel_error *error, const char *type, size_t *len,
			      bool *cut);
/* The first function of a stack outside of package context, or *out with func NULL. */
void cancellation_outside(const struct stacks *stacks, uint64_t stack, uint64_t bias,
			  struct frame *out);

#endif
