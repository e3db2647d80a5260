/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room values uses of shape. */
#ifndef SHAPE_INTERNAL_H
#define SHAPE_INTERNAL_H

#include "values/shape.h"

/* bytes of a record that SHAPE_DYNAMIC takes */
uint32_t shape_dynamic_size(const struct shape_limits *limits, uint32_t levels);
/* The shape of the value in a struct trace_dynamic that stands at `at`, as read by the above, the
 * first of so many levels. For a pointer it is the shape of what it points to. */
struct shape *shape_of_dynamic(struct gotypes *memory, const struct gotype *type, bool direct,
			       uint32_t levels, const struct shape_limits *limits, uint32_t at);

#endif
