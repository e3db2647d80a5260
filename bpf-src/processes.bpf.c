// SPDX-License-Identifier: Apache-2.0
/* Processes that have calls in the maps, and those of them that are gone: ended, or executing
 * another program. No probe will end their calls: the tool does, and reads map `gone` for that.
 * Inserted into each program's own text, the only place where libbcc finds maps. Does nothing
 * without probe.h's TASK_SIGNAL. */
#ifdef TASK_SIGNAL
#define PROCESSES_MAX 65536

/* by process ID */
BPF_F_TABLE("hash", u32, struct process_key, processes, PROCESSES_MAX, BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", struct process_key, u32, gone, PROCESSES_MAX, BPF_F_NO_PREALLOC);

static inline void process_is_gone(void)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32, yes = 1;
	struct process_key *known = processes.lookup(&tgid), key;

	if (!known)
		return;
	key = *known;
	if (!gone.update(&key, &yes))
		processes.delete(&tgid);
}

/* Notes that a goroutine of the process begins a call. 0, or the map's error. */
static inline long process_note(struct goroutine_key *who)
{
	struct process_key key = who->process, *known = processes.lookup(&key.tgid);

	if (known && known->start_ns == key.start_ns && known->exec == key.exec)
		return 0;
	return processes.update(&key.tgid, &key);
}

/* At the tracepoint sched_process_exit: a thread ends, and with the last one its process. */
int on_process_exit(struct bpf_raw_tracepoint_args *ctx)
{
	if (probe_is_last_thread())
		process_is_gone();
	return 0;
}

/* At the tracepoint sched_process_exec. */
int on_process_exec(struct bpf_raw_tracepoint_args *ctx)
{
	process_is_gone();
	return 0;
}
#else
static inline long process_note(struct goroutine_key *who)
{
	return 0;
}
#endif
