/* SPDX-License-Identifier: Apache-2.0 */
/* A traced process, held from before anything about it is read: its PID may be reused at any time,
 * but what is held stays the same process. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct errmsg;
struct fileroot;
struct heldfile;
struct process;

/* NULL and *err: "no process with PID 123", or it is a thread's ID; /proc and the tool mean
 * different processes by a number; a kernel before 5.3. */
struct process *process_open(pid_t pid, struct errmsg *err);
/* The same without its files, of which the kernel may have to ask a file system that does not
 * answer. process_find_root() opens them. */
struct process *process_hold(pid_t pid, struct errmsg *err);
void process_find_root(struct process *proc);
void process_close(struct process *proc); /* NULL is all right */

pid_t process_id(const struct process *proc);
int process_fd(const struct process *proc);    /* a pidfd: readable when it has ended */
bool process_runs(const struct process *proc); /* it has not ended */
/* Its first thread has not ended. The process lives on while others have not; the kernel, when it
 * keeps probes to one process, knows it by the first. */
bool process_first_runs(const struct process *proc);

/* The files as it sees them: the tool's own view where that is the same. Memory of `proc`. */
struct fileroot *process_root(const struct process *proc);
/* The file that it executes now, shown as /proc/PID/exe; NULL and *err. */
struct heldfile *process_exe(const struct process *proc, struct errmsg *err);
/* The path of that file as the process sees it, replaced or not; malloc'd. NULL: not known. */
char *process_exe_path(const struct process *proc);
/* What it is called: proc_pid_comm(5), 15 bytes at most; malloc'd. */
char *process_name(const struct process *proc);
/* The same of a process by its ID; NULL: it has ended. */
char *process_name_of(pid_t pid);
/* Does its command, or with `or_file` the name of the file that it executes, contain this? */
bool process_is_called(const struct process *proc, const char *part, bool or_file);
/* A variable of the environment that its program began with, the first of the name; malloc'd.
 * NULL: it has none, or it cannot be read. */
char *process_variable(const struct process *proc, const char *name);
/* Does the process execute this file now? Also true if that cannot be known. */
bool process_executes(const struct process *proc, const struct heldfile *file);
/* Does it run a file that has been replaced (upgraded) at this very path since? */
bool process_runs_deleted(const struct process *proc, const char *path);
/* Has the process mapped this file? Also true if that cannot be known. */
bool process_maps(const struct process *proc, const struct heldfile *file);
/* The path in its root of the first file that it has mapped whose name begins so; malloc'd, NULL.
 */
char *process_mapped(const struct process *proc, const char *name);
/* Where the first mapping of the file begins, and which offset of the file that is. */
bool process_mapping(const struct process *proc, const struct heldfile *file, uint64_t *addr,
		     uint64_t *off);
/* What is mapped at `addr`, from where to where: "[vdso]", or the name of a file without its
 * folders; malloc'd. NULL: nothing, or nothing that has a name. */
char *process_mapping_at(const struct process *proc, uint64_t addr, uint64_t *from, uint64_t *to);
/* A descriptor of its memory, which is that of this process even if it ends; -1 and *err, which
 * names the rule that forbids it. The caller closes. */
int process_memory(const struct process *proc, struct errmsg *err);

#endif
