// SPDX-License-Identifier: Apache-2.0
/* Tools that ask for functions of Go's runtime are given programs, and no patterns. */
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

#include "base/errmsg.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "selection/target.h"
#include "tracing/command_internal.h"

static int open_binary(struct tracer *tracer, const char *binary, struct errmsg *err)
{
	struct heldfile *file = !binary && tracer->command
					? command_open(tracer->command, err)
					: target_resolve(binary, tracer->process, err);
	struct program *prog = tracer_open(tracer, file, err);

	if (!binary)
		tracer->executed = prog;
	return prog ? 0 : -1;
}

int tracer_add_binaries(struct tracer *tracer, struct errmsg *err)
{
	const struct tracer_config *config = tracer->config;

	for (size_t i = 0; i < config->pattern_count; i++)
		if (open_binary(tracer, config->patterns[i], err))
			return -1;
	if (!config->pattern_count && !tracer->running && open_binary(tracer, NULL, err))
		return -1;
	tracer->sel->want.runtime = true;
	for (size_t n = 0; n < config->runtime_func_count; n++) {
		selection_group(tracer->sel, n,
				config->want.returns || config->runtime_funcs[n].returns);
		for (size_t i = 0; i < tracer->program_count; i++)
			if (runtime_func_add(tracer->sel, tracer->programs[i],
					     &config->runtime_funcs[n], err))
				return -1;
	}
	return 0;
}
