// SPDX-License-Identifier: Apache-2.0
/* Descendants of the traced command: processes that it or a descendant forks, until they end; a
 * descendant that executes another program remains one.
 *
 *   -DCHILD_TGID=n    byte offset in struct task_struct; not defined: process TGID is traced alone
 */
#ifdef CHILD_TGID
#define DESCENDANTS_MAX 65536

/* by process ID in the initial PID namespace, whatever namespace the process is in */
BPF_F_TABLE("hash", u32, u32, descendants, DESCENDANTS_MAX, BPF_F_NO_PREALLOC);
BPF_ARRAY(unfollowed, u64, 1);

static inline bool probe_is_descendant(void)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return descendants.lookup(&tgid);
}

/* At the tracepoint sched_process_fork; its arguments are the task that forks, and the new one,
 * which has not run yet. */
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	u32 parent = bpf_get_current_pid_tgid() >> 32, child = 0, yes = 1, zero = 0;
	u64 *lost;

	if (!probe_wanted_process())
		return 0;
	probe_read_kernel(&child, sizeof(child), (char *)ctx->args[1] + CHILD_TGID);
	if (child == parent || !descendants.update(&child, &yes)) /* a thread, or noted */
		return 0;
	lost = unfollowed.lookup(&zero);
	if (lost)
		__sync_fetch_and_add(lost, 1);
	return 0;
}

/* At the tracepoint sched_process_exit: with its last thread the process ends, and its ID may be
 * used again. */
int on_descendant_exit(struct bpf_raw_tracepoint_args *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (probe_is_last_thread())
		descendants.delete(&tgid);
	return 0;
}
#endif
