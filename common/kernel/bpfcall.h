/* SPDX-License-Identifier: Apache-2.0 */
/* Calls bpf(2) directly where libbcc lacks something: small programs built instruction by
 * instruction, flags, raw tracepoints. Each function returns a descriptor, or -1 with errno. */
#ifndef BPFCALL_H
#define BPFCALL_H

#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

struct bpfcall_prog {
	enum bpf_prog_type type; /* 0: BPF_PROG_TYPE_KPROBE, as uprobes take it */
	const struct bpf_insn *insns;
	size_t count; /* instructions */
	uint32_t attach_type, flags;
	char *log; /* the verifier's words go here; or NULL */
	size_t log_size;
};

int bpfcall_map(enum bpf_map_type type, uint32_t key_size, uint32_t value_size, uint32_t entries,
		uint32_t flags);
/* A map of one program, for bpf_tail_call(); prog_fd -1: none yet. */
int bpfcall_prog_array(int prog_fd);
int bpfcall_prog(const struct bpfcall_prog *prog);
int bpfcall_raw_tracepoint(const char *name, int prog_fd);

#endif
