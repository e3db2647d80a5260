/* SPDX-License-Identifier: Apache-2.0 */
/* The Go programs that a tool looks at: those that run, by ID, by name, or all of them; or one that
 * has left a core file. */
#ifndef GOPROCESSES_H
#define GOPROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "gostacks/goprocess.h"

struct goprocesses_wanted {
	const char *core, *binary; /* a core file, and the program; NULL: one that runs */
	const pid_t *pids;
	size_t pid_count;
	const char *name; /* part of the command's name or the file's; NULL: of any */
	bool all;         /* whose name is so, without a PID */
};

struct goprocesses_one {
	pid_t pid;
	struct process *proc;  /* NULL: of a core file */
	struct worker *worker; /* that reads it, where it has what follows */
	struct goprocess *gp;
	char *name;   /* of its file */
	bool several; /* there are others */
};

/* What is done with each of them, each in a process of its own: one that lies, or whose memory
 * never comes, takes the time of no other. What is kept from one look to the next stays there. */
struct goprocesses_work {
	/* Looks at it and prints. `what` and `more` are those of goprocesses_look(), which has
	 * *count. 0; -1 with *err. */
	int (*look)(void *ctx, const struct goprocesses_one *one, int what, const void *more,
		    size_t len, uint64_t *count, struct errmsg *err);
	void (*end)(void *ctx); /* frees what was kept; NULL: nothing was */
	void *ctx;
	/* Where `look` leaves what it has found, if it does not print. In the tool, what the last
	 * look has found is there. NULL: nowhere. */
	void *result;
	size_t result_len;
};

struct goprocesses {
	struct goprocesses_one *all;
	size_t count, cap;
	size_t refused;    /* of all that there are, those that could not be looked at */
	struct errmsg why; /* ... the first of them */
	/* of a core file: bytes that it should have, and of these that are missing; it does not
	 * tell which program it is of */
	uint64_t core_size, core_missing;
	bool core_untold;
	/* its own: */
	void *result;
	size_t result_len;
	struct goprocesses_other *others; /* that are none of these, by PID */
	size_t other_count;
};

/* Opens what there is. Calls `failed` for each PID given that is none of a Go program, or may not
 * be read. -1 with *err: no process has this name; the core file is of no use. Caller closes. */
int goprocesses_open(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		     struct goprocesses *out, void (*failed)(void *ctx, const struct errmsg *err),
		     void *ctx, struct errmsg *err);
/* -1 with *err: the work has failed, or was given up, as nothing is to be had of this process. */
int goprocesses_look(struct goprocesses *procs, size_t i, int what, const void *more, size_t len,
		     uint64_t *count, struct errmsg *err);
/* Opens those of `wanted` that have come since; all, or those with a name. Looks at no process
 * twice that is none, unless it executes another file. */
void goprocesses_more(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		      struct goprocesses *procs);
/* This one is not looked at any more; the last one takes its place. */
void goprocesses_drop(struct goprocesses *procs, size_t i);
/* What it points to. False: one of those that did the work has not ended as it should. */
bool goprocesses_close(struct goprocesses *procs);

#endif
