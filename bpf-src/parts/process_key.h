/* SPDX-License-Identifier: Apache-2.0 */
/* Which process runs here: not by its ID alone, as a process keeps that in an execve, after which
 * goids begin at 1 again.
 *
 *   -DTASK_LEADER=n -DTASK_START=n -DTASK_EXEC=n    byte offsets in struct task_struct; not
 *                        defined: the ID has to do
 */
#ifndef PROCESS_KEY_H
#define PROCESS_KEY_H

#include "parts/probe.h"
#include "shared/latency.h"

static inline void process_key_read(struct process_key *process)
{
	process->tgid = bpf_get_current_pid_tgid() >> 32;
#ifdef TASK_LEADER
	char *task = (char *)bpf_get_current_task(), *leader = 0;

	probe_read_kernel(&leader, sizeof(leader), task + TASK_LEADER);
	probe_read_kernel(&process->start_ns, sizeof(process->start_ns), leader + TASK_START);
	probe_read_kernel(&process->exec, sizeof(process->exec), task + TASK_EXEC);
#endif
}

#endif
