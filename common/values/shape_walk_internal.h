/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room values uses of shape_walk. */
#ifndef SHAPE_WALK_INTERNAL_H
#define SHAPE_WALK_INTERNAL_H

#include "values/shape_walk.h"

/* Is a pointer to such a type followed wherever it stands, as its text is what people want to see,
 * or is a part of another's? */
bool shape_walk_is_followed(const struct gotype *type);
/* Is there any? */
bool shape_walk_any(const struct gotype *type, uint32_t size);

#endif
