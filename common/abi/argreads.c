// SPDX-License-Identifier: Apache-2.0
#include "abi/argreads_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/image.h"
#include "machine/flow.h"
#include "machine/insn_regs.h"
#include "program/functab.h"

enum {
	INSNS_MAX = 20000,
	RETURN_ADDRESS = 8, /* bytes below the first stack argument; arm64: of the saved LR */
	FLOATS = 32,        /* their first bit in `held` */
	X15 = 15,           /* is always zero, on amd64 */
};

struct reading {
	const struct functab *tab;
	const struct functab_func *fn;
	struct flow flow;
	struct insn_regs *regs; /* of each instruction */
	/* Registers that still hold what the caller passed, on some path to each instruction. */
	uint64_t *held;
	uint32_t *queue; /* instructions to go on from, each once */
	bool *waiting;
	size_t queued;
	struct argreads *out;
};

static bool decode_code(struct reading *reading, const struct insn_decoder *dec,
			const struct insn_code *code)
{
	struct insn insn;

	if (!code->bytes || flow_decode(&reading->flow, dec, code) || !reading->flow.count ||
	    reading->flow.count > INSNS_MAX)
		return false;
	reading->regs = mem_zalloc(reading->flow.count, sizeof(*reading->regs));
	reading->held = mem_zalloc(reading->flow.count, sizeof(*reading->held));
	reading->queue = mem_zalloc(reading->flow.count, sizeof(*reading->queue));
	reading->waiting = mem_zalloc(reading->flow.count, sizeof(*reading->waiting));
	for (size_t i = 0; i < reading->flow.count; i++)
		if (!insn_decode_regs(dec, code, reading->flow.insns[i].addr, &insn,
				      &reading->regs[i]))
			return false;
	return true;
}

/* --- registers --- */

/* The runtime's write barriers keep all registers; any other call may change all of them. */
static bool keeps_registers(const struct reading *reading, const struct insn *call)
{
	static const char barrier[] = "runtime.gcWriteBarrier";
	struct functab_func fn;

	return call->target && functab_find(reading->tab, call->target, &fn) &&
	       !strncmp(fn.name, barrier, sizeof(barrier) - 1);
}

static void reach(struct reading *reading, long insn, uint64_t held)
{
	if (insn < 0 || (size_t)insn >= reading->flow.count || !(held & ~reading->held[insn]))
		return;
	reading->held[insn] |= held;
	if (!reading->waiting[insn])
		reading->queue[reading->queued++] = (uint32_t)insn;
	reading->waiting[insn] = true;
}

static void read_insn(struct reading *reading, size_t at)
{
	const struct insn *insn = &reading->flow.insns[at];
	const struct insn_regs *regs = &reading->regs[at];
	uint64_t held = reading->held[at];

	reading->out->ints |= regs->reads & (uint32_t)held;
	reading->out->floats |= regs->float_reads & (uint32_t)(held >> FLOATS);
	held &= ~(regs->writes | (uint64_t)regs->float_writes << FLOATS);
	if (insn->kind == INSN_CALL && !keeps_registers(reading, insn))
		held = 0;
	if (insn->kind == INSN_JUMP || insn->kind == INSN_JUMP_IF)
		reach(reading, flow_at(&reading->flow, insn->target), held);
	if (insn->kind == INSN_JUMP_IF || !flow_ends_block(insn))
		reach(reading, (long)at + 1, held);
}

static void follow_blocks(struct reading *reading)
{
	reach(reading, 0, ~(UINT64_C(1) << (FLOATS + X15)));
	while (reading->queued) {
		size_t at = reading->queue[--reading->queued];

		reading->waiting[at] = false;
		read_insn(reading, at);
	}
}

/* --- the stack --- */

/* A stack slot that the function writes is one in which it keeps a register's value. */
static void find_stack(struct reading *reading)
{
	bool written[ARGREADS_STACK] = {false};

	for (size_t i = 0; i < reading->flow.count; i++) {
		const struct insn_regs *regs = &reading->regs[i];
		int32_t delta;

		if ((!regs->stack_read && !regs->stack_written) ||
		    !functab_sp_delta(reading->tab, reading->fn, reading->flow.insns[i].addr,
				      &delta))
			continue;
		int64_t slot = (int64_t)regs->stack_off - delta - RETURN_ADDRESS;

		if (slot < 0 || slot >= ARGREADS_STACK)
			continue;
		written[slot] |= regs->stack_written;
		reading->out->stack[slot] |= regs->stack_read;
	}
	for (size_t i = 0; i < ARGREADS_STACK; i++)
		reading->out->stack[i] &= !written[i];
}

bool argreads_find(const struct image *img, const struct functab *tab,
		   const struct insn_decoder *dec, const struct functab_func *fn,
		   struct argreads *out)
{
	size_t len = fn->end - fn->addr;
	const uint8_t *bytes = image_at(img, fn->addr, len);
	struct insn_code code = {bytes, bytes ? len : 0, fn->addr};
	struct reading reading = {.tab = tab, .fn = fn, .out = out};

	memset(out, 0, sizeof(*out));
	bool known = decode_code(&reading, dec, &code);

	if (known) {
		follow_blocks(&reading);
		find_stack(&reading);
	}
	flow_free(&reading.flow);
	free(reading.regs);
	free(reading.held);
	free(reading.queue);
	free(reading.waiting);
	return known;
}
