// SPDX-License-Identifier: Apache-2.0
#include "errmsg.h"
#include "mem.h"
#include "program.h"
#include "traceplan.h"
#include "tracer.h"

int traceplan_check_runtimes(const struct traceplan_config *config, struct tracer *tracer,
			     struct errmsg *err)
{
	const struct goruntime *rt = &tracer->runtimes[0];

	if (!rt->split_stack)
		return 0;
	if (config->user_stack) {
		errmsg_set(err, "stacks of gccgo programs are not supported");
		errmsg_hint(err,
			    "GCC's code keeps no frame pointers; without -U calls are printed");
		return -1;
	}
	if (rt->g_goid)
		return 0;
	if (config->only_goid)
		return errmsg_set(err, "-G: goroutine IDs are not known in \"%s\"",
				  tracer->programs[0]->path);
	selection_note(tracer->sel, mem_printf("goroutine IDs are not known in %s: GOID is 0",
					       tracer->programs[0]->path));
	return 0;
}
