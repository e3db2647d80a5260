// SPDX-License-Identifier: Apache-2.0
/* Where the kernel has no BPF cookies, each probe has a small BPF program of its own: it stores the
 * cookie in a map, with the thread's ID as the key, and makes a tail call to the tool's program,
 * which reads it from there. */
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <linux/bpf.h>

#include "kernel/attach_kernel_internal.h"
#include "kernel/bpfcall_internal.h"

/* *(r10 - 8) = get_current_pid_tgid(); *(r10 - 16) = cookie; map_update_elem(cookies, r10 - 8,
 * r10 - 16, 0) || tail_call(ctx, array, 0); return 0 */
int attach_stub(const struct attach_way *way, int array, uint64_t cookie)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid},
		{.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8},
		{.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1, .imm = (uint32_t)cookie},
		{.imm = cookie >> 32},
		{.code = BPF_STX | BPF_MEM | BPF_DW,
		 .dst_reg = BPF_REG_10,
		 .src_reg = BPF_REG_1,
		 .off = -16},
		BPFCALL_LOAD_MAP(BPF_REG_1, way->cookies_fd),
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_2, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_3, .src_reg = BPF_REG_10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_3, .imm = -16},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_4},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_update_elem},
		{.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .off = 5},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_6},
		BPFCALL_TAIL_CALL(array),
	};
	return bpfcall_insns(insns, sizeof(insns) / sizeof(insns[0]), 0, 0);
}

/* Kernels before 5.11 count programs as locked memory. */
void attach_stub_room(void)
{
	struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_MEMLOCK, &all);
}
