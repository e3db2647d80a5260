/* SPDX-License-Identifier: Apache-2.0 */
/* Types that PROBEs name by x.(T). */
#ifndef TRACEPLAN_HELD_INTERNAL_H
#define TRACEPLAN_HELD_INTERNAL_H

#include <stdbool.h>

struct errmsg;
struct gotype;

/* The type that x.(NAME) asserts: a named type, or a pointer to one; `info` is a struct funcinfo.
 * NULL with *err: no interface of the program can hold one. *direct: an interface's data word is
 * the value itself. */
const struct gotype *traceplan_held_type(void *info, const char *name, bool *direct,
					 struct errmsg *err);

#endif
