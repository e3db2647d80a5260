/* SPDX-License-Identifier: Apache-2.0 */
/* What a value's own bytes refer to: its strings, slices, pointers, ..., through fields and array
 * elements. */
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
