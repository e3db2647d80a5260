/* SPDX-License-Identifier: Apache-2.0 */
/* The references in a value's own bytes: strings, slices, pointers and so on, in fields and array
 * elements too. */
#ifndef SHAPE_WALK_H
#define SHAPE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "golang/gotype.h"

/* Calls fn for those that lie in the first `size` bytes of a value of `type`, as far as it is sane,
 * in the order of their offsets. Stops when it answers false. */
void shape_walk(const struct gotype *type, uint32_t size,
		bool (*fn)(const struct gotype *type, uint32_t off, void *ctx), void *ctx);

/* Is a pointer to such a type followed wherever it stands, as its text is what people want to see,
 * or is a part of another's? */
bool shape_walk_is_followed(const struct gotype *type);

/* Is there any? */
bool shape_walk_any(const struct gotype *type, uint32_t size);

static inline uint32_t shape_round(uint32_t size)
{
	return (size + 7) & ~7u;
}

#endif
