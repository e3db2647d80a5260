// SPDX-License-Identifier: Apache-2.0
#include "files/process.h"
#include "files/process_text_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/fileroot_internal.h"
#include "files/heldfile_internal.h"

enum { ENVIRON_MAX = 6 << 20 }; /* bytes */

struct process {
	pid_t pid;
	int pidfd, dir; /* dir: /proc/PID, where nothing is found once the process has ended */
	struct fileroot *root;
	int *status; /* a descriptor, once it has been read; -1 */
};

static FILE *stream_of(int fd)
{
	return fd < 0 ? NULL : fdopen(fd, "r");
}

int process_text_fd(const struct process *proc, const char *name)
{
	return openat(proc->dir, name, O_RDONLY | O_CLOEXEC);
}

FILE *process_text(const struct process *proc, const char *name)
{
	return stream_of(process_text_fd(proc, name));
}

bool process_status(const struct process *proc, char *text, size_t size)
{
	if (*proc->status < 0)
		*proc->status = process_text_fd(proc, "status");
	/* read from its beginning, it is made anew */
	ssize_t len = *proc->status < 0 ? -1 : pread(*proc->status, text, size - 1, 0);

	text[len > 0 ? len : 0] = '\0';
	return len > 0;
}

FILE *process_view_text(const struct process *proc, const char *name)
{
	return stream_of(process_open_at(proc, name, O_RDONLY));
}

DIR *process_folder(const struct process *proc, const char *name)
{
	int fd = openat(proc->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopendir(fd);
}

int process_dir(const struct process *proc)
{
	return proc->dir;
}

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

static int no_process(pid_t pid, struct errmsg *err)
{
	pid_t tgid = thread_group(pid);

	if (!tgid || tgid == pid)
		return errmsg_set(err, "no process with PID %d", pid);
	errmsg_set(err, "%d is a thread of process %d", pid, tgid);
	errmsg_hint(err, "-p %d", tgid);
	return -1;
}

/* Does the process have the tool's own root and mounts? Messages then show paths as typed. */
static bool sees_the_same(const struct process *proc, int root)
{
	char own[64], theirs[64];
	struct stat a, b;
	ssize_t n = process_link(proc, "ns/mnt", theirs, sizeof(theirs));
	ssize_t m = readlink("/proc/self/ns/mnt", own, sizeof(own));

	return n > 0 && n == m && !memcmp(own, theirs, n) && !fstat(root, &a) && !stat("/", &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static struct fileroot *open_root(const struct process *proc)
{
	char shown[64];
	int fd = process_open_at(proc, "root", O_PATH | O_DIRECTORY);

	if (fd < 0) /* needs privileges */
		return fileroot_own();
	if (sees_the_same(proc, fd)) {
		close(fd);
		return fileroot_own();
	}
	snprintf(shown, sizeof(shown), "/proc/%d/root", proc->pid);
	return fileroot_new(fd, shown);
}

/* The tool's PID as /proc shows it; 0: it shows none. */
static pid_t own_pid_in_proc(void)
{
	char text[32] = "";

	return readlink("/proc/self", text, sizeof(text) - 1) > 0 ? atoi(text) : 0;
}

static int hold(struct process *proc, struct errmsg *err)
{
	char path[64];

	if (own_pid_in_proc() != getpid()) {
		errmsg_set(err,
			   "/proc belongs to another PID namespace than this tool: PID %d "
			   "is ambiguous",
			   proc->pid);
		errmsg_hint(err, "enter the mount namespace as well (nsenter -m), or mount a "
				 "/proc of its own");
		return -1;
	}
	proc->pidfd = syscall(SYS_pidfd_open, proc->pid, 0);
	if (proc->pidfd < 0 && (errno == ESRCH || errno == EINVAL || errno == ENOENT))
		return no_process(proc->pid, err);
	if (proc->pidfd < 0)
		return errmsg_set(err, "cannot watch process %d: %s", proc->pid, strerror(errno));
	snprintf(path, sizeof(path), "/proc/%d", proc->pid);
	proc->dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* while the process runs, no other can have its PID: the folder is its own */
	if (proc->dir < 0 || (!process_runs(proc) && thread_group(proc->pid) == 0))
		return no_process(proc->pid, err);
	return 0;
}

struct process *process_hold(pid_t pid, struct errmsg *err)
{
	struct process *proc = mem_zalloc(1, sizeof(*proc));

	*proc = (struct process){
		.pid = pid, .pidfd = -1, .dir = -1, .status = mem_alloc(sizeof(*proc->status))};
	*proc->status = -1;
	if (hold(proc, err) == 0)
		return proc;
	process_close(proc);
	return NULL;
}

void process_find_root(struct process *proc)
{
	if (!proc->root)
		proc->root = open_root(proc);
}

struct process *process_open(pid_t pid, struct errmsg *err)
{
	struct process *proc = process_hold(pid, err);

	if (proc)
		process_find_root(proc);
	return proc;
}

void process_close(struct process *proc)
{
	if (!proc)
		return;
	if (proc->pidfd >= 0)
		close(proc->pidfd);
	if (proc->dir >= 0)
		close(proc->dir);
	if (*proc->status >= 0)
		close(*proc->status);
	free(proc->status);
	fileroot_close(proc->root);
	free(proc);
}

pid_t process_id(const struct process *proc)
{
	return proc->pid;
}

int process_fd(const struct process *proc)
{
	return proc->pidfd;
}

bool process_runs(const struct process *proc)
{
	struct pollfd fd = {proc->pidfd, POLLIN, 0};

	return poll(&fd, 1, 0) == 0;
}

struct fileroot *process_root(const struct process *proc)
{
	return proc->root;
}

static bool is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

static int no_exe(const struct process *proc, struct errmsg *err)
{
	if (process_is_kernels(proc))
		return errmsg_set(err, "PID %d has no executable: it is a thread of the kernel",
				  proc->pid);
	return errmsg_set(err, "PID %d has no executable: it has ended", proc->pid);
}

struct heldfile *process_exe(const struct process *proc, struct errmsg *err)
{
	int fd = process_open_at(proc, "exe", O_PATH);
	char shown[64];

	snprintf(shown, sizeof(shown), "/proc/%d/exe", proc->pid);
	if (fd >= 0)
		return heldfile_take(proc->root, fd, shown, err);
	if (is_gone(errno)) {
		no_exe(proc, err);
		return NULL;
	}
	errmsg_set(err, "cannot read %s: %s", shown, strerror(errno));
	if (errno == EACCES || errno == EPERM) /* of ptrace(2)'s rules: proc_pid_exe(5) */
		errmsg_hint(err, "processes of others need root with CAP_SYS_PTRACE");
	return NULL;
}

char *process_exe_path(const struct process *proc)
{
	static const char deleted[] = " (deleted)";
	char path[PATH_MAX + 1];
	ssize_t n = process_link(proc, "exe", path, sizeof(path) - 1);

	if (n < 0)
		return NULL;
	path[n] = '\0';
	size_t end = n - (sizeof(deleted) - 1);

	if (n >= (ssize_t)sizeof(deleted) && !strcmp(path + end, deleted))
		path[end] = '\0';
	return mem_strdup(path);
}

char *process_name(const struct process *proc)
{
	FILE *in = process_text(proc, "comm");
	char *name = NULL;
	size_t size = 0;

	if (!in || getline(&name, &size, in) < 0) {
		free(name);
		name = mem_strdup("?");
	}
	name[strcspn(name, "\n")] = '\0';
	if (in)
		fclose(in);
	return name;
}

char *process_name_of(pid_t pid)
{
	struct process *proc = process_open(pid, NULL);
	char *name = proc ? process_name(proc) : NULL;

	process_close(proc);
	return name;
}

/* No more than the kernel gives a program: the process may say that far more is its environment. */
static char *read_environ(const struct process *proc, size_t *len)
{
	FILE *in = process_text(proc, "environ");
	char *all = mem_alloc(ENVIRON_MAX + 1);

	*len = in ? fread(all, 1, ENVIRON_MAX, in) : 0;
	all[*len] = '\0';
	if (in)
		fclose(in);
	return all;
}

char *process_variable(const struct process *proc, const char *name)
{
	size_t len, name_len = strlen(name);
	char *all = read_environ(proc, &len), *found = NULL;

	for (char *s = all; s < all + len && !found; s += strlen(s) + 1)
		if (!strncmp(s, name, name_len) && s[name_len] == '=')
			found = mem_strdup(s + name_len + 1);
	free(all);
	return found;
}

bool process_executes(const struct process *proc, const struct heldfile *file)
{
	struct stat st;

	if (!fstatat(proc->dir, "exe", &st, 0))
		return heldfile_is(file, &st);
	int fd = process_open_at(proc, "exe", O_PATH);
	bool does = fd < 0 || fstat(fd, &st) != 0 || heldfile_is(file, &st);

	if (fd >= 0)
		close(fd);
	return does;
}

bool process_runs_deleted(const struct process *proc, const char *path)
{
	char exe[PATH_MAX + 1];
	size_t len = strlen(path);
	ssize_t n = process_link(proc, "exe", exe, sizeof(exe) - 1);

	if (n < 0)
		return false;
	exe[n] = '\0';
	return !strncmp(exe, path, len) && !strcmp(exe + len, " (deleted)");
}

/* Of ptrace(2)'s rules, the one that is in force: "Ptrace access mode checking", and Yama's. */
void process_hint_ptrace(struct errmsg *err)
{
	FILE *in = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (in && fscanf(in, "%d", &scope) != 1)
		scope = 0;
	if (in)
		fclose(in);
	if (scope >= 3)
		errmsg_hint(err, "kernel.yama.ptrace_scope is %d: nobody may", scope);
	else if (scope)
		errmsg_hint(err, "kernel.yama.ptrace_scope is %d: this needs CAP_SYS_PTRACE",
			    scope);
	else
		errmsg_hint(err, "this needs the process's own user, or CAP_SYS_PTRACE");
}

int process_memory(const struct process *proc, struct errmsg *err)
{
	int fd = process_open_at(proc, "mem", O_RDONLY);

	if (fd >= 0)
		return fd;
	if (is_gone(errno))
		return errmsg_set(err, "process %d has ended", proc->pid);
	errmsg_set(err, "cannot read the memory of process %d: %s", proc->pid, strerror(errno));
	if (errno == EACCES || errno == EPERM)
		process_hint_ptrace(err);
	return -1;
}
