// SPDX-License-Identifier: Apache-2.0
/* Reports, with its time, each execve by a thread of the traced process other than the first:
 * uprobes kept to one process do not survive it.
 *
 *   -DFOLLOW_EXEC    probes are kept to one process; not defined: nothing is reported
 */

#ifdef FOLLOW_EXEC
BPF_RINGBUF_OUTPUT(execs, 1);

/* At the tracepoint sched_process_exec; its arguments are the task, which has its new ID already,
 * and its old ID. */
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	u32 before = ctx->args[1];
	u64 now = bpf_ktime_get_ns();

	if (before != (u32)bpf_get_current_pid_tgid() && probe_wanted_process())
		execs.ringbuf_output(&now, sizeof(now), 0);
	return 0;
}
#endif
