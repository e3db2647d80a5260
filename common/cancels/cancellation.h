/* SPDX-License-Identifier: Apache-2.0 */
/* What an event of bpf-src/gocancels.bpf.c tells of a context that was cancelled: whose doing it
 * was, by the stack that called context.(*cancelCtx).cancel (Go's src/context/context.go). */
#ifndef CANCELLATION_H
#define CANCELLATION_H

#include <stdbool.h>
#include <stdint.h>

#include "frames/frames.h"

struct alloc_types;
struct cancel_event;
struct stacks;

enum cancellation_how {
	CANCELLATION_CALL,     /* of its CancelFunc */
	CANCELLATION_DEADLINE, /* it has passed */
	CANCELLATION_PARENT,   /* is cancelled, and does not cancel children by itself; or was so
				  before the child was there */
	CANCELLATION_STOP,     /* none: what context.AfterFunc returned was called */
};

struct cancellation {
	const struct cancel_event *event;
	uint64_t bias; /* load bias of its process */
	enum cancellation_how how;
	/* Who called, and who created the context: the first function outside of package context.
	 * func NULL: there is none, or it is not known. */
	struct frame by, creator;
	bool waited; /* somebody waited for it, or for a child, but package context itself */
};

/* `event` lives as long as *out; `cancel` is the address of cancel()'s probe in the file. */
void cancellation_read(const struct cancel_event *event, uint64_t cancel,
		       const struct stacks *stacks, struct alloc_types *types,
		       struct cancellation *out);

#endif
