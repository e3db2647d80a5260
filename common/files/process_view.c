// SPDX-License-Identifier: Apache-2.0
/* Where the kernel shows a process's memory, files and root. /proc/PID shows those of its first
 * thread, which may end before others: for good, or for some milliseconds while another one
 * executes a program (de_thread() in the kernel's fs/exec.c). They are then in the folders of its
 * other threads. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "files/process.h"
#include "files/process_text_internal.h"

enum {
	TRIES = 500,
	PAUSE_NS = 2 * 1000 * 1000,
	AGAIN = 3, /* the thread may end, or become the first one, before its folder is read */
};

#define KERNEL_THREAD 0x00200000u /* PF_KTHREAD of the kernel's include/linux/sched.h */

static bool is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

/* Has the thread of this folder not ended? */
static bool is_alive(int folder)
{
	char byte;

	return readlinkat(folder, "exe", &byte, 1) >= 0 || !is_gone(errno);
}

bool process_first_runs(const struct process *proc)
{
	return is_alive(process_dir(proc));
}

bool process_thread_runs(const struct process *proc, pid_t tid)
{
	char name[48];

	snprintf(name, sizeof(name), "task/%d", tid);
	int folder = openat(process_dir(proc), name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool runs = folder >= 0 && is_alive(folder);

	if (folder >= 0)
		close(folder);
	return runs;
}

static int other_thread(const struct process *proc)
{
	DIR *threads = process_folder(proc, "task");
	int found = -1;

	for (struct dirent *entry; found < 0 && threads && (entry = readdir(threads));) {
		if (*entry->d_name == '.')
			continue;
		found = openat(dirfd(threads), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (found >= 0 && !is_alive(found)) {
			close(found);
			found = -1;
		}
	}
	if (threads)
		closedir(threads);
	return found;
}

bool process_is_kernels(const struct process *proc)
{
	FILE *in = process_text(proc, "stat");
	unsigned flags = 0;
	int c = 0;

	/* "123 (name) S 2 0 0 0 -1 2129984 ...", and a name may have parentheses, but no kernel's
	 * has */
	while (in && c != ')' && c != EOF)
		c = fgetc(in);
	if (in && fscanf(in, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		flags = 0;
	if (in)
		fclose(in);
	return flags & KERNEL_THREAD;
}

static bool may_come_back(const struct process *proc)
{
	const struct timespec pause = {0, PAUSE_NS};

	if (!process_runs(proc) || process_is_kernels(proc))
		return false;
	nanosleep(&pause, NULL);
	return true;
}

/* The folder where these are, which may be a thread's; -1: it has ended, or has none of them. */
static int view_of(const struct process *proc)
{
	int folder = process_dir(proc), found = -1;

	for (int i = 0; i < TRIES && found < 0; i++) {
		if (is_alive(folder))
			return fcntl(folder, F_DUPFD_CLOEXEC, 0);
		found = other_thread(proc);
		if (found < 0 && !may_come_back(proc))
			break;
	}
	errno = ESRCH;
	return found;
}

int process_open_at(const struct process *proc, const char *name, int flags)
{
	int fd = -1;

	for (int i = 0; i < AGAIN && fd < 0; i++) {
		int view = view_of(proc);

		if (view < 0)
			return -1;
		fd = openat(view, name, flags | O_CLOEXEC);
		int error = errno;

		close(view);
		errno = error;
		if (!is_gone(error))
			break;
	}
	return fd;
}

ssize_t process_link(const struct process *proc, const char *name, char *out, size_t size)
{
	int view = view_of(proc);
	ssize_t n = view < 0 ? -1 : readlinkat(view, name, out, size);
	int error = errno;

	if (view >= 0)
		close(view);
	errno = error;
	return n;
}
