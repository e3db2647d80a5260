// SPDX-License-Identifier: Apache-2.0
#include "kernel/gate.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/mem.h"
#include "kernel/bpfcall.h"
#include "kernel/bpfmap.h"

struct gate {
	int map, prog; /* file descriptors; -1: none */
};

/* bpf_tail_call(ctx, map, 0), which comes back only where the map is empty; return 0 */
static int load_gate(int map, int attach_type)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = BPF_REG_2,
		 .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = map},
		{.code = 0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	const struct bpfcall_prog prog = {
		.insns = insns,
		.count = sizeof(insns) / sizeof(insns[0]),
		.attach_type = attach_type,
	};

	return bpfcall_prog(&prog);
}

struct gate *gate_new(int expected_attach_type)
{
	struct gate *gate = mem_zalloc(1, sizeof(*gate));

	gate->map = bpfcall_prog_array(-1);
	gate->prog = gate->map < 0 ? -1 : load_gate(gate->map, expected_attach_type);
	if (gate->prog >= 0)
		return gate;
	gate_free(gate);
	return NULL;
}

void gate_free(struct gate *gate)
{
	if (!gate)
		return;
	if (gate->prog >= 0)
		close(gate->prog);
	if (gate->map >= 0)
		close(gate->map);
	free(gate);
}

int gate_prog(const struct gate *gate)
{
	return gate->prog;
}

int gate_open(struct gate *gate, int prog_fd)
{
	uint32_t first = 0, value = prog_fd;

	return bpfmap_update(gate->map, &first, &value);
}

void gate_shut(struct gate *gate)
{
	uint32_t first = 0;

	bpfmap_delete(gate->map, &first);
}
