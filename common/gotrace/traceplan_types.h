/* SPDX-License-Identifier: Apache-2.0 */
/* What interfaces may hold: what the kernel side knows of these types, and what its events mean.
 * A descriptor of gc's is known by its address in the file. Those of gccgo's are in a program's
 * library as well as in the program, some in both: a type is known by what is alike in all. */
#ifndef TRACEPLAN_TYPES_H
#define TRACEPLAN_TYPES_H

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

/* Into map `dyntypes`, whose descriptor is fd: those of each of the tracer's programs. */
void traceplan_types_fill(struct traceplan_types *types, int fd, const struct tracer *tracer,
			  struct funcinfo *const *infos, const struct shape_limits *limits);
/* The type that an event of `info`'s program tells by struct trace_dynamic's `rtype`; NULL:
 * unknown. */
const struct gotype *traceplan_types_find(const struct traceplan_types *types,
					  struct funcinfo *info, uint64_t rtype, bool *direct);

#endif
