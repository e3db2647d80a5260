/* SPDX-License-Identifier: Apache-2.0 */
/* Types that PROBEs name by x.(T). */
#ifndef TRACEPLAN_HELD_H
#define TRACEPLAN_HELD_H

#include <stdbool.h>

struct errmsg;
struct gotype;

/* The type that x.(NAME) asserts: a named one, or a pointer to such; `info` is the struct funcinfo.
 * NULL with *err: no interface of the program can hold one. *direct: its data word is the value. */
const struct gotype *traceplan_held_type(void *info, const char *name, bool *direct,
					 struct errmsg *err);

#endif
