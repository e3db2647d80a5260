// SPDX-License-Identifier: Apache-2.0
#include "kernel/keeper.h"

#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { TICK_MS = 100 };

/* Runs in the child of a process with threads: calls only async-signal-safe functions. */
static void keep_open(const int *ends)
{
	char byte;

	setsid(); /* Ctrl-C is not meant for it */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	close(ends[1]);
	while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
		continue;
	_exit(0);
}

struct keeper keeper_start(void)
{
	struct keeper keeper = {.let_go = -1};
	int ends[2];

	if (pipe(ends))
		return keeper;
	pid_t pid = fork();

	if (pid == 0)
		keep_open(ends);
	close(ends[0]);
	if (pid < 0) {
		close(ends[1]);
		return keeper;
	}
	return (struct keeper){pid, ends[1]};
}

/* False: it has not used a processor for `ms`. */
static bool await_end(int pidfd, pid_t pid, int ms)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	int tick = ms < TICK_MS ? ms : TICK_MS, still = 0;
	uint64_t before = clock_cpu_ns(pid), now;

	while (still < ms) {
		if (poll(&ended, 1, tick) > 0)
			return true;
		now = clock_cpu_ns(pid);
		still = now == before ? still + tick : 0;
		before = now;
	}
	return false;
}

bool keeper_end(struct keeper *keeper, int ms)
{
	if (!keeper->pid)
		return true;
	int pidfd = syscall(SYS_pidfd_open, keeper->pid, 0);

	close(keeper->let_go);
	bool gone = pidfd >= 0 && await_end(pidfd, keeper->pid, ms);

	if (pidfd >= 0)
		close(pidfd);
	if (gone)
		waitpid(keeper->pid, NULL, 0);
	keeper->pid = 0;
	return gone;
}
