// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "files/codemaps.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_list.h"
#include "files/process_pieces.h"
#include "files/process_stop.h"
#include "files/process_text_internal.h"
#include "files/process_usage.h"
#include "unit.h"

/* Copies this program beside itself, to the same file system. */
static void copy_self(char *path, size_t size)
{
	char command[600];
	ssize_t len = readlink("/proc/self/exe", path, size - 8);

	assert_true(len > 0);
	snprintf(path + len, 8, ".copy");
	snprintf(command, sizeof(command), "cp /proc/%d/exe '%s'", getpid(), path);
	assert_int_equal(system(command), 0);
}

/* Of two files with the same contents, in one folder, one is what runs. */
static void test_maps(void **state)
{
	struct errmsg err = {0};
	struct process *self = process_open(getpid(), &err);
	char path[512];

	(void)state;
	assert_non_null(self);
	copy_self(path, sizeof(path));
	struct heldfile *exe = heldfile_open(NULL, "/proc/self/exe", &err);
	struct heldfile *copy = heldfile_open(NULL, path, &err);

	unlink(path);
	assert_non_null(exe);
	assert_non_null(copy);
	assert_true(process_maps(self, exe));
	assert_false(process_maps(self, copy));
	heldfile_close(exe);
	heldfile_close(copy);
	process_close(self);
}

/* As it was when the process began; of one that has ended there is none. */
static void test_variable(void **state)
{
	struct errmsg err = {0};
	struct process *self = process_open(getpid(), &err);
	char *value = process_variable(self, "PATH");

	(void)state;
	assert_string_equal(value, getenv("PATH"));
	free(value);
	assert_null(process_variable(self, "PAT"));
	assert_null(process_variable(self, "PATH="));
	process_close(self);
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	struct process *dead = process_open(child, &err);

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_null(process_variable(dead, "PATH"));
	process_close(dead);
}

static void *wait_for_end(void *ctx)
{
	int *ends = ctx;
	char byte;

	ends[2] = gettid();
	if (write(ends[1], "", 1) == 1) /* it is there */
		while (ends[2] && read(ends[3], &byte, 1) < 0)
			;
	return NULL;
}

static void test_thread(void **state)
{
	int begun[2] = {0}, ended[2] = {0}, ends[4] = {0};
	struct errmsg err = {0};
	char want[64], byte;
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(begun) || pipe(ended), 0);
	ends[1] = begun[1];
	ends[3] = ended[0];
	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, ends), 0);
	assert_int_equal(read(begun[0], &byte, 1), 1);
	assert_null(process_open(ends[2], &err));
	snprintf(want, sizeof(want), "%d is a thread of process %d", ends[2], getpid());
	assert_string_equal(err.text, want);
	snprintf(want, sizeof(want), "-p %d", getpid());
	assert_string_equal(err.hint, want);
	assert_int_equal(write(ended[1], "", 1), 1);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(begun[i]);
		close(ended[i]);
	}
	assert_null(process_open(INT32_MAX, &err));
	assert_string_equal(err.text, "no process with PID 2147483647");
}

static void test_mapped(void **state)
{
	struct process *self = process_open(getpid(), NULL);
	char *path = process_mapped(self, "libcmocka.so");

	(void)state;
	assert_non_null(path);
	assert_int_equal(*path, '/');
	assert_non_null(strstr(path, "/libcmocka.so"));
	assert_null(strchr(path, '\n'));
	assert_int_equal(access(path, R_OK), 0);
	assert_null(process_mapped(self, "cmocka.so"));
	free(path);
	process_close(self);
}

/* --- without its first thread --- */

/* No longer than this test */
static void *stay(void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return arg;
}

static bool is_zombie(pid_t pid)
{
	char path[64], text[512] = "";

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *in = fopen(path, "re");

	assert_non_null(in);
	assert_non_null(fgets(text, sizeof(text), in));
	fclose(in);
	return strrchr(text, ')')[2] == 'Z';
}

/* A process whose second thread lives on when the first one has ended */
static pid_t without_first(void)
{
	const struct timespec ms = {0, 1000 * 1000};
	pid_t pid = fork();

	if (!pid) {
		pthread_t thread;

		pthread_create(&thread, NULL, stay, NULL);
		pthread_exit(NULL);
	}
	while (!is_zombie(pid))
		nanosleep(&ms, NULL);
	return pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_first_thread_ended(void **state)
{
	struct errmsg err = {0};
	static const char text[] = "what it has in memory";
	pid_t pid = without_first();
	struct process *proc = process_open(pid, &err);
	struct stat st;
	char got[sizeof(text)];

	(void)state;
	assert_non_null(proc);
	assert_true(process_runs(proc));
	assert_false(process_first_runs(proc));
	struct heldfile *exe = process_exe(proc, &err);

	assert_non_null(exe);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_true(heldfile_is(exe, &st));
	assert_true(process_maps(proc, exe));
	assert_true(process_executes(proc, exe));
	struct heldfile *other = heldfile_open(NULL, "/bin/true", &err);

	assert_false(process_executes(proc, other));
	heldfile_close(other);
	heldfile_close(exe);
	char *path = process_exe_path(proc), *mapped = process_mapped(proc, "libcmocka.so");

	assert_non_null(path);
	assert_non_null(mapped);
	free(path);
	free(mapped);
	int mem = process_memory(proc, &err);

	assert_int_equal(pread(mem, got, sizeof(got), (off_t)(uintptr_t)text), sizeof(got));
	assert_string_equal(got, text);
	close(mem);
	end_process(pid);
	assert_false(process_runs(proc));
	assert_null(process_exe(proc, &err));
	assert_non_null(strstr(err.text, "it has ended"));
	process_close(proc);
}

static void count(void *ctx, const struct codemap *map)
{
	char byte;
	int fd = codemaps_memory(map);

	*(unsigned *)ctx += fd >= 0 && pread(fd, &byte, 1, (off_t)map->addr) == 1;
	if (fd >= 0)
		close(fd);
}

/* ... among all processes, and stopped */
static void test_first_thread_ended_seen(void **state)
{
	pid_t pid = without_first();
	struct errmsg err = {0};
	struct process *proc = process_open(pid, &err);
	size_t all;
	unsigned listed = 0, code = 0;
	pid_t *pids = process_list(&all);

	(void)state;
	for (size_t i = 0; i < all; i++)
		listed += pids[i] == pid;
	free(pids);
	assert_int_equal(listed, 1);
	assert_int_equal(codemaps_each(pid, count, &code), 0);
	assert_true(code > 0);
	struct process_stop *stop = process_stop_new(proc, &err);

	assert_string_equal(err.text, "");
	assert_non_null(stop);
	process_stop_end(stop);
	process_close(proc);
	end_process(pid);
}

/* 0, or what an error was: of a link and of a file in the process's folder */
static int link_error(const struct process *proc, const char *name)
{
	char path[PATH_MAX];

	return process_link(proc, name, path, sizeof(path)) < 0 ? errno : 0;
}

static int open_error(const struct process *proc, const char *name)
{
	int fd = process_open_at(proc, name, O_RDONLY);

	if (fd < 0)
		return errno;
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	return 0;
}

/* The next descriptor: it is the same again where none stays open. */
static int next_descriptor(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* Of a process that runs, with its first thread or without, and of one that has ended: which of
 * its threads run, and what can be read. */
static void test_threads(void **state)
{
	struct errmsg err = {0};
	pid_t first = without_first(), ended = fork();

	(void)state;
	if (!ended)
		_exit(0);
	while (!is_zombie(ended))
		sched_yield();
	const pid_t pids[] = {getpid(), first, ended};

	for (size_t i = 0; i < 3; i++) {
		struct process *proc = process_open(pids[i], &err);

		assert_non_null(proc);
		int gone = i == 2 ? ESRCH : 0, next = next_descriptor();

		assert_int_equal(process_first_runs(proc), i == 0);
		assert_int_equal(process_thread_runs(proc, pids[i]), i == 0);
		assert_false(process_thread_runs(proc, 1 << 30));
		assert_int_equal(link_error(proc, "exe"), gone);
		assert_int_equal(open_error(proc, "maps"), gone);
		/* which is not there, or of another kind */
		assert_int_equal(link_error(proc, "exes"), gone ? ESRCH : ENOENT);
		assert_int_equal(open_error(proc, "mapped"), gone ? ESRCH : ENOENT);
		assert_int_equal(link_error(proc, "maps"), gone ? ESRCH : EINVAL);
		assert_int_equal(open_error(proc, "maps/x"), gone ? ESRCH : ENOTDIR);
		assert_int_equal(next_descriptor(), next);
		process_close(proc);
	}
	end_process(first);
	waitpid(ended, NULL, 0);
}

/* Not all that has no program has ended. */
static void test_kernel_thread(void **state)
{
	struct errmsg err = {0};
	struct process *proc = process_open(2, &err);
	char *name = proc ? process_name(proc) : NULL;
	bool is = name && !strcmp(name, "kthreadd");

	(void)state;
	free(name);
	if (!is) {
		process_close(proc);
		skip(); /* in a PID namespace */
	}
	assert_null(process_exe(proc, &err));
	assert_non_null(strstr(err.text, "a thread of the kernel"));
	assert_true(process_is_kernels(proc));
	assert_int_equal(link_error(proc, "exe"), ESRCH);
	process_close(proc);
}

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* What the kernel tells this process of itself, whatever its name looks like */
static void test_usage(void **state)
{
	enum { PAGES = 4096 };
	struct process *self = process_open(getpid(), NULL);
	size_t len = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	struct process_usage first, second;
	char name[16], *memory;

	(void)state;
	prctl(PR_GET_NAME, name);
	prctl(PR_SET_NAME, "x\\n\nThreads:\t7");
	uint64_t before = cpu_ns();

	assert_true(process_usage(self, &first));
	assert_in_range(first.cpu_ns, before, cpu_ns());
	assert_int_equal(first.threads, 1);
	assert_string_equal(first.name, "x\\n\nThreads:\t7");
	memory = malloc(len);
	assert_non_null(memory);
	memset(memory, 1, len);
	assert_true(process_usage(self, &second));
	/* the kernel counts on each CPU some dozens of pages before it adds them up */
	assert_in_range(second.rss_anon - first.rss_anon, len / 2, len + len / 2);
	free(memory);
	prctl(PR_SET_NAME, name);
	process_close(self);
}

/* As many as are there before the first that is not */
static void test_pieces(void **state)
{
	struct process *self = process_open(getpid(), NULL);
	const uint64_t words[] = {1, 2, 3};
	uint64_t out[3] = {0};
	struct process_piece pieces[] = {{(uintptr_t)&words[2], &out[0], 8},
					 {(uintptr_t)&words[0], &out[1], 16},
					 {8, &out[0], 8}};

	(void)state;
	assert_int_equal(process_pieces(self, pieces, 3), 2);
	assert_int_equal(out[0], 3);
	assert_int_equal(out[1], 1);
	assert_int_equal(out[2], 2);
	assert_int_equal(process_pieces(self, pieces + 2, 1), 0);
	process_close(self);
}

static void test_descriptors(void **state)
{
	struct process *self = process_open(getpid(), NULL);
	struct process_descriptors first, second;
	struct rlimit limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur--; /* less than it may be */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(process_descriptors(self, &first));
	int fd = dup(STDERR_FILENO);

	assert_true(process_descriptors(self, &second));
	assert_int_equal(second.open, first.open + 1);
	assert_int_equal(second.limit, limit.rlim_cur);
	limit.rlim_cur++;
	setrlimit(RLIMIT_NOFILE, &limit);
	close(fd);
	process_close(self);
}

static void wait_limited(int ready, int from)
{
	const struct rlimit limit = {from, from + 1};
	char byte = 'r';

	if (setrlimit(RLIMIT_NOFILE, &limit) || (!geteuid() && setuid(65534)) ||
	    write(ready, &byte, 1) != 1)
		_exit(1);
	pause();
	_exit(0);
}

/* Of another user's process, if the test may have one: the kernel may not tell its limits by
 * number. Without its first thread it has as many. */
static void test_others_descriptors(void **state)
{
	enum { FILES = 77 };
	struct process_descriptors fds;
	int ready[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();

	if (!child)
		wait_limited(ready[1], FILES);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	struct process *proc = process_open(child, NULL);

	assert_true(process_descriptors(proc, &fds));
	assert_int_equal(fds.limit, FILES);
	process_close(proc);
	end_process(child);
	close(ready[0]);
	close(ready[1]);
}

static void test_descriptors_without_first(void **state)
{
	struct process *self = process_open(getpid(), NULL);
	pid_t pid = without_first();
	struct process *proc = process_open(pid, NULL);
	struct process_descriptors own, fds;

	(void)state;
	assert_true(process_descriptors(self, &own));
	assert_true(process_descriptors(proc, &fds));
	/* those that hold the two processes came after the fork, but for this one's first */
	assert_in_range(fds.open, 3, own.open);
	assert_int_equal(fds.limit, own.limit);
	process_close(proc);
	end_process(pid);
	process_close(self);
}

/* All threads' time on CPUs, as this one's clock has it; the kernel adds it up at each tick. */
static void test_turns(void **state)
{
	enum { TICK_NS = 10000000 };
	struct process *self = process_open(getpid(), NULL);
	struct process_turns first, second;
	struct timespec now;

	(void)state;
	assert_true(process_turns(self, &first));
	for (uint64_t until = first.ran_ns + 3 * TICK_NS, ran = 0; ran < until;) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		ran = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	}
	assert_true(process_turns(self, &second));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	assert_in_range(second.ran_ns - first.ran_ns, TICK_NS,
			(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	assert_true(second.waited_ns >= first.waited_ns);
	process_close(self);
}

/* What process_memory() says of the first process, in the child's stead who may not read it */
static void refused_memory(char *said, size_t size)
{
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	pid_t child = fork();

	if (!child) {
		struct errmsg err = {0};
		struct process *first;

		if (!geteuid() && setuid(65534))
			_exit(1);
		first = process_open(1, &err);
		if (!first || process_memory(first, &err) >= 0)
			_exit(1);
		dprintf(pipes[1], "%s\n%s", err.text, err.hint);
		_exit(0);
	}
	close(pipes[1]);
	ssize_t len = read(pipes[0], said, size - 1);

	said[len > 0 ? len : 0] = '\0';
	close(pipes[0]);
	waitpid(child, NULL, 0);
}

/* What is missing depends on how far the kernel lets anybody: see ptrace(2), Yama. */
static void test_memory_refused(void **state)
{
	FILE *in = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");
	char said[512], want[512],
		hint[128] = "this needs the process's own user, or CAP_SYS_PTRACE";
	int scope = 0;

	(void)state;
	if (in && fscanf(in, "%d", &scope) == 1 && scope)
		snprintf(hint, sizeof(hint), "kernel.yama.ptrace_scope is %d: %s", scope,
			 scope == 3 ? "nobody may" : "this needs CAP_SYS_PTRACE");
	if (in)
		fclose(in);
	refused_memory(said, sizeof(said));
	if (!said[0])
		skip(); /* the first process is this user's */
	snprintf(want, sizeof(want), "cannot read the memory of process 1: Permission denied\n%s",
		 hint);
	assert_string_equal(said, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_variable),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_first_thread_ended),
		cmocka_unit_test(test_first_thread_ended_seen),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_kernel_thread),
		cmocka_unit_test(test_usage),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_others_descriptors),
		cmocka_unit_test(test_descriptors_without_first),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_memory_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
