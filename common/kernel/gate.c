// SPDX-License-Identifier: Apache-2.0
#include "kernel/gate.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/mem.h"
#include "kernel/bpfcall_internal.h"
#include "kernel/bpfmap.h"

struct gate {
	int map, prog; /* file descriptors; -1: none */
};

static int load_gate(int map, int attach_type)
{
	const struct bpf_insn insns[] = {
		BPFCALL_TAIL_CALL(map),
	};
	return bpfcall_insns(insns, sizeof(insns) / sizeof(insns[0]), attach_type, 0);
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
