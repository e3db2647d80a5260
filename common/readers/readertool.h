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
	const struct options_tool *tool;         /* its `take` calls readertool_take() */
	bool each_interval;                      /* without -i, once a second */
	bool all_by_default;                     /* none given: all that run */
	const struct profile_spec *profile_spec; /* asked for with --pprof */
	/* Looks at one and prints, in a process of its own, where *ctx is a copy. `first`: nothing
	 * was printed before, by any. `profile`: stacks are added; NULL: to none. -1 with *err. */
	int (*look)(void *ctx, const struct goprocesses_one *one, bool first,
		    struct profile *profile, uint64_t *count, struct errmsg *err);
	void (*end)(void *ctx); /* there: frees what was kept; NULL: nothing was */
	/* before all are looked at; NULL: nothing is to be done, but under -T the time */
	void (*begin)(void *ctx, bool first);
	void *ctx;

	struct options opts;
	struct pattern **patterns; /* what stands beside PIDs */
	size_t pattern_count;
	struct goprocesses procs;
	/* its own: */
	struct goprocesses_wanted wanted;
	pid_t *pids;
	size_t pid_cap, pattern_cap;
	uint64_t shown; /* by all that there was until now */
	bool has_failed, has_printed;
	bool *gone;
	uint64_t looked_ns;
	struct pprof pprof;
	int profile_fd; /* through which profiles come; 0: none */
};

/* Options that all of these have: -p, -n, --all, and --core of those that take it. */
#define READERTOOL_DEFS                                                                            \
	{'p', "pid", "PID", "the process to read; it is not stopped"},                             \
		{'n', "name", "NAME", "the Go programs that run and whose name contains NAME"},    \
	{                                                                                          \
		READERTOOL_ALL, "all", NULL, "all Go programs that run"                            \
	}
#define READERTOOL_CORE_DEF                                                                        \
	{                                                                                          \
		READERTOOL_CORE, "core", "FILE",                                                   \
			"read this core file, which the program BINARY has left"                   \
	}
enum { READERTOOL_ALL = 512, READERTOOL_CORE };

/* Takes one of these; -1 with *err refuses it. */
int readertool_take(struct readertool *rt, int letter, const char *value, struct errmsg *err);
/* After options_parse(): PIDs, patterns, and whether they go together. 0; -1 with *err. */
int readertool_check(struct readertool *rt, struct errmsg *err);
/* Returns the exit status. */
int readertool_run(struct readertool *rt);

#endif
