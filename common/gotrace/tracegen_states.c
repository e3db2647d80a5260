// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracegen_states_internal.h"

#include "bpf-src/shared/states.h"

uint32_t gen_state_at(enum expr_special special)
{
	static const uint8_t states[] = {
		[SPECIAL_RUNNING] = STATE_RUNNING, [SPECIAL_RUNNABLE] = STATE_RUNNABLE,
		[SPECIAL_BLOCKED] = STATE_WAITING, [SPECIAL_SYSCALL] = STATE_SYSCALL,
		[SPECIAL_UNKNOWN] = STATE_UNKNOWN,
	};

	return states[special] * sizeof(uint64_t);
}

/* As signed as $latency is. */
int gen_state_number(struct gen *gen, const struct expr *expr, struct number *out)
{
	*out = (struct number){0};
	gen_var(gen, out->text);
	ctext_line(gen->out, "u64 %s = *(u64 *)(rec + %u);", out->text, gen_state_at(expr->number));
	return 0;
}
