/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of bpf(2): maps and programs are created, raw tracepoints opened, and small programs built
 * instruction by instruction. Each function returns a descriptor, or -1 with errno. */
#ifndef BPFCALL_INTERNAL_H
#define BPFCALL_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

struct bytecode_map;

struct bpfcall_prog {
	enum bpf_prog_type type; /* 0: BPF_PROG_TYPE_KPROBE, as uprobes take it */
	const char *name;        /* cut to what the kernel keeps; or NULL */
	const struct bpf_insn *insns;
	size_t count; /* instructions */
	uint32_t attach_type, flags;
	char *log; /* the verifier's words go here; or NULL */
	size_t log_size;
};

int bpfcall_map(enum bpf_map_type type, uint32_t key_size, uint32_t value_size, uint32_t entries,
		uint32_t flags);
int bpfcall_named_map(const struct bytecode_map *map);
/* A map of one program, for bpf_tail_call(); prog_fd -1: none yet. */
int bpfcall_prog_array(int prog_fd);
int bpfcall_prog(const struct bpfcall_prog *prog);
/* one without a log, for uprobes */
int bpfcall_insns(const struct bpf_insn *insns, size_t count, uint32_t attach_type, uint32_t flags);

/* Instructions that the programs built here have in common. */
#define BPFCALL_LOAD_MAP(reg, map_fd)                                                              \
	{.code = BPF_LD | BPF_DW | BPF_IMM,                                                        \
	 .dst_reg = (reg),                                                                         \
	 .src_reg = BPF_PSEUDO_MAP_FD,                                                             \
	 .imm = (map_fd)},                                                                         \
	{                                                                                          \
		.code = 0                                                                          \
	}
#define BPFCALL_RETURN_0                                                                           \
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},                               \
	{                                                                                          \
		.code = BPF_JMP | BPF_EXIT                                                         \
	}
/* bpf_tail_call(r1, map, 0), which comes back only where the map is empty; return 0 */
#define BPFCALL_TAIL_CALL(map_fd)                                                                  \
	BPFCALL_LOAD_MAP(BPF_REG_2, map_fd),                                                       \
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3},                       \
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call}, BPFCALL_RETURN_0
int bpfcall_raw_tracepoint(const char *name, int prog_fd);
/* Fills struct bpf_prog_info or bpf_map_info, of `size` bytes, of a program or map. 0, or -1. */
int bpfcall_info(int fd, void *info, uint32_t size);
/* Until the descriptor is closed, the kernel measures how long BPF programs run, of the whole
 * machine, which costs each run some 20 ns. Linux 5.8, and CAP_SYS_ADMIN. */
int bpfcall_measure_runs(void);

#endif
