/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel side knows of the types that interfaces may hold. */
#ifndef TRACEPLAN_TYPES_H
#define TRACEPLAN_TYPES_H

#include <stdint.h>

struct funcinfo;
struct shape_limits;

/* Into map `dyntypes`, whose descriptor is fd, of the program of this number. */
void traceplan_fill_types(int fd, struct funcinfo *info, uint64_t program,
			  const struct shape_limits *limits);

#endif
