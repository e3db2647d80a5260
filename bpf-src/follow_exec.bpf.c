// SPDX-License-Identifier: Apache-2.0
/* Has another thread than the traced process's first one executed a program? Put into each
 * program's own text: libbcc knows maps there only. Sends the time of each. */

#ifdef FOLLOW_EXEC
BPF_RINGBUF_OUTPUT(execs, 1);

/* of the tracepoint sched_process_exec: the task, which has its new ID already, and its old one */
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	u32 before = ctx->args[1];
	u64 now = bpf_ktime_get_ns();

	if (before != (u32)bpf_get_current_pid_tgid() && probe_wanted_process())
		execs.ringbuf_output(&now, sizeof(now), 0);
	return 0;
}
#endif
