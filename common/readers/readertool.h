/* SPDX-License-Identifier: Apache-2.0 */
/* A tool that reads the memory of Go programs: which of them by the command line, each by a process
 * of the tool's own, once or at each interval. */
#ifndef READERTOOL_H
#define READERTOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "gostacks/goprocesses.h"
#include "profile/pprof.h"
#include "tracing/options.h"

struct pattern;
struct profile;
struct profile_spec;

struct readertool {
	const struct options_tool *tool; /* its `take` calls readertool_take() */
	bool each_interval;              /* without -i, once a second */
	bool all_by_default;             /* none given: all that run */
	bool pids_only, not_of_funcs;    /* no PATTERN; PATTERNs are not of functions' names */
	const char *stays_by;            /* an option that implies -i; NULL: none */
	const struct profile_spec *profile_spec; /* asked for with --pprof */
	/* Looks at one and prints, in a process of its own, where *ctx is a copy. `first`: nothing
	 * was printed before, by any. `profile`: stacks are added; NULL: to none. -1 with *err. */
	int (*look)(void *ctx, const struct goprocesses_one *one, bool first,
		    struct profile *profile, uint64_t *count, struct errmsg *err);
	void (*end)(void *ctx); /* there: frees what was kept; NULL: nothing was */
	/* before all are looked at; NULL: nothing is to be done, but under -T the time */
	void (*begin)(void *ctx, bool first);
	/* With -i, before one is looked at: shall it be now? Called once with `runs` false, when it
	 * has ended. NULL: each is looked at. */
	bool (*due)(void *ctx, const struct goprocesses_one *one, bool runs);
	/* when the command line is read: 0; -1 with *err refuses it; NULL: nothing is to be done */
	int (*ready)(void *ctx, struct errmsg *err);
	/* A single look at all of them has shown nothing: is that a failure? NULL: it is none. */
	int (*nothing)(void *ctx, struct errmsg *err);
	const struct readmetrics_source *metrics; /* published with --metrics; NULL: nothing is */
	void *ctx;

	struct options opts;
	struct pattern **patterns; /* what stands beside PIDs */
	size_t pattern_count;
	struct goprocesses procs;
	struct goprocesses_wanted wanted; /* by the command line */
	/* its own: */
	pid_t *pids;
	size_t pid_cap, pattern_cap;
	uint64_t shown; /* by all that there was until now */
	/* patterns_checked: there, in the process that looks */
	bool has_failed, has_printed, patterns_checked, *gone;
	uint64_t looked_ns;
	struct pprof pprof;
	int profile_fd; /* through which profiles come; 0: none */
};

/* Options that all of these have: -p, -n, --all; -i and -d of those that go on without -i; and
 * --core of those that take it. */
#define READERTOOL_DEFS                                                                            \
	{'p', "pid", "PID", "the process to read; it is not stopped"},                             \
		{'n', "name", "NAME", "the Go programs that run and whose name contains NAME"},    \
	{                                                                                          \
		READERTOOL_ALL, "all", NULL, "all Go programs that run"                            \
	}
#define READERTOOL_WATCH_DEFS                                                                      \
	{'i', "interval", "INTERVAL", "time between looks, in seconds, or as 500ms (default 1)"},  \
	{                                                                                          \
		'd', "duration", "DURATION", "end after so long, in seconds, or as 1h30m"          \
	}
#define READERTOOL_CORE_DEF                                                                        \
	{                                                                                          \
		READERTOOL_CORE, "core", "FILE",                                                   \
			"read this core file, which the program BINARY has left"                   \
	}
enum { READERTOOL_ALL = 512, READERTOOL_CORE };

/* Takes one of these; -1 with *err refuses it. */
int readertool_take(struct readertool *rt, int letter, const char *value, struct errmsg *err);
/* The command line. False: there is nothing more to do, but to return *status. */
bool readertool_parse(struct readertool *rt, int argc, char **argv, int *status);
/* The command line, and all that is wanted. Returns the exit status. */
int readertool_main(struct readertool *rt, int argc, char **argv);

#endif
