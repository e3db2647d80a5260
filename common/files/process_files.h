/* SPDX-License-Identifier: Apache-2.0 */
/* What the file descriptors of a process are, and its threads' system calls: by /proc/PID. */
#ifndef PROCESS_FILES_H
#define PROCESS_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct process;
struct process_files;

struct process_files *process_files_new(const struct process *proc); /* outlives it */
void process_files_free(struct process_files *files);                /* NULL is all right */

/* "tcp 127.0.0.1:80, peer 127.0.0.1:41234", "pipe", "/var/log/app"; malloc'd. NULL: not open, or
 * not permitted. */
char *process_files_name(struct process_files *files, int fd);
/* The number of the system call that a thread is in; -1: none, or not known. */
int process_files_syscall(struct process_files *files, pid_t tid);

#endif
