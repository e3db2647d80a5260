/* SPDX-License-Identifier: Apache-2.0 */
/* A running Go program, or one that has left a core file, opened to read its goroutines. */
#ifndef GOPROCESS_H
#define GOPROCESS_H

#include "goroutines/frames.h"
#include "goroutines/snapshot.h"

struct corefile;
struct errmsg;
struct goprocess;
struct process;
struct process_stop;
struct program;
struct wait_objects;

/* `prog`, what the process executes, becomes its own. NULL and *err: one of gccgo or for another
 * machine, not permitted, ended... `proc` outlives it; the caller closes. */
struct goprocess *goprocess_open(const struct process *proc, struct program *prog,
				 struct errmsg *err);
/* The same of a core file, which becomes its own: one of another program is refused. */
struct goprocess *goprocess_open_core(struct corefile *file, struct program *prog,
				      struct errmsg *err);
/* Does the core file tell that it is one of this program? */
bool goprocess_core_is_told(const struct goprocess *gp);
/* of struct wait_context; ctx: the process */
int goprocess_core_call(void *ctx, pid_t tid);
void goprocess_close(struct goprocess *gp); /* NULL is all right */

const struct frames *goprocess_frames(const struct goprocess *gp);
int goprocess_release(const struct goprocess *gp); /* N of Go 1.N; -1: not known */
struct goprocess_wanted {                          /* beside states and stacks */
	bool args;                                 /* what is in arguments */
	bool waits;                                /* what is waited for */
	const struct process_stop *stop;           /* which holds the process; NULL: it runs on */
};

/* 0; -1 with *err: among others, it has ended or executes another program meanwhile. */
int goprocess_snapshot(struct goprocess *gp, const struct goprocess_wanted *wanted,
		       struct snapshot *out, struct errmsg *err);
/* Of a snapshot with waits; NULL: it has none, or this release's are not known. Caller frees. */
struct wait_objects *goprocess_waits(struct goprocess *gp, struct snapshot *snap);
/* The name of the type with its descriptor at `addr` in memory; NULL: not known. ctx: the process.
 */
const char *goprocess_type(void *ctx, uint64_t addr);

#endif
