// SPDX-License-Identifier: Apache-2.0
#include "machine/flow.h"

#include <stdlib.h>

#include "base/mem.h"

enum { CODE_MAX = 1 << 23 }; /* bytes; the longest function seen has a tenth of that */

bool flow_ends_block(const struct insn *in)
{
	switch (in->kind) {
	case INSN_JUMP:
	case INSN_JUMP_IF:
	case INSN_JUMP_REG:
	case INSN_JUMP_MEM:
	case INSN_RET:
	case INSN_TRAP:
		return true;
	default:
		return false;
	}
}

bool flow_is_inside(const struct flow *flow, uint64_t addr)
{
	return addr >= flow->addr && addr < flow->end;
}

long flow_at(const struct flow *flow, uint64_t addr)
{
	size_t low = 0, high = flow->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (flow->insns[mid].addr == addr)
			return (long)mid;
		if (flow->insns[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return FLOW_NONE;
}

static void drop_padding(struct flow *flow)
{
	while (flow->count && flow->insns[flow->count - 1].padding)
		flow->end = flow->insns[--flow->count].addr;
}

static bool targets_are_insns(const struct flow *flow)
{
	for (size_t i = 0; i < flow->count; i++) {
		const struct insn *in = &flow->insns[i];

		if (in->kind != INSN_JUMP && in->kind != INSN_JUMP_IF)
			continue;
		if (flow_is_inside(flow, in->target) && flow_at(flow, in->target) == FLOW_NONE)
			return false;
	}
	return true;
}

int flow_decode(struct flow *flow, const struct insn_decoder *dec, const struct insn_code *code)
{
	struct insn in;

	flow->count = 0;
	flow->addr = flow->end = code->addr;
	if (code->len > CODE_MAX)
		return -1;
	while (flow->end - code->addr < code->len) {
		if (!insn_decode(dec, code, flow->end, &in))
			return -1;
		flow->insns = mem_grow(flow->insns, flow->count, &flow->cap, sizeof(in));
		flow->insns[flow->count++] = in;
		flow->end += in.size;
	}
	drop_padding(flow);
	return targets_are_insns(flow) ? 0 : -1;
}

void flow_free(struct flow *flow)
{
	free(flow->insns);
	*flow = (struct flow){0};
}
