/* SPDX-License-Identifier: Apache-2.0 */
/* Did a process's threads wait for a CPU, for other processes to leave it or for a quota to be
 * filled up again? Go's scheduler does not know, and calls their goroutines running. */
#ifndef CPU_WAITS_H
#define CPU_WAITS_H

#include <sys/types.h>

struct cpu_waits;

/* From now on. `pid` 0, or of a process that has ended: nothing will be known. Never NULL. */
struct cpu_waits *cpu_waits_begin(pid_t pid);
void cpu_waits_free(struct cpu_waits *waits); /* NULL is all right */

/* Two lines on stderr, if they waited for much of the time since it began, or since this was asked
 * before; `hint`: what that means for the numbers shown. */
void cpu_waits_say(struct cpu_waits *waits, const char *tool, const char *hint);

#endif
