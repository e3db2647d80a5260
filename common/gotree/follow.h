/* SPDX-License-Identifier: Apache-2.0 */
/* Trees of the goroutines that are started below a call of ROOT, or receive what is sent there: the
 * kernel side keeps them until that call has ended and they are read. See
 * bpf-src/parts/follow.bpf.c. */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

struct calltree;
struct errmsg;
struct follow;
struct processes;
struct tracer;
struct tree_head;

struct follow *follow_new(void);
void follow_free(struct follow *follow); /* NULL is all right */
/* Through channels, too. */
void follow_channels(struct follow *follow);
bool follow_has_channels(const struct follow *follow);

/* What the runtime is asked for, beside the selection's functions: for the tracer's `plan`. 0; -1
 * with *err. */
int follow_plan(struct follow *follow, struct tracer *tracer, struct errmsg *err);
/* When probes are attached. */
int follow_begin(struct follow *follow, const struct tracer *tracer, struct errmsg *err);

/* Adds to ROOT's tree what was started below it, as it was when ROOT's call ended, or now if that
 * goes on. Valid until the next call. Waits some milliseconds where goroutines are about to end.
 * They are deleted from the kernel side if ROOT's call has ended. */
void follow_gather(struct follow *follow, struct calltree *tree);
/* Deletes what was started below a call of ROOT that is not shown. */
void follow_forget(struct follow *follow, const struct tree_head *head);
/* Deletes what is left of goroutines that went on, and of calls whose events were lost: to be
 * called some times a second. */
void follow_sweep(struct follow *follow);
/* ... and of processes that are gone. */
void follow_sweep_gone(const struct follow *follow, const struct processes *gone);

#endif
