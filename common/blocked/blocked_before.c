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
#include "golang/release.h"
#include "goroutines/goroutine_frames.h"
#include "kernel/bpfmap.h"
#include "program/program.h"
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
	bool label_maps;                /* labels are in maps, which only the kernel side reads */
	int parked, stacks, label_sets; /* maps; the last -1: labels are not asked for */
	uint64_t probe;                 /* where it is in the file */
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

static void put_text(struct wait_labels *set, const char *text, size_t len)
{
	len = len < PROFILE_LABEL_TEXT ? len : PROFILE_LABEL_TEXT;
	memcpy(&set->words[set->sample.count], text, len);
	set->sample.count += (len + 7) / 8;
}

/* As the kernel side has them. */
static void read_labels(const struct snapshot *snap, const struct goroutine *g,
			struct wait_labels *set)
{
	uint64_t at = g->labels;
	struct snapshot_label label;
	bool cut = false;

	while (snapshot_labels_next(&snap->labels, &at, &label, &cut)) {
		cut = set->sample.labels == PROFILE_LABELS;
		if (cut)
			break;
		set->words[set->sample.count++] = label.key_len | (uint64_t)label.value_len << 32;
		put_text(set, label.key, label.key_len);
		put_text(set, label.value, label.value_len);
		set->sample.labels++;
	}
	set->sample.labels_cut = cut;
	set->sample.label_words = set->sample.count;
}

/* Their number; 0: it has none. */
static uint64_t keep_labels(const struct blocked_before *before, const struct snapshot *snap,
			    const struct goroutine *g)
{
	struct wait_labels set = {0};
	uint64_t hash;

	if (before->label_sets < 0)
		return 0;
	if (before->label_maps)
		return WAIT_LABELS_LOST;
	read_labels(snap, g, &set);
	if (!set.sample.labels && !set.sample.labels_cut)
		return 0;
	hash = index_hash(1, set.sample.labels_cut);
	for (size_t i = 0; i < set.sample.count; i++)
		hash = index_hash(hash, set.words[i]);
	hash += !hash;
	return bpfmap_update(before->label_sets, &hash, &set) ? WAIT_LABELS_LOST : hash;
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
	wait.labels = keep_labels(before, snap, g);
	if (bpfmap_update(before->parked, &g->addr, &wait))
		before->noted.lost++;
	else if (!goprocess_is_still(one->gp, g))
		bpfmap_delete(before->parked, &g->addr);
}

/* In a process of its own. */
static int look(void *ctx, const struct goprocesses_one *one, int what, const void *more,
		size_t len, uint64_t *count, struct errmsg *err)
{
	struct blocked_before *before = ctx;
	const struct goprocess_wanted wanted = {.labels = before->label_sets >= 0};
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
		.label_sets = blocked->label_sets,
		.label_maps = tracer_program(blocked->tracer, 0)->release < RELEASE_LABEL_SETS,
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
