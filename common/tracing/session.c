// SPDX-License-Identifier: Apache-2.0
#include "tracing/session_internal.h"

#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/signals.h"
#include "files/process.h"
#include "files/process_state.h"

#define NS_PER_S 1000000000ull

enum { PATTERNS_TEXT = 72 }; /* bytes of patterns that are named at the start */
enum { FD_SIGNAL, FD_PROCESS, FD_EVENT, FD_STREAM, FD_OUTPUT, FD_COUNT };

/* from linux/capability.h of newer kernels */
enum { CAP_NR_PERFMON = 38, CAP_NR_BPF = 39 };

struct session {
	int signal_fd; /* of signals_hold() */
};

static bool has_capability(const struct __user_cap_data_struct data[2], unsigned nr)
{
	return data[nr / 32].effective >> (nr % 32) & 1;
}

int session_check_privileges(struct errmsg *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &header, data))
		return errmsg_set(err, "cannot read the capabilities: %s", strerror(errno));
	if (has_capability(data, CAP_SYS_ADMIN) ||
	    (has_capability(data, CAP_NR_PERFMON) && has_capability(data, CAP_NR_BPF)))
		return 0;
	errmsg_set(err, "tracing needs root, or CAP_BPF and CAP_PERFMON (before Linux 5.8 "
			"CAP_SYS_ADMIN)");
	errmsg_hint(err, "run it with sudo");
	return -1;
}

bool session_sees_all(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	return !syscall(SYS_capget, &header, data) && has_capability(data, CAP_SYS_PTRACE);
}

struct session *session_new(struct errmsg *err)
{
	struct session *ses = mem_zalloc(1, sizeof(*ses));

	signal(SIGPIPE, SIG_DFL); /* some parents leave it ignored */
	setvbuf(stdout, NULL, _IOLBF, 0);
	ses->signal_fd = signals_hold();
	if (ses->signal_fd >= 0)
		return ses;
	errmsg_set(err, "cannot watch signals: %s", strerror(errno));
	session_free(ses);
	return NULL;
}

void session_free(struct session *ses)
{
	free(ses);
}

/* Times (CLOCK_MONOTONIC) at which something is due; UINT64_MAX: never. */
struct schedule {
	uint64_t interval_ns, next, end, stream;
};

static struct schedule schedule_make(const struct session_spec *spec)
{
	struct schedule sched = {spec->interval_ns, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	uint64_t now = clock_ns();

	if (spec->interval_ns)
		sched.next = now + spec->interval_ns;
	if (spec->duration_ns)
		sched.end = now + spec->duration_ns;
	if (spec->stream_ns)
		sched.stream = now + spec->stream_ns;
	return sched;
}

static uint64_t schedule_due(const struct schedule *sched)
{
	uint64_t due = sched->next < sched->end ? sched->next : sched->end;

	return sched->stream < due ? sched->stream : due;
}

/* Is a tick due? Ticks that were missed, as printing took so long, are not made up for. */
static bool schedule_tick(struct schedule *sched, uint64_t now)
{
	if (now < sched->next)
		return false;
	sched->next += (1 + (now - sched->next) / sched->interval_ns) * sched->interval_ns;
	return true;
}

static int wait_until(struct pollfd *fds, uint64_t due)
{
	uint64_t now = clock_ns(), left = due > now ? due - now : 0;
	struct timespec ts = {left / NS_PER_S, left % NS_PER_S};

	return ppoll(fds, FD_COUNT, due == UINT64_MAX ? NULL : &ts, NULL);
}

/* Reads the stream if it is due or readable. Is the session over? */
static bool read_stream(const struct session_spec *spec, const struct pollfd *fds,
			struct schedule *sched, enum session_end *end)
{
	bool due = clock_ns() >= sched->stream, more;

	if (!due && !fds[FD_STREAM].revents)
		return false;
	more = spec->stream(spec->ctx);
	if (!more || signals_came()) {
		*end = more ? SESSION_SIGNAL : SESSION_ENOUGH;
		return true;
	}
	/* from now: printing may have taken longer than the period */
	sched->stream = clock_ns() + spec->stream_ns;
	return false;
}

/* Is the session over? Events that came in before the end are handed on first. */
static bool look(const struct session_spec *spec, const struct pollfd *fds, enum session_end *end)
{
	if (fds[FD_EVENT].revents && !spec->event(spec->ctx)) {
		*end = SESSION_ENOUGH;
		return true;
	}
	if (fds[FD_SIGNAL].revents) {
		*end = SESSION_SIGNAL;
		return true;
	}
	*end = fds[FD_PROCESS].revents ? SESSION_PROCESS : SESSION_OUTPUT_GONE;
	if (*end == SESSION_PROCESS && signals_came()) /* Ctrl-C ended both, while this looked */
		*end = SESSION_SIGNAL;
	return fds[FD_PROCESS].revents || (fds[FD_OUTPUT].revents & POLLERR);
}

static int run(struct session *ses, const struct session_spec *spec, enum session_end *end)
{
	struct schedule sched = schedule_make(spec);
	struct pollfd fds[FD_COUNT] = {
		[FD_SIGNAL] = {ses->signal_fd, POLLIN, 0},
		[FD_PROCESS] = {spec->process_fd, POLLIN, 0},
		[FD_EVENT] = {spec->event_fd, POLLIN, 0},
		[FD_STREAM] = {spec->stream_ns ? spec->stream_fd : -1, POLLIN, 0},
		[FD_OUTPUT] = {STDOUT_FILENO, 0, 0},
	};

	for (;;) {
		int n = wait_until(fds, schedule_due(&sched));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (read_stream(spec, fds, &sched, end))
			return 0;
		if (n > 0 && look(spec, fds, end))
			return 0;
		if (clock_ns() >= sched.end) {
			*end = SESSION_DURATION;
			return 0;
		}
		if (schedule_tick(&sched, clock_ns()))
			spec->tick(spec->ctx);
	}
}

int session_run(struct session *ses, const struct session_spec *spec, enum session_end *end,
		struct errmsg *err)
{
	if (run(ses, spec, end))
		return errmsg_set(err, "cannot wait for events: %s", strerror(errno));
	signals_over();
	return 0;
}

void session_say_ended(const char *name, pid_t pid)
{
	fprintf(stderr, "%s: process %d has ended\n", name, pid);
}

void session_say_stopped(const char *name, const struct process *proc)
{
	pid_t pid = process_id(proc);

	if (process_is_stopped(proc))
		fprintf(stderr,
			"%s: process %d is stopped, and does nothing\n"
			"hint: kill -CONT %d lets it go on\n",
			name, pid, pid);
	else if (process_is_frozen(proc, "/proc"))
		fprintf(stderr,
			"%s: process %d is frozen, as in a paused container, and does nothing\n"
			"hint: docker unpause, or what has frozen its cgroup, lets it go on\n",
			name, pid);
}

static bool is_among(char *const patterns[], size_t count, const char *pattern)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(patterns[i], pattern))
			return true;
	return false;
}

void session_print_start(FILE *out, size_t functions, char *const patterns[], size_t count)
{
	size_t room = PATTERNS_TEXT, more = 0;

	fprintf(out, "Tracing %zu functions for \"", functions);
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(patterns[i]) + 1;

		if (is_among(patterns, i, patterns[i])) /* of gotrace: with another predicate */
			continue;
		if (i && (more || len > room)) {
			more++;
			continue;
		}
		room -= len < room ? len : room;
		fputs(i ? " " : "", out);
		escape_print(out, patterns[i]);
	}
	fputc('"', out);
	if (more)
		fprintf(out, " and %zu more pattern%s", more, more == 1 ? "" : "s");
	fputs("... Hit Ctrl-C to end.\n", out);
	fflush(out);
}

int session_flush(struct errmsg *err)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return errmsg_set(err, "cannot write the output: %s", strerror(errno));
}
