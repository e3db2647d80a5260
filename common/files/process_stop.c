// SPDX-License-Identifier: Apache-2.0
#include "files/process_stop.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/number.h"
#include "files/process.h"
#include "files/process_text_internal.h"

#define STOP_NS 3000000000ull /* in which all threads must have stopped */

enum { ROUNDS_MAX = 100, POLL_NS = 10 * 1000 * 1000 };

struct thread {
	pid_t tid, own; /* `own`: in the innermost PID namespace, as it sees itself */
	int signal;     /* that it was about to get: it gets it when it goes on */
	enum { THREAD_SEIZED, THREAD_STOPPED, THREAD_GONE } state;
};

struct process_stop {
	const struct process *proc;
	struct thread *all;
	size_t count, cap;
	uint64_t begun;
	sigset_t signals; /* those that were blocked before */
};

/* --- which there are --- */

static pid_t own_id(const struct process *proc, pid_t tid)
{
	char name[48], line[256];
	pid_t own = tid;

	snprintf(name, sizeof(name), "task/%d/status", tid);
	FILE *in = process_text(proc, name);

	while (in && fgets(line, sizeof(line), in)) {
		const char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			own = atoi(last);
	}
	if (in)
		fclose(in);
	return own;
}

static bool is_known(const struct process_stop *stop, pid_t tid)
{
	for (size_t i = 0; i < stop->count; i++)
		if (stop->all[i].tid == tid)
			return true;
	return false;
}

static int refuse(const struct process_stop *stop, int error, struct errmsg *err)
{
	int tracer = 0;
	char line[256];
	FILE *in = process_text(stop->proc, "status");

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	if (in)
		fclose(in);
	if (tracer)
		return errmsg_set(err, "the process cannot be stopped: process %d traces it",
				  tracer);
	errmsg_set(err, "the process cannot be stopped: %s", strerror(error));
	if (error == EPERM)
		process_hint_ptrace(err);
	return -1;
}

/* Seizes and interrupts the threads that are not known yet; how many, or -1 with *err. */
static int seize_new(struct process_stop *stop, struct errmsg *err)
{
	DIR *dir = process_folder(stop->proc, "task");
	const struct dirent *entry;
	int found = 0, ret = 0;
	uint64_t tid;

	while (!ret && dir && (entry = readdir(dir))) {
		if (!number_parse(entry->d_name, INT32_MAX, &tid) || is_known(stop, tid))
			continue;
		if (ptrace(PTRACE_SEIZE, (pid_t)tid, 0, 0)) {
			int error = errno;

			/* EPERM also if it has ended and stays, as the first thread does */
			if (error != ESRCH &&
			    (error != EPERM || process_thread_runs(stop->proc, (pid_t)tid)))
				ret = refuse(stop, error, err);
			continue;
		}
		stop->all = mem_grow(stop->all, stop->count, &stop->cap, sizeof(*stop->all));
		stop->all[stop->count++] =
			(struct thread){.tid = tid, .own = own_id(stop->proc, tid)};
		ptrace(PTRACE_INTERRUPT, (pid_t)tid, 0, 0);
		found++;
	}
	if (dir)
		closedir(dir);
	return ret ? -1 : found;
}

/* --- until they stand still --- */

static bool has_stopped(struct thread *thread)
{
	int status;

	if (thread->state != THREAD_SEIZED)
		return true;
	pid_t got = waitpid(thread->tid, &status, __WALL | WNOHANG);

	if (!got)
		return false;
	if (got < 0 || !WIFSTOPPED(status)) {
		thread->state = THREAD_GONE;
		return true;
	}
	thread->state = THREAD_STOPPED;
	if (status >> 16 != PTRACE_EVENT_STOP)
		thread->signal = WSTOPSIG(status);
	return true;
}

/* Until a thread has stopped, or for a while: the kernel sends a signal then, which is blocked. */
static void wait_some(void)
{
	const struct timespec at_most = {0, POLL_NS};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &at_most);
}

static int wait_all(struct process_stop *stop, struct errmsg *err)
{
	for (size_t i = 0; i < stop->count;) {
		if (has_stopped(&stop->all[i])) {
			i++;
			continue;
		}
		if (clock_ns() - stop->begun > STOP_NS)
			return errmsg_set(err, "thread %d does not stop: it waits in the kernel",
					  stop->all[i].tid);
		wait_some();
	}
	return 0;
}

/* Threads begin others, until all of them have stopped. */
static int stop_all(struct process_stop *stop, struct errmsg *err)
{
	int found = 1;

	for (int i = 0; i < ROUNDS_MAX && found; i++) {
		found = seize_new(stop, err);
		if (found < 0 || wait_all(stop, err))
			return -1;
	}
	if (found)
		return errmsg_set(err, "the process begins threads faster than they can be "
				       "stopped");
	return stop->count ? 0 : errmsg_set(err, "the process has ended");
}

struct process_stop *process_stop_new(const struct process *proc, struct errmsg *err)
{
	struct process_stop *stop = mem_zalloc(1, sizeof(*stop));
	sigset_t every;

	stop->proc = proc;
	sigfillset(&every);
	sigprocmask(SIG_BLOCK, &every, &stop->signals);
	stop->begun = clock_ns();
	if (stop_all(stop, err) == 0)
		return stop;
	process_stop_end(stop);
	return NULL;
}

/* Of the machine that the tool runs on, as struct user_regs_struct is. */
static struct process_registers of_machine(const struct user_regs_struct *regs)
{
#ifdef __aarch64__
	return (struct process_registers){regs->pc, regs->sp, regs->regs[30]};
#else
	return (struct process_registers){regs->rip, regs->rsp, 0};
#endif
}

bool process_stop_registers(const struct process_stop *stop, pid_t tid,
			    struct process_registers *out)
{
	struct user_regs_struct regs;
	struct iovec into = {&regs, sizeof(regs)};

	for (size_t i = 0; i < stop->count; i++) {
		const struct thread *thread = &stop->all[i];

		if (thread->own != tid || thread->state != THREAD_STOPPED)
			continue;
		if (ptrace(PTRACE_GETREGSET, thread->tid, NT_PRSTATUS, &into))
			return false;
		*out = of_machine(&regs);
		return true;
	}
	return false;
}

/* One that has not stopped yet cannot be let go before it has. */
static void let_go(struct thread *thread, uint64_t until)
{
	while (!has_stopped(thread) && clock_ns() < until)
		wait_some();
	if (thread->state == THREAD_STOPPED)
		ptrace(PTRACE_DETACH, thread->tid, 0, thread->signal);
}

uint64_t process_stop_end(struct process_stop *stop)
{
	if (!stop)
		return 0;
	uint64_t until = clock_ns() + STOP_NS;

	for (size_t i = 0; i < stop->count; i++)
		let_go(&stop->all[i], until);
	uint64_t ns = clock_ns() - stop->begun;

	sigprocmask(SIG_SETMASK, &stop->signals, NULL);
	free(stop->all);
	free(stop);
	return ns;
}
