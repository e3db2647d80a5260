// SPDX-License-Identifier: Apache-2.0
#include "traceplan_types.h"

#include <errno.h>

#include "../bpf-src/trace_shared.h"
#include "bpfmap.h"
#include "funcinfo.h"
#include "shape.h"

struct dyntype_fill {
	int fd;
	uint64_t program;
	const struct shape_limits *limits;
};

static bool add_dyntype(const struct gotype *type, bool direct, void *ctx)
{
	const struct dyntype_fill *fill = ctx;
	uint64_t key = type->rtype | fill->program << 48;
	struct trace_dyntype how;

	shape_dyntype(type, direct, fill->limits, &how);
	/* a full table: what is left is shown by its type alone */
	return bpfmap_update(fill->fd, &key, &how) == 0 || errno != E2BIG;
}

void traceplan_fill_types(int fd, struct funcinfo *info, uint64_t program,
			  const struct shape_limits *limits)
{
	struct dyntype_fill fill = {fd, program, limits};

	funcinfo_each_rtype(info, add_dyntype, &fill);
}
