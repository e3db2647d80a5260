/* SPDX-License-Identifier: Apache-2.0 */
/* A running Go program, opened to read its goroutines. */
#ifndef GOPROCESS_H
#define GOPROCESS_H

#include "goroutines/frames.h"
#include "goroutines/snapshot.h"

struct errmsg;
struct goprocess;
struct process;
struct program;

/* `prog`, what the process executes, becomes its own. NULL and *err: one of gccgo or for another
 * machine, not permitted, ended... `proc` outlives it; the caller closes. */
struct goprocess *goprocess_open(const struct process *proc, struct program *prog,
				 struct errmsg *err);
void goprocess_close(struct goprocess *gp); /* NULL is all right */

const struct frames *goprocess_frames(const struct goprocess *gp);
int goprocess_release(const struct goprocess *gp); /* N of Go 1.N; -1: not known */
/* `with_args`: as struct snapshot_source's. 0; -1 with *err: among others, it has ended or executes
 * another program meanwhile. */
int goprocess_snapshot(struct goprocess *gp, bool with_args, struct snapshot *out,
		       struct errmsg *err);

#endif
