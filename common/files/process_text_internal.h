/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and links of /proc/PID, for process*.c only. */
#ifndef PROCESS_TEXT_INTERNAL_H
#define PROCESS_TEXT_INTERNAL_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct errmsg;
struct process;

int process_dir(const struct process *proc); /* /proc/PID; the process's */

/* Of the process as a whole, as /proc/PID has it: status, task. NULL: it cannot be read. */
FILE *process_text(const struct process *proc, const char *name);
int process_text_fd(const struct process *proc, const char *name); /* the same; -1 */
/* As much of status as there is room for; it is opened once. False: it cannot be read. */
bool process_status(const struct process *proc, char *text, size_t size);
DIR *process_folder(const struct process *proc, const char *name); /* likewise */

/* Of its memory, files and root: exe, maps, fd, net, ns; also while its first thread has ended and
 * others have not. As openat(2), fopen(3) and readlinkat(2). */
int process_open_at(const struct process *proc, const char *name, int flags);
FILE *process_view_text(const struct process *proc, const char *name);
ssize_t process_link(const struct process *proc, const char *name, char *out, size_t size);
bool process_thread_runs(const struct process *proc, pid_t tid);
bool process_is_kernels(const struct process *proc); /* one of the kernel's own threads */

/* The rule that forbids tracing, and reading memory, as the hint of an error. */
void process_hint_ptrace(struct errmsg *err);

#endif
