/* SPDX-License-Identifier: Apache-2.0 */
/* A running Go program, or one that has left a core file, opened to read its goroutines. */
#ifndef GOPROCESS_H
#define GOPROCESS_H

#include "frames/frames.h"
#include "goroutines/snapshot.h"

struct corefile;
struct errmsg;
struct goprocess;
struct memory;
struct process;
struct process_stop;
struct program;
struct wait_objects;

const struct frames *goprocess_frames(const struct goprocess *gp);
const struct program *goprocess_program(const struct goprocess *gp);
const struct memory *goprocess_memory(const struct goprocess *gp);
/* Is what was read of its memory that of the program it was opened for? 0; -1 with *err: it has
 * ended, or executes another one. */
int goprocess_check(const struct goprocess *gp, struct errmsg *err);
int goprocess_release(const struct goprocess *gp); /* N of Go 1.N; -1: not known */
struct goprocess_wanted {                          /* beside states and stacks */
	bool args;                                 /* what is in arguments */
	bool waits;                                /* what is waited for */
	bool labels;                               /* goroutines' labels */
	const struct process_stop *stop;           /* which holds the process; NULL: it runs on */
};

/* 0; -1 with *err: among others, it has ended or executes another program meanwhile. */
int goprocess_snapshot(struct goprocess *gp, const struct goprocess_wanted *wanted,
		       struct snapshot *out, struct errmsg *err);
/* Is a goroutine of the last snapshot where it was? */
bool goprocess_is_still(const struct goprocess *gp, const struct goroutine *g);

#endif
