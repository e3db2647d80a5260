// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "errmsg.h"
#include "target.h"

/* PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h */
#define INITIAL_PID_NAMESPACE 0xeffffffcul

/* 0: there is none */
static pid_t thread_group(pid_t pid)
{
	char line[256];
	int tgid = 0;

	snprintf(line, sizeof(line), "/proc/%d/status", pid);
	FILE *in = fopen(line, "re");

	while (in && !tgid && fgets(line, sizeof(line), in))
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			break;
	if (in)
		fclose(in);
	return tgid;
}

/* What /proc calls the tool; 0: nothing. */
static pid_t own_pid_in_proc(void)
{
	char text[32] = "";

	return readlink("/proc/self", text, sizeof(text) - 1) > 0 ? atoi(text) : 0;
}

int target_check_pid(pid_t pid, struct errmsg *err)
{
	if (own_pid_in_proc() != getpid()) {
		errmsg_set(err,
			   "/proc is of another PID namespace than the tool: which process "
			   "is %d?",
			   pid);
		errmsg_hint(err, "enter the mount namespace as well (nsenter -m), or mount a "
				 "/proc of its own");
		return -1;
	}
	pid_t tgid = thread_group(pid);

	if (!tgid && kill(pid, 0) && errno == ESRCH)
		return errmsg_set(err, "no process with PID %d", pid);
	if (!tgid || tgid == pid)
		return 0;
	errmsg_set(err, "%d is a thread of process %d", pid, tgid);
	errmsg_hint(err, "-p %d", tgid);
	return -1;
}

int target_pidfd(pid_t pid, struct errmsg *err)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 && errno == ESRCH)
		return errmsg_set(err, "no process with PID %d", pid);
	if (fd < 0)
		return errmsg_set(err, "cannot watch process %d: %s", pid, strerror(errno));
	return fd;
}

bool target_pid_namespace(unsigned long *dev, unsigned long *ino)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_PID_NAMESPACE)
		return false;
	*dev = st.st_dev;
	*ino = st.st_ino;
	return true;
}

bool target_in_other_namespace(pid_t pid)
{
	char path[64];
	struct stat own, theirs;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid);
	return !stat("/proc/self/ns/pid", &own) && !stat(path, &theirs) &&
	       own.st_ino != theirs.st_ino;
}
