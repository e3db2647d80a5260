// SPDX-License-Identifier: Apache-2.0
#include "kernelfeature.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

/* of newer linux/bpf.h than may be installed */
enum { TRACE_UPROBE_MULTI = 48, FUNC_GET_ATTACH_COOKIE = 174 };

static int bpf_call(int cmd, void *attr, size_t size)
{
	return syscall(SYS_bpf, cmd, attr, size);
}

static int load(const struct bpf_insn *insns, size_t count, int attach_type)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_KPROBE;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = count;
	attr.license = (uintptr_t) "GPL";
	attr.expected_attach_type = attach_type;
	return bpf_call(BPF_PROG_LOAD, &attr, sizeof(attr));
}

static bool loads(const struct bpf_insn *insns, size_t count)
{
	int fd = load(insns, count, 0);

	if (fd < 0)
		return errno == EPERM;
	close(fd);
	return true;
}

/* A kernel that knows the link gets as far as finding that a folder is no file (EBADF). */
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
	return bpf_call(BPF_LINK_CREATE, &attr, sizeof(attr)) < 0 && errno == EBADF;
}

bool kernelfeature_uprobe_multi(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = load(insns, 2, TRACE_UPROBE_MULTI);

	if (fd < 0)
		return errno == EPERM;
	bool known = link_fails_late(fd);

	close(fd);
	return known;
}

bool kernelfeature_cookies(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = FUNC_GET_ATTACH_COOKIE},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return loads(insns, 3);
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
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return loads(insns, sizeof(insns) / sizeof(insns[0]));
}

bool kernelfeature_ringbuf(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_RINGBUF;
	attr.max_entries = sysconf(_SC_PAGESIZE);
	int fd = bpf_call(BPF_MAP_CREATE, &attr, sizeof(attr));

	if (fd < 0)
		return errno == EPERM;
	close(fd);
	return true;
}
