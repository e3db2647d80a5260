// SPDX-License-Identifier: Apache-2.0
#include "tracing/command_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/signals.h"
#include "files/heldfile.h"

enum { SIGNAL_STATUS = 128 }; /* what shells add to a signal's number */

/* One socket pair serves both directions: a byte to the child releases it; an errno from the child
 * says that execve failed. If an end just closes, the tool is gone, or the child has become the
 * command. */
struct command {
	char *path;            /* canonical */
	struct heldfile *file; /* opened from `path`; NULL: nobody has asked for it yet */
	pid_t pid;
	int pidfd;
	int sock; /* -1 once started */
};

/* 0, or the errno that execve would fail with */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) ? errno : 0;
}

/* Looks a name up as execvp(3) does. Returns a malloc'd path, or NULL with errno set. */
static char *look_up(const char *name)
{
	const char *dir = strchr(name, '/') ? "" : getenv("PATH");
	int reason = ENOENT;

	for (; dir && *name; dir = strchr(dir, ':')) {
		dir += *dir == ':';
		int len = strcspn(dir, ":");
		char *path = mem_printf("%.*s%s%s", len, dir, len ? "/" : "", name);
		int error = check_executable(path);

		if (!error)
			return path;
		if (error != ENOENT && error != ENOTDIR)
			reason = error;
		free(path);
	}
	errno = reason;
	return NULL;
}

/* In the child, which may have been forked from a process with threads: system calls only. */
static _Noreturn void wait_and_exec(int sock, const char *path, char *const argv[])
{
	sigset_t none;
	char byte;
	ssize_t n;

	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	signals_after_fork(true);
	sigprocmask(SIG_SETMASK, &none, NULL);
	do
		n = read(sock, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1) /* the tool gave up, or is dead */
		_exit(1);
	execve(path, argv, environ);
	int error = errno;

	send(sock, &error, sizeof(error), MSG_NOSIGNAL);
	_exit(127);
}

static int fork_child(struct command *cmd, const char *path, char *const argv[])
{
	int socks[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		return -1;
	signals_before_fork();
	cmd->pid = fork();
	if (cmd->pid == 0) {
		close(socks[0]);
		wait_and_exec(socks[1], path, argv);
	}
	signals_after_fork(false);
	close(socks[1]);
	cmd->sock = socks[0];
	if (cmd->pid < 0)
		return -1;
	cmd->pidfd = syscall(SYS_pidfd_open, cmd->pid, 0);
	return cmd->pidfd < 0 ? -1 : 0;
}

struct command *command_new(char *const argv[], struct errmsg *err)
{
	struct command *cmd = mem_zalloc(1, sizeof(*cmd));
	char *path = look_up(argv[0]);

	cmd->sock = cmd->pidfd = -1;
	cmd->path = path ? realpath(path, NULL) : NULL;
	if (cmd->path && fork_child(cmd, path, argv) == 0) {
		free(path);
		return cmd;
	}
	errmsg_set(err, "cannot run \"%s\": %s", argv[0], strerror(errno));
	free(path);
	command_free(cmd, false);
	return NULL;
}

struct heldfile *command_open(struct command *cmd, struct errmsg *err)
{
	if (!cmd->file)
		cmd->file = heldfile_open(NULL, cmd->path, err);
	return cmd->file ? heldfile_share(cmd->file) : NULL;
}

pid_t command_pid(const struct command *cmd)
{
	return cmd->pid;
}

int command_pidfd(const struct command *cmd)
{
	return cmd->pidfd;
}

bool command_ended(const struct command *cmd, struct command_end *end)
{
	siginfo_t info = {0};

	/* without reaping it: command_free() does */
	if (waitid(P_PID, cmd->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return false;
	if (info.si_code == CLD_EXITED)
		*end = (struct command_end){.status = info.si_status};
	else
		*end = (struct command_end){.status = SIGNAL_STATUS + info.si_status,
					    .signal = info.si_status,
					    .dumped = info.si_code == CLD_DUMPED};
	return true;
}

/* Does the path lead to another file than was opened? */
static bool is_replaced(const struct command *cmd)
{
	struct stat now;

	return cmd->file && (stat(cmd->path, &now) != 0 || !heldfile_is(cmd->file, &now));
}

/* Does the child execute another file than the one opened? Not if the path still leads to that:
 * then the child has executed a further program since; nor if it has ended. */
static bool executes_another(const struct command *cmd)
{
	struct stat exe;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", cmd->pid);
	return is_replaced(cmd) && stat(path, &exe) == 0 && !heldfile_is(cmd->file, &exe);
}

int command_start(struct command *cmd, struct errmsg *err)
{
	int error = 0;
	ssize_t n;

	if (is_replaced(cmd))
		return errmsg_set(err, "\"%s\" was replaced after it was read: it is not run",
				  cmd->path);
	/* a child that is dead already is no error here: its pidfd tells */
	if (send(cmd->sock, "", 1, MSG_NOSIGNAL) == 1) {
		do
			n = recv(cmd->sock, &error, sizeof(error), 0);
		while (n < 0 && errno == EINTR);
	}
	close(cmd->sock);
	cmd->sock = -1;
	if (error)
		return errmsg_set(err, "cannot run \"%s\": %s", cmd->path, strerror(error));
	if (executes_another(cmd))
		return errmsg_set(err,
				  "\"%s\" was replaced after it was read: what runs is another "
				  "file, which is not traced",
				  cmd->path);
	return 0;
}

void command_free(struct command *cmd, bool kill_it)
{
	bool held = cmd && cmd->sock >= 0;

	if (!cmd)
		return;
	if (held)
		close(cmd->sock);
	if (cmd->pid > 0 && !held && kill_it && waitpid(cmd->pid, NULL, WNOHANG) == 0)
		kill(cmd->pid, SIGTERM);
	if (cmd->pid > 0)
		waitpid(cmd->pid, NULL, held ? 0 : WNOHANG);
	if (cmd->pidfd >= 0)
		close(cmd->pidfd);
	heldfile_close(cmd->file);
	free(cmd->path);
	free(cmd);
}
