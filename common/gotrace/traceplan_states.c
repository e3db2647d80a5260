// SPDX-License-Identifier: Apache-2.0
/* $running and the like: what is traced for them beside the PROBEs' functions. */
#include "gotrace/traceplan_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "latency/states.h"
#include "tracing/tracer.h"

/* The items that were added have no plans, but are served by a part of their own. */
static void add_part(struct traceplan *plan, struct tracer *tracer)
{
	size_t count = tracer_selection(tracer)->item_count;
	struct tracer_plan *numbers = mem_zalloc(count, sizeof(*numbers));

	memcpy(numbers, plan->numbers, plan->item_count * sizeof(*numbers));
	for (size_t i = plan->item_count; i < count; i++)
		numbers[i].part = tracer_parts(tracer);
	free(plan->numbers);
	plan->numbers = numbers;
	tracer_set_plans(tracer, numbers);
	tracer_set_parts(tracer, tracer_parts(tracer) + 1);
}

int traceplan_add_states(struct traceplan *plan, struct tracer *tracer, struct errmsg *err)
{
	if (states_plan_brief(tracer, plan->states, err))
		return -1;
	tracer_insert(tracer, "state_program",
		      mem_printf("int on_probe_%u(struct pt_regs *ctx)\n{\n"
				 "\treturn on_state_change(ctx);\n}\n",
				 tracer_parts(tracer)));
	add_part(plan, tracer);
	return 0;
}
