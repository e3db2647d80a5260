// SPDX-License-Identifier: Apache-2.0
/* How long threads were not on a CPU: -DTHREADS_WANTED; else nothing. Those are followed on which a
 * probe has asked for it, by the kernel's tracepoint of switches, which all threads of the machine
 * pass.
 *
 *   -DTHREADS=n                   room for them
 *   -DTASK_TID=n -DTASK_TGID=n    byte offsets in the kernel's struct task_struct
 *   -DTHREADS_TGID=n              only those of this process, by its ID in the initial PID
 *                                 namespace
 */
#ifdef THREADS_WANTED
#include "shared/states.h"

/* by thread ID in the initial PID namespace */
BPF_F_TABLE("hash", u32, struct thread_time, threads, THREADS, BPF_F_NO_PREALLOC);
BPF_PERCPU_ARRAY(switches, struct thread_switches, 1);

static inline u32 thread_id(void)
{
	return bpf_get_current_pid_tgid();
}

static inline void thread_comes(struct thread_time *time, u64 now)
{
	if (!time || !time->out_ns)
		return;
	time->before_ns = time->off_ns;
	if (now > time->out_ns)
		time->off_ns += now - time->out_ns;
	time->in_ns = now;
	time->out_ns = 0;
}

/* Kernels may keep switches of some tasks to themselves. This thread is on a CPU: if it was not
 * seen to come back, it came after the last switch there that was seen. */
static inline void thread_has_come(struct thread_time *time)
{
	u32 zero = 0;
	struct thread_switches *here = switches.lookup(&zero);

	if (here && time->out_ns)
		thread_comes(time, here->last_ns);
}

/* This thread's times, which are kept from now on; 0: there is no room. */
static inline struct thread_time *thread_here(void)
{
	struct thread_time *time, none = {};
	u32 tid = thread_id();

	time = threads.lookup(&tid);
	if (time) {
		thread_has_come(time);
		return time;
	}
	threads.update(&tid, &none);
	return threads.lookup(&tid);
}

/* How long this thread had been off its CPU at `now`, which was a moment ago: the thread may have
 * been switched since, or be while this runs. */
static inline u64 thread_off(struct thread_time *time, u64 now)
{
	u64 off = time->off_ns;

	return time->in_ns > now ? time->before_ns : off;
}

/* May threads of this process be followed? */
static inline bool thread_is_of(u32 tgid)
{
#ifdef THREADS_TGID
	return tgid == THREADS_TGID;
#else
	return true;
#endif
}

static inline void thread_leaves(u64 now)
{
	u32 tid = thread_id();
	struct thread_time *time = threads.lookup(&tid);

	if (!time)
		return;
	thread_has_come(time);
	time->out_ns = now;
}

/* At the tracepoint sched_switch. The current task is the one that leaves the CPU; the arguments
 * are whether it is preempted, that task, and the one that comes. */
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct thread_switches *here;
	char *next = (char *)ctx->args[2];
	u64 now = bpf_ktime_get_ns();
	u32 tid = 0, tgid = 0, zero = 0;

	if (thread_is_of(bpf_get_current_pid_tgid() >> 32))
		thread_leaves(now);
	probe_read_kernel(&tgid, sizeof(tgid), next + TASK_TGID);
	if (thread_is_of(tgid)) {
		probe_read_kernel(&tid, sizeof(tid), next + TASK_TID);
		thread_comes(threads.lookup(&tid), now);
	}
	here = switches.lookup(&zero);
	if (!here)
		return 0;
	here->count++;
	here->last_ns = now;
	return 0;
}

/* At the tracepoint sched_process_exit, of each thread. */
int on_thread_exit(struct bpf_raw_tracepoint_args *ctx)
{
	u32 tid = thread_id();

	threads.delete(&tid);
	return 0;
}
#endif
