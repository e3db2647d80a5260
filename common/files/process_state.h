/* SPDX-License-Identifier: Apache-2.0 */
/* What a process does, as a whole. */
#ifndef PROCESS_STATE_H
#define PROCESS_STATE_H

#include <stdbool.h>

struct process;

/* By SIGSTOP, or Ctrl-Z: it does nothing until SIGCONT. */
bool process_is_stopped(const struct process *proc);
/* Its cgroup is frozen, as "docker pause" does it: likewise, until that is thawed. `proc_dir`:
 * "/proc", or in tests a folder like it. */
bool process_is_frozen(const struct process *proc, const char *proc_dir);

#endif
