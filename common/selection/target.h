/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file to trace: from "[p:]BINARY:PATTERN", -p PID and -- COMMAND to an open file. */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct errmsg;
struct heldfile;
struct process;

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

/* The file that BINARY names, or NULL with *err; the caller closes. A path, a program in PATH, a
 * library's short name (go: libgo.so); with `proc`, absolute paths are looked up in that process's
 * root, and NULL `binary` is what it executes. For -- COMMAND use command_open() instead:
 * before its execve, the child's executable is the tool. */
struct heldfile *target_resolve(const char *binary, const struct process *proc, struct errmsg *err);

/* The shared library of this name (libgo.so.21) that the process has loaded, or without one, that
 * programs find; NULL: none. The caller closes. */
struct heldfile *target_library(const char *soname, const struct process *proc);

/* The process ID as the kernel side sees it with the tool in a PID namespace of its own: fills
 * device and inode of the tool's namespace; false when the tool is in the initial one. */
bool target_pid_namespace(unsigned long *dev, unsigned long *ino);
/* Is the process in another PID namespace than the tool? */
bool target_in_other_namespace(pid_t pid);

/* Is this a number, such as "20273", and perhaps meant as a process ID? */
bool target_is_number(const char *name);

/* If the first argument cannot be parsed: are the first two BINARY and PATTERN as separate words?
 */
void target_hint_words(char *const args[2], struct errmsg *err);

#endif
