// SPDX-License-Identifier: Apache-2.0
/* Processes that have calls in the maps, and those of them that are gone: ended, or executing
 * another program. No probe will end their calls: the tool does, and reads map `gone` for that.
 * Does nothing without probe.h's TASK_SIGNAL.
 *
 *   -DSIGNAL_FLAGS=n     byte offset in the kernel's struct signal_struct
 */
#include "parts/goroutine.h"

#ifdef TASK_SIGNAL
#define PROCESSES_MAX 65536
#define GROUP_EXIT 4 /* of the kernel's linux/sched/signal.h: all threads are to end */

struct process_known {
	struct process_key key;
	u64 end_ns; /* when the first of its threads ended because all are to; 0: none has */
};

/* by process ID */
BPF_F_TABLE("hash", u32, struct process_known, processes, PROCESSES_MAX, BPF_F_NO_PREALLOC);
/* when; CLOCK_MONOTONIC */
BPF_F_TABLE("hash", struct process_key, u64, gone, PROCESSES_MAX, BPF_F_NO_PREALLOC);

static inline void process_is_gone(u32 tgid, struct process_known *known)
{
	struct process_key key = known->key;
	u64 end = known->end_ns ?: bpf_ktime_get_ns();

	if (!gone.update(&key, &end))
		processes.delete(&tgid);
}

/* The last thread may end long after the first: it waits for a processor, and in older kernels it
 * gives back the process's memory before this is told. */
static inline void process_note_end(struct process_known *known)
{
	char *signal = 0;
	u32 flags = 0;

	probe_read_kernel(&signal, sizeof(signal), (char *)bpf_get_current_task() + TASK_SIGNAL);
	probe_read_kernel(&flags, sizeof(flags), signal + SIGNAL_FLAGS);
	if (flags & GROUP_EXIT && !known->end_ns)
		known->end_ns = bpf_ktime_get_ns();
}

/* Notes that a goroutine of the process begins a call. 0, or the map's error. */
static inline long process_note(struct goroutine_key *who)
{
	struct process_known process = {.key = who->process}, *known;

	known = processes.lookup(&process.key.tgid);
	if (known && known->key.start_ns == process.key.start_ns &&
	    known->key.exec == process.key.exec)
		return 0;
	return processes.update(&process.key.tgid, &process);
}

/* At the tracepoint sched_process_exit: a thread ends, and with the last one its process. */
int on_process_exit(struct bpf_raw_tracepoint_args *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct process_known *known = processes.lookup(&tgid);

	if (!known)
		return 0;
	process_note_end(known);
	if (probe_is_last_thread())
		process_is_gone(tgid, known);
	return 0;
}

/* At the tracepoint sched_process_exec. */
int on_process_exec(struct bpf_raw_tracepoint_args *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct process_known *known = processes.lookup(&tgid);

	if (known)
		process_is_gone(tgid, known);
	return 0;
}
#else
static inline long process_note(struct goroutine_key *who)
{
	return 0;
}
#endif
