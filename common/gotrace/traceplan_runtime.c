// SPDX-License-Identifier: Apache-2.0
#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "gotrace/traceplan_parts.h"
#include "gotrace/traceplan_types.h"
#include "selection/program.h"
#include "tracing/tracer.h"

int traceplan_check_runtimes(const struct traceplan_config *config, struct tracer *tracer,
			     struct errmsg *err)
{
	const struct goruntime *rt = &tracer->runtimes[0];

	if (!rt->split_stack)
		return 0;
	if (rt->g_goid)
		return 0;
	if (config->only_goid)
		return errmsg_set(err, "-G: goroutine IDs are not known in \"%s\"",
				  tracer->programs[0]->path);
	selection_note(tracer->sel, mem_printf("goroutine IDs are not known in %s: GOID is 0",
					       tracer->programs[0]->path));
	return 0;
}

void traceplan_open_infos(struct traceplan *plan, const struct tracer *tracer)
{
	struct funcinfo *library = NULL;

	plan->infos = mem_zalloc(tracer->program_count, sizeof(struct funcinfo *));
	plan->info_count = tracer->program_count;
	plan->types = traceplan_types_new();
	for (size_t i = 0; i < tracer->program_count; i++) {
		plan->infos[i] =
			funcinfo_new(tracer->programs[i], tracer->runtimes[i].minor, plan->memory);
		if (tracer->runtimes[i].is_library)
			library = plan->infos[i];
	}
	for (size_t i = 0; library && i < tracer->program_count; i++)
		if (plan->infos[i] != library)
			funcinfo_link(plan->infos[i], library);
}

struct funcinfo *traceplan_funcinfo(const struct traceplan *plan, size_t program)
{
	return plan->infos[program];
}

const struct gotype *traceplan_rtype(const struct traceplan *plan, size_t program, uint64_t rtype,
				     bool *direct)
{
	return traceplan_types_find(plan->types, plan->infos[program], rtype, direct);
}
