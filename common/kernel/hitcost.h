/* SPDX-License-Identifier: Apache-2.0 */
/* What a hit of a uprobe costs the traced thread on this machine, measured on the tool itself. */
#ifndef HITCOST_H
#define HITCOST_H

#include <stdint.h>

struct hitcost {           /* ns of processor time, of a program that does nothing */
	uint32_t emulated; /* at an instruction that the kernel emulates */
	uint32_t stepped;  /* at one that it single-steps */
};

struct hitcost_trial;

/* Starts the measurement in a thread of its own; it takes some hundredths of a second. The caller
 * ends it. */
struct hitcost_trial *hitcost_start(void);
/* Waits for the answer, and frees. Where it could not be measured, figures of common hardware. */
struct hitcost hitcost_end(struct hitcost_trial *trial);

/* Lets the kernel measure how long BPF programs run (of the whole machine, which costs each of
 * their runs some 20 ns) until the descriptor that this returns is closed. -1 with errno: not
 * permitted (CAP_SYS_ADMIN), or before Linux 5.8. */
int hitcost_watch_programs(void);
/* Runs of a program so far, and their ns, while they were measured. 0, or -1 with errno. */
int hitcost_program(int prog_fd, uint64_t *runs, uint64_t *ns);

#endif
