// SPDX-License-Identifier: Apache-2.0
/* $running and the like: what is traced for them beside the PROBEs' functions. */
#include "gotrace/traceplan_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "latency/states.h"
#include "tracing/tracer.h"

void traceplan_serve_states(struct traceplan *plan, struct tracer *tracer)
{
	uint32_t part = tracer_parts(tracer);

	for (size_t i = plan->item_count; i < plan->states_end; i++)
		plan->numbers[i].part = part;
	tracer_set_parts(tracer, part + 1);
	tracer_insert(tracer, "state_program",
		      mem_printf("int on_probe_%u(struct pt_regs *ctx)\n{\n"
				 "\treturn on_state_change(ctx);\n}\n",
				 part));
}

int traceplan_add_states(struct traceplan *plan, struct tracer *tracer, struct errmsg *err)
{
	if (states_plan_brief(tracer, plan->states, err))
		return -1;
	plan->states_end = tracer_selection(tracer)->item_count;
	/* the items that were added have no plans, but are served by a part of their own */
	struct tracer_plan *numbers = mem_zalloc(plan->states_end, sizeof(*numbers));

	memcpy(numbers, plan->numbers, plan->item_count * sizeof(*numbers));
	free(plan->numbers);
	plan->numbers = numbers;
	return 0;
}
