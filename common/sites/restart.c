// SPDX-License-Identifier: Apache-2.0
#include "sites/restart_internal.h"

#include "machine/flow.h"
#include "program/functab.h"

enum { ARM64_SIZE = 4 }; /* bytes of each instruction; on amd64 there are no such sequences */

/* Go's src/internal/abi/symtab.go; neighbours have different ones */
static bool is_sequence(int32_t value)
{
	enum { RESTART_1 = -3, RESTART_2 = -4 };

	return value == RESTART_1 || value == RESTART_2;
}

static bool mark_run(uint64_t from, uint64_t to, int32_t value, void *ctx)
{
	struct flow *flow = ctx;
	long at = is_sequence(value) ? flow_at(flow, from) : FLOW_NONE;

	for (; at != FLOW_NONE && at + 1 < (long)flow->count && flow->insns[at + 1].addr < to; at++)
		flow->insns[at].again = true;
	return true;
}

void restart_mark(const struct functab *tab, const struct functab_func *fn, struct flow *flow)
{
	functab_pcdata(tab, fn, PCLNTAB_PCDATA_UNSAFE_POINT, mark_run, flow);
}

static bool move_on(uint64_t from, uint64_t to, int32_t value, void *ctx)
{
	uint64_t *addr = ctx;

	if (is_sequence(value) && *addr >= from && *addr < to)
		*addr = to - ARM64_SIZE;
	return to <= *addr;
}

uint64_t restart_last(const struct functab *tab, const struct functab_func *fn, uint64_t addr)
{
	functab_pcdata(tab, fn, PCLNTAB_PCDATA_UNSAFE_POINT, move_on, &addr);
	return addr;
}
