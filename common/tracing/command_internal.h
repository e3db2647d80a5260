/* SPDX-License-Identifier: Apache-2.0 */
/* -- COMMAND ARG...: a child that is held before its execve until every probe is attached. */
#ifndef COMMAND_INTERNAL_H
#define COMMAND_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

struct command;
struct errmsg;
struct heldfile;

struct command_end {
	int status;  /* as a shell has it: 128 plus the number of the signal that ended it */
	int signal;  /* 0: it has exited */
	bool dumped; /* a core file was written */
};

/* Looks argv[0] up in PATH and forks; the child waits, and ends by itself if the tool dies. It
 * stays in the tool's process group: Ctrl-C reaches both. Call it before the tool has changed its
 * environment, which the child inherits. NULL and *err: not found, not executable. */
struct command *command_new(char *const argv[], struct errmsg *err);
/* The file that it will execute, by its absolute path; the caller closes. NULL and *err. Once it
 * was opened, command_start() checks that this file is the one executed. */
struct heldfile *command_open(struct command *cmd, struct errmsg *err);
pid_t command_pid(const struct command *cmd);
int command_pidfd(const struct command *cmd); /* readable when it has ended; owned by cmd */
/* How it ended; false: it has not. */
bool command_ended(const struct command *cmd, struct command_end *end);
/* Releases the child. -1 with *err: its execve failed, or the file was replaced after
 * command_open(). */
int command_start(struct command *cmd, struct errmsg *err);
/* Ends a child that was never started. One that runs is left alone unless `kill_it` (SIGTERM). */
void command_free(struct command *cmd, bool kill_it);

#endif
