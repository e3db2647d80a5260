/* SPDX-License-Identifier: Apache-2.0 */
/* A process of the tool's own, for work that may never come to its end, or may use up what one
 * process may take: the kernel may wait for ever, where even SIGKILL does not reach, for a page of
 * a file of FUSE that another process has mapped. The tool goes on without it. What it prints comes
 * through the tool, so that nobody who reads the tool's output waits for it either. */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>
#include <stddef.h>

struct errmsg;
struct worker;

struct worker_task { /* in the worker */
	/* Answers a request of `len` bytes with `reply_len` bytes, which are 0 before. */
	void (*serve)(void *ctx, const void *request, size_t len, void *reply);
	void (*end)(void *ctx); /* nothing more will be asked; NULL: nothing is to be done */
	void *ctx;
	size_t reply_len;
};

/* Forks; the task may be anywhere. NULL and *err. */
struct worker *worker_new(const struct worker_task *task, struct errmsg *err);
/* Waits for the reply, and passes on what the worker prints. -1: the worker has ended, or was given
 * up, because it has been waiting in the kernel for seconds, and is asked nothing more; *err says
 * it of what it reads. After a signal (see signals_came()) it is given up as soon as it waits. */
int worker_ask(struct worker *worker, const void *request, size_t len, void *reply,
	       struct errmsg *err);
/* Lets it end, or ends it. False: it had ended otherwise than at will. NULL is all right: true. */
bool worker_free(struct worker *worker);

#endif
