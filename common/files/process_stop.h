/* SPDX-License-Identifier: Apache-2.0 */
/* All threads of a process, stopped for a while by ptrace(2) (PTRACE_SEIZE, PTRACE_INTERRUPT),
 * which its parent does not see. The kernel lets them go if the tool ends, however that happens;
 * meanwhile the tool takes no signals that could stop or end it. */
#ifndef PROCESS_STOP_H
#define PROCESS_STOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct errmsg;
struct process;
struct process_stop;

struct process_registers {
	uint64_t pc, sp;
	uint64_t link; /* where the last call returns to; 0: the machine has no register for that */
};

/* NULL and *err, with no thread stopped: not permitted, traced by somebody else, a thread that does
 * not stop... */
struct process_stop *process_stop_new(const struct process *proc, struct errmsg *err);
/* Where the thread is, by the ID that it has for itself; false: there is none. */
bool process_stop_registers(const struct process_stop *stop, pid_t tid,
			    struct process_registers *out);
/* Lets them go and frees it. Returns for how long they have been stopped, in ns. NULL: 0. */
uint64_t process_stop_end(struct process_stop *stop);

#endif
