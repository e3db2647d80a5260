// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <sys/stat.h>

#include "selection/target.h"

/* PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h */
#define INITIAL_PID_NAMESPACE 0xeffffffcul

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
