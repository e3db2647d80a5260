// SPDX-License-Identifier: Apache-2.0
#include "kernel/execwatch_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"
#include "kernel/attach_internal.h"
#include "kernel/bpfprog.h"
#include "kernel/events.h"

struct execwatch {
	int maps;       /* /proc/PID/maps of the memory that the process had at first; -1: none */
	int tracepoint; /* -1: not open yet */
	int end;        /* an eventfd: the thread ends when it is readable; -1: none */
	struct events *events;
	struct attach *const *attached;
	size_t count;
	pthread_t thread;
	bool started;
	struct execwatch_report report;
};

struct execwatch *execwatch_new(pid_t pid)
{
	struct execwatch *watch = mem_zalloc(1, sizeof(*watch));
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	watch->maps = open(path, O_RDONLY | O_CLOEXEC);
	watch->tracepoint = watch->end = -1;
	return watch;
}

static int attach_all_again(const struct execwatch *watch, struct errmsg *err)
{
	int ret = 0;

	for (size_t i = 0; i < watch->count; i++)
		if (watch->attached[i] && attach_again(watch->attached[i], err))
			ret = -1;
	return ret;
}

static void forget_old(const struct execwatch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		if (watch->attached[i])
			attach_forget(watch->attached[i]);
}

void execwatch_note(struct execwatch_report *report, uint64_t executed_ns, uint64_t attached_ns)
{
	report->times++;
	report->blind_ns += attached_ns - executed_ns;
}

/* The record is the time of the execve. */
static bool on_exec(const void *data, size_t len, void *ctx)
{
	struct execwatch *watch = ctx;
	uint64_t time_ns;

	if (len < sizeof(time_ns))
		return true;
	memcpy(&time_ns, data, sizeof(time_ns));
	attach_all_again(watch, &watch->report.failure);
	execwatch_note(&watch->report, time_ns, clock_ns());
	forget_old(watch);
	return true;
}

static void *wait_for_execs(void *ctx)
{
	struct execwatch *watch = ctx;
	struct pollfd fds[] = {{watch->end, POLLIN, 0}, {events_fd(watch->events), POLLIN, 0}};

	while (!fds[0].revents) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			events_read(watch->events, true);
	}
	return NULL;
}

static int start_thread(struct execwatch *watch, struct errmsg *err)
{
	watch->started = signals_thread(&watch->thread, wait_for_execs, watch);
	return watch->started ? 0 : errmsg_set(err, "cannot start a thread");
}

/* Has the process executed another program before it was watched? /proc/PID/maps shows the memory
 * that the process had when the file was opened, and reads as empty once that is gone. */
static bool missed_one(const struct execwatch *watch)
{
	char byte;

	return watch->maps < 0 || pread(watch->maps, &byte, 1, 0) != 1;
}

int execwatch_begin(struct execwatch *watch, struct bpfprog *bpf, struct attach *const *attached,
		    size_t count, struct errmsg *err)
{
	watch->attached = attached;
	watch->count = count;
	watch->events = events_new(bpfprog_map(bpf, "execs"), on_exec, watch, err);
	if (!watch->events)
		return -1;
	watch->end = eventfd(0, EFD_CLOEXEC);
	if (watch->end < 0)
		return errmsg_set(err, "eventfd: %s", strerror(errno));
	watch->tracepoint = bpfprog_at_tracepoint(bpf, "on_exec", "sched_process_exec", err);
	if (watch->tracepoint < 0)
		return -1;
	if (missed_one(watch) && attach_all_again(watch, err))
		return -1;
	return start_thread(watch, err);
}

void execwatch_end(struct execwatch *watch)
{
	if (!watch->started)
		return;
	eventfd_write(watch->end, 1);
	pthread_join(watch->thread, NULL);
	watch->started = false;
}

void execwatch_read(const struct execwatch *watch, struct execwatch_report *out)
{
	*out = watch->report;
}

static void close_if(int fd)
{
	if (fd >= 0)
		close(fd);
}

void execwatch_free(struct execwatch *watch)
{
	if (!watch)
		return;
	execwatch_end(watch);
	close_if(watch->tracepoint);
	close_if(watch->maps);
	close_if(watch->end);
	events_free(watch->events);
	free(watch);
}
