/* SPDX-License-Identifier: Apache-2.0 */
/* What is traced: from "[p:]BINARY:PATTERN", -p PID and -- COMMAND to a file and a process. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct errmsg;

struct target_spec {  /* one [p:]BINARY:PATTERN argument, taken apart; strings are owned */
	char *binary; /* NULL: that of -p or -- COMMAND */
	char *pattern;
};

/* `has_process`: -p or -- COMMAND was given, so that BINARY may be left out; then the text before
 * the first colon is a BINARY only if it is empty, holds a slash, or names a file or a program in
 * PATH, and else part of a Go name (type:.eq.main.T). Returns 0, or -1 with *err. */
int target_spec_parse(const char *arg, bool has_process, struct target_spec *out,
		      struct errmsg *err);
void target_spec_free(struct target_spec *spec);

/* The file to open for BINARY as a malloc'd path, or NULL with *err. A path, a program in PATH, a
 * library's short name (go: libgo.so); with pid, absolute paths are looked up in that process's
 * root (/proc/PID/root), and NULL `binary` means /proc/PID/exe. For -- COMMAND pass command_path()
 * instead of NULL, and pid 0: before its execve, the child's executable is the tool. */
char *target_resolve(const char *binary, pid_t pid, struct errmsg *err);

/* The shared library of this name (libgo.so.21) that the process has loaded, or without pid, that
 * programs find: a malloc'd path as of target_resolve, or NULL. */
char *target_library(const char *soname, pid_t pid);

/* Is there such a process? -1 with *err ("no process with PID 123", or it is a thread's ID, or
 * /proc and the tool mean different processes by a number). */
int target_check_pid(pid_t pid, struct errmsg *err);
/* Has the process this file mapped? True as well when that cannot be known. */
bool target_maps(pid_t pid, const char *path);
/* A file descriptor that becomes readable when the process has ended; caller closes. -1 and *err:
 * no such process, or a kernel before 5.3. */
int target_pidfd(pid_t pid, struct errmsg *err);

/* The process ID as the kernel side sees it with the tool in a PID namespace of its own: fills
 * device and inode of the tool's namespace; false when the tool is in the initial one. */
bool target_pid_namespace(unsigned long *dev, unsigned long *ino);
/* Does the process live in another PID namespace than the tool? */
bool target_in_other_namespace(pid_t pid);

#endif
