// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernelfeature_internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "kernel/bpfcall_internal.h"

/* from linux/bpf.h, of which an older one may be installed */
enum {
	TRACE_UPROBE_MULTI = 48,
	FUNC_GET_ATTACH_COOKIE = 174,
	FUNC_COPY_FROM_USER = 148,
	FUNC_GET_CURRENT_TASK_BTF = 158,
	FUNC_TASK_PT_REGS = 175,
};

static bool loads(const struct bpf_insn *insns, size_t count)
{
	int fd = bpfcall_insns(insns, count, 0, 0);

	if (fd < 0)
		return errno == EPERM;
	close(fd);
	return true;
}

/* A kernel that knows such links gets as far as refusing a path that is no regular file (EBADF). */
static bool link_fails_late(int prog_fd)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t count, multi_flags, pid, pad;
	} attr = {.prog_fd = prog_fd, .attach_type = TRACE_UPROBE_MULTI};
	uint64_t off = 0;

	attr.path = (uintptr_t) "/";
	attr.offsets = (uintptr_t)&off;
	attr.count = 1;
	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)) < 0 && errno == EBADF;
}

bool kernelfeature_uprobe_multi(void)
{
	static const struct bpf_insn insns[] = {
		BPFCALL_RETURN_0,
	};
	int fd = bpfcall_insns(insns, 2, TRACE_UPROBE_MULTI, 0);

	if (fd < 0)
		return errno == EPERM;
	bool known = link_fails_late(fd);

	close(fd);
	return known;
}

bool kernelfeature_exec_watch(void)
{
	static const struct bpf_insn insns[] = {
		BPFCALL_RETURN_0,
	};
	const struct bpfcall_prog plain = {
		.type = BPF_PROG_TYPE_RAW_TRACEPOINT, .insns = insns, .count = 2};
	int prog = bpfcall_prog(&plain);

	if (prog < 0)
		return errno == EPERM;
	int fd = bpfcall_raw_tracepoint("sched_process_exec", prog);

	close(prog);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool kernelfeature_cookies(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = FUNC_GET_ATTACH_COOKIE},
		BPFCALL_RETURN_0,
	};

	return loads(insns, 3);
}

/* helper(r10 - 8, 8, NULL); r0 = 0 */
static bool has_read_helper(int helper)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3},
		{.code = BPF_JMP | BPF_CALL, .imm = helper},
		BPFCALL_RETURN_0,
	};

	return loads(insns, sizeof(insns) / sizeof(insns[0]));
}

bool kernelfeature_probe_read_user(void)
{
	return has_read_helper(BPF_FUNC_probe_read_user);
}

bool kernelfeature_probe_read_kernel(void)
{
	return has_read_helper(BPF_FUNC_probe_read_kernel);
}

bool kernelfeature_cmpxchg(void)
{
	/* *(u64 *)(r10 - 8) = 0; r0 = 0; r1 = 0; exchange; r0 = 0 */
	static const struct bpf_insn insns[] = {
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = 10,
		 .src_reg = 1,
		 .off = -8,
		 .imm = BPF_CMPXCHG},
		BPFCALL_RETURN_0,
	};

	return loads(insns, sizeof(insns) / sizeof(insns[0]));
}

bool kernelfeature_task_registers(void)
{
	const char *wish = getenv("GOTOOLS_REGISTERS"); /* for tests: "no" */
	static const struct bpf_insn insns[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = FUNC_GET_CURRENT_TASK_BTF},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1},
		{.code = BPF_JMP | BPF_CALL, .imm = FUNC_TASK_PT_REGS},
		BPFCALL_RETURN_0,
	};

	if (wish && !strcmp(wish, "no"))
		return false;
	return loads(insns, sizeof(insns) / sizeof(insns[0]));
}

bool kernelfeature_ringbuf(void)
{
	int fd = bpfcall_map(BPF_MAP_TYPE_RINGBUF, 0, 0, sysconf(_SC_PAGESIZE), 0);

	if (fd < 0)
		return errno == EPERM;
	close(fd);
	return true;
}

/* *(u64 *)(r10 - 8) = 0; map_delete_elem(map, r10 - 8); copy_from_user(r10 - 8, 8, NULL) */
static int load_sleepable(int map)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -8},
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = 1,
		 .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = map},
		{.code = 0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = -8},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_delete_elem},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 1, .imm = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3},
		{.code = BPF_JMP | BPF_CALL, .imm = FUNC_COPY_FROM_USER},
		BPFCALL_RETURN_0,
	};

	return bpfcall_insns(insns, sizeof(insns) / sizeof(insns[0]), 0, BPF_F_SLEEPABLE);
}

bool kernelfeature_sleepable(void)
{
	int map = bpfcall_map(BPF_MAP_TYPE_HASH, 8, 8, 1, BPF_F_NO_PREALLOC);
	int fd = map < 0 ? -1 : load_sleepable(map);

	if (map >= 0)
		close(map);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
