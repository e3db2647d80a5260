/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets in the running kernel's structs, which the BPF programs read, from the kernel's type
 * information (/sys/kernel/btf/vmlinux). The only file that includes libbpf's BTF reader. */
#ifndef BTF_H
#define BTF_H

#include <stdint.h>

struct errmsg;

/* Byte offsets. Each takes some ms: the kernel's types are read anew. 0; -1 with *err where the
 * kernel has no type information, or nothing of that name. */
int btf_thread_fsbase(uint32_t *off, struct errmsg *err); /* task_struct.thread.fsbase: amd64 */
/* task_struct.thread.features, of which bit 0 tells that the thread has a shadow stack; 0: the
 * kernel gives none, or does not tell */
uint32_t btf_thread_features(void);
struct btf_process { /* byte offsets in struct task_struct ... */
	uint32_t leader, start_ns, exec, signal;
	/* ... and in struct signal_struct: how many threads there are, and are they to end? */
	uint32_t signal_live, signal_flags;
};

int btf_process(struct btf_process *out, struct errmsg *err);
struct btf_ids {            /* of the thread and its process, in the initial PID namespace */
	uint32_t tid, tgid; /* task_struct.pid, .tgid */
};
int btf_task_ids(struct btf_ids *out, struct errmsg *err);

struct btf_pids { /* what a task is called, in each PID namespace that it is seen in */
	uint32_t task_leader, task_pid;  /* task_struct.group_leader, .thread_pid */
	uint32_t pid_level, pid_numbers; /* struct pid: the lowest one's, and an array of upid */
	uint32_t upid_size, upid_nr, upid_ns;
	uint32_t ns_inum; /* pid_namespace.ns.inum */
};
int btf_pids(struct btf_pids *pids, struct errmsg *err);

#endif
