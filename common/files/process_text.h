/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and links of /proc/PID, for process*.c only. */
#ifndef PROCESS_TEXT_H
#define PROCESS_TEXT_H

#include <dirent.h>
#include <stdio.h>
#include <sys/types.h>

struct errmsg;
struct process;

FILE *process_text(const struct process *proc, const char *name);  /* NULL: it cannot be read */
DIR *process_folder(const struct process *proc, const char *name); /* likewise */
/* The rule that forbids tracing, and reading memory, as the hint of an error. */
void process_hint_ptrace(struct errmsg *err);
/* as readlink(2) */
ssize_t process_link(const struct process *proc, const char *name, char *out, size_t size);

#endif
