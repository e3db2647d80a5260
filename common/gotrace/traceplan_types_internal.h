/* SPDX-License-Identifier: Apache-2.0 */
/* The types that interfaces may hold: tells the kernel side of them, and finds those that its
 * events name. With gc, a type is known by its descriptor's address in the file. With gccgo,
 * descriptors are in the program or its library, some in both: a type is known by what all its
 * descriptors have in common. */
#ifndef TRACEPLAN_TYPES_INTERNAL_H
#define TRACEPLAN_TYPES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct funcinfo;
struct gotype;
struct shape_limits;
struct tracer;
struct traceplan_types;

struct traceplan_types *traceplan_types_new(void);
void traceplan_types_free(struct traceplan_types *types); /* NULL is all right */

/* Fills map `dyntypes` (fd) with the types of all of the tracer's programs. */
void traceplan_types_fill(struct traceplan_types *types, int fd, const struct tracer *tracer,
			  struct funcinfo *const *infos, const struct shape_limits *limits);
/* The type for `rtype` of struct trace_dynamic, in an event of `info`'s program; NULL: unknown. */
const struct gotype *traceplan_types_find(const struct traceplan_types *types,
					  struct funcinfo *info, uint64_t rtype, bool *direct);

#endif
