// SPDX-License-Identifier: Apache-2.0
/* Waits that had begun before tracing did: read from the process's memory, and put into the kernel
 * side's maps, as if they began when waits began to be seen. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/index.h"
#include "base/mem.h"
#include "blocked/blocked_internal.h"
#include "blocked/stacks.h"
#include "bpf-src/shared/stack.h"
#include "frames/frames.h"
#include "gostacks/goprocesses.h"
#include "goroutines/goroutine_frames.h"
#include "kernel/bpfmap.h"
#include "selection/selection.h"
#include "tracing/options.h"
#include "tracing/tracer.h"

struct noted {
	uint64_t lost, unread; /* there was no room; what are no goroutines, or too many */
};

struct blocked_before {
	struct goprocesses_wanted wanted;
	struct goprocesses_work work;
	struct goprocesses procs; /* one, or none */
	const char *tool;
	int parked, stacks; /* maps */
	uint64_t probe;     /* where it is in the file */
	uint32_t pid;
	struct noted noted;
	struct errmsg err;
};

/* Its number; 0: there is no room. */
static uint64_t keep_stack(const struct blocked_before *before, const uint64_t *addrs, size_t count)
{
	struct stack stack = {.count = count < STACK_FRAMES ? count : STACK_FRAMES};
	uint64_t hash = 0;

	for (size_t i = 0; i < stack.count; i++) {
		stack.frames[i] = addrs[i];
		hash = index_hash(hash, addrs[i]);
	}
	hash += !hash;
	return bpfmap_update(before->stacks, &hash, &stack) ? 0 : hash;
}

/* One that has gone on meanwhile is none: what follows of it was seen. */
static void note(struct blocked_before *before, const struct goprocesses_one *one,
		 const struct snapshot *snap, const struct goroutine *g, uint64_t since_ns)
{
	const struct frames *frames = goprocess_frames(one->gp);
	size_t count;
	const uint64_t *addrs = snapshot_stack(snap, g->stack, &count);
	struct wait_begun wait = {.start_ns = since_ns,
				  .probe = before->probe + frames->bias,
				  .pid = before->pid,
				  .reason = g->reason};

	if (g->status != GOROUTINE_WAITING || goroutine_is_system(g, frames, addrs, count))
		return;
	if (g->stack_state == STACK_READ || g->stack_state == STACK_CUT)
		wait.stack = keep_stack(before, addrs, count);
	if (bpfmap_update(before->parked, &g->addr, &wait))
		before->noted.lost++;
	else if (!goprocess_is_still(one->gp, g))
		bpfmap_delete(before->parked, &g->addr);
}

/* In a process of its own. */
static int look(void *ctx, const struct goprocesses_one *one, int what, const void *more,
		size_t len, uint64_t *count, struct errmsg *err)
{
	const struct goprocess_wanted wanted = {0};
	struct blocked_before *before = ctx;
	uint64_t since_ns;
	struct snapshot snap;

	(void)what;
	(void)len;
	memcpy(&since_ns, more, sizeof(since_ns));
	if (goprocess_snapshot(one->gp, &wanted, &snap, err))
		return -1;
	before->noted.unread = snap.unread + snap.left_out;
	for (size_t i = 0; i < snap.count; i++)
		note(before, one, &snap, &snap.all[i], since_ns);
	*count = snap.count;
	snapshot_free(&snap);
	return 0;
}

static void fail(void *ctx, const struct errmsg *err)
{
	*(struct errmsg *)ctx = *err;
}

static void say(const struct blocked_before *before)
{
	const struct noted *noted = &before->noted;

	if (before->err.text[0]) {
		fprintf(stderr, "%s: goroutines that waited already are left out: ", before->tool);
		escape_print(stderr, before->err.text);
		fputc('\n', stderr);
	}
	if (noted->lost)
		fprintf(stderr,
			"%s: %" PRIu64 " goroutines that waited already are left out: more of them "
			"than there is room for\n",
			before->tool, noted->lost);
	if (noted->unread)
		fprintf(stderr, "%s: %" PRIu64 " goroutines could not be read when it began\n",
			before->tool, noted->unread);
}

struct blocked_before *blocked_before_new(const struct blocked *blocked)
{
	struct blocked_before *before = mem_zalloc(1, sizeof(*before));

	*before = (struct blocked_before){
		.wanted = {.pids = &blocked->opts->pid, .pid_count = 1},
		.work = {.look = look,
			 .ctx = before,
			 .result = &before->noted,
			 .result_len = sizeof(before->noted)},
		.tool = blocked->tool->name,
		.parked = blocked->parked,
		.stacks = tracer_map(blocked->tracer, "stacks"),
		.probe = tracer_selection(blocked->tracer)->items[0].sites.entry.addr,
		.pid = (uint32_t)blocked->opts->pid};
	goprocesses_open(&before->wanted, &before->work, &before->procs, fail, &before->err,
			 &before->err);
	return before;
}

void blocked_before_note(struct blocked_before *before, uint64_t since_ns)
{
	uint64_t count;

	if (before->procs.count)
		goprocesses_look(&before->procs, 0, 0, &since_ns, sizeof(since_ns), &count,
				 &before->err);
	say(before);
}

void blocked_before_free(struct blocked_before *before)
{
	goprocesses_close(&before->procs);
	free(before);
}
