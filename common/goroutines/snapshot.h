/* SPDX-License-Identifier: Apache-2.0 */
/* The goroutines of a program that runs on: what is read of each counts only if it has not moved
 * meanwhile. */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "goroutines/goroutine.h"
#include "goroutines/runtime_vars.h"
#include "goroutines/snapshot_args.h"
#include "goroutines/snapshot_labels.h"
#include "goroutines/wait.h"
#include "sites/goruntime.h"

struct errmsg;
struct frame_rule;
struct memory;
struct process_registers;
struct snapshot_stacks;

struct snapshot_source {
	const struct memory *mem;
	const struct goruntime *rt;
	uint64_t allgs; /* address in memory */
	struct frame_rule (*rule)(void *ctx, uint64_t pc);
	void *rule_ctx;
	/* The process does not run on: where its threads are, by the runtime's numbers of them.
	 * NULL: it does. */
	bool (*registers)(const void *ctx, pid_t tid, struct process_registers *out);
	const void *registers_ctx;
	bool timeless;     /* it has ended, nobody knows when */
	uint64_t until_ns; /* of CLOCK_MONOTONIC: what is not read by then is left out; 0: ever */
	bool with_args;    /* keep what is in the arguments of each frame */
	/* where struct g has the byte that changes whenever the goroutine leaves off running, its
	 * bubble (testing/synctest), and labels; 0: not known, or not to be read */
	uint32_t g_tracking_seq, g_bubble, g_labels;
	/* called when it is known how many there are; NULL: not */
	void (*listed)(void *ctx, size_t count);
	void *listed_ctx;
	const struct wait_layout *waits; /* look at what goroutines wait for; NULL: do not */
};

struct snapshot {
	struct goroutine *all; /* by goid; none that are dead or only being made */
	size_t count, cap;
	size_t unread, left_out; /* entries of allgs that are no goroutines; more than are read */
	bool gave_up;     /* stacks have too many different return addresses: some are unknown */
	uint64_t when_ns; /* CLOCK_MONOTONIC */
	bool timeless;    /* when_ns is the latest time noted in it: it may have been later */
	char *reasons[WAIT_REASONS];
	struct snapshot_stacks *stacks;
	struct snapshot_args args;
	struct snapshot_labels labels;
	struct waits waits;
};

enum { SNAPSHOT_MAX = 1 << 21 }; /* goroutines */

/* 0; -1 with *err if the list of goroutines cannot be read. Caller frees. */
int snapshot_take(const struct snapshot_source *from, struct snapshot *out, struct errmsg *err);
/* Is a goroutine of a snapshot where it was? By `mem`, be it the source's own or not. */
bool snapshot_is_still(const struct snapshot_source *from, const struct memory *mem,
		       const struct goroutine *g);
void snapshot_free(struct snapshot *snap); /* what it points to */
/* The goroutine of this number; NULL: there is none in the snapshot. */
const struct goroutine *snapshot_find(const struct snapshot *snap, uint64_t goid);

/* The frames of stack number `stack`, innermost first. Equal stacks have equal numbers. */
const uint64_t *snapshot_stack(const struct snapshot *snap, uint32_t stack, size_t *count);
size_t snapshot_stack_count(const struct snapshot *snap);
/* What was where frame `number` has its arguments; NULL: not read. */
const uint8_t *snapshot_args(const struct snapshot *snap, const struct goroutine *g, size_t number,
			     size_t *len);
/* "chan receive", "runnable": as Go's tracebacks name it */
const char *snapshot_state(const struct snapshot *snap, const struct goroutine *g);
/* Does it wait to send to a single channel, or to receive from one? */
bool snapshot_is_at_channel(const struct snapshot *snap, const struct goroutine *g);
/* Since when it waits, in ns; false: not noted. */
bool snapshot_since(const struct snapshot *snap, const struct goroutine *g, uint64_t *ns);

#endif
