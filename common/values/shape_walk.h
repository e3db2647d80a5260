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

static inline uint32_t shape_round(uint32_t size)
{
	return (size + 7) & ~7u;
}

#endif
