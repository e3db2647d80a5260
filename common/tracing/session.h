/* SPDX-License-Identifier: Apache-2.0 */
/* The time from the beginning of tracing to its end: intervals, signals, and the traced process. */
#ifndef SESSION_H
#define SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct errmsg;
struct process;
struct session;

enum session_end {
	SESSION_SIGNAL, /* SIGINT, SIGTERM or SIGHUP */
	SESSION_DURATION,
	SESSION_PROCESS,     /* the traced process has ended */
	SESSION_ENOUGH,      /* `event` or `stream` said so */
	SESSION_OUTPUT_GONE, /* nobody reads stdout any more */
};

struct session_spec {
	uint64_t interval_ns, duration_ns; /* 0: none */
	int process_fd;                    /* a pidfd; -1: none */
	int event_fd;                      /* readable when there are events; -1: none */
	void (*tick)(void *ctx);           /* each interval, but for one that the end falls on */
	bool (*event)(void *ctx);          /* event_fd is readable; false: enough */
	uint64_t stream_ns;                /* `stream` is called so often; 0: there is none */
	int stream_fd;                     /* ... and when this is readable; -1: not */
	bool (*stream)(void *ctx);         /* false: enough */
	void *ctx;
};

/* From here on, signals wait for session_run() (see signals_hold()), so that none is lost between
 * the line that says that tracing has begun and the run. Makes stdout line-buffered, and SIGPIPE
 * deadly again. NULL and *err on failure. */
struct session *session_new(struct errmsg *err);
/* Waits for the end, and returns which it was. Afterwards one more signal ends the tool at once.
 * -1 and *err on failure. */
int session_run(struct session *ses, const struct session_spec *spec, enum session_end *end,
		struct errmsg *err);
void session_free(struct session *ses);
/* SESSION_PROCESS: says so on stderr */
void session_say_ended(const char *name, pid_t pid);
/* Before tracing, if the process does nothing now: nobody would know why there is nothing to see.
 */
void session_say_stopped(const char *name, const struct process *proc);

/* Was everything printed to stdout written? -1 with *err if not, for instance because the disk is
 * full. */
int session_flush(struct errmsg *err);

/* Does this process have the privileges to trace? -1 with *err and a remedy if not. Call this
 * first. */
int session_check_privileges(struct errmsg *err);
/* May it see the files and the memory of all processes? */
bool session_sees_all(void);

#endif
