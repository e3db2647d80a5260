/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of what a call of ROOT has called, put together from the kernel side's events. */
#ifndef CALLTREE_H
#define CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/tree.h"

struct calltree_pieces;
struct selection;

struct calltree_goroutine;

struct calltree { /* `calls` has head.count entries, the first is ROOT's; callers stand before what
		     they call */
	struct tree_head head;
	const struct tree_call *calls;
	const struct selection *sel; /* what rows are */
	/* Of ROOT's tree alone: what was started below ROOT, or received what was sent there, by
	 * goroutines that stand before it; followed: it was asked for. */
	bool followed;
	const struct calltree_goroutine *goroutines;
	size_t goroutine_count;
};

struct calltree_goroutine {
	/* The first call is the goroutine itself; TREE_STARTED: it was not followed. goid is
	 * head.who.id, its starter's head.by. */
	struct calltree tree;
	/* that it begins with; NULL: it was there, and received a value that its `starter` sent */
	const char *func;
	size_t starter;  /* 0: ROOT's goroutine; else 1 + index */
	uint32_t caller; /* index of the starter's call that it was started in */
};

/* Takes a tree that the kernel side still has: its calls go on at end_ns, CLOCK_MONOTONIC. */
void calltree_running(struct tree *tree, uint64_t end_ns);

/* Trees of which some pieces have come. */
struct calltree_pieces *calltree_pieces_new(const struct selection *sel);
void calltree_pieces_free(struct calltree_pieces *pieces); /* NULL is all right */
/* The tree that this piece is the last one of, until the next call; NULL: others are missing, or
 * it does not fit to those before. */
const struct calltree *calltree_pieces_add(struct calltree_pieces *pieces,
					   const struct tree_event *event);
/* The same of a tree that the kernel side still has; NULL: it is none. */
const struct calltree *calltree_pieces_whole(struct calltree_pieces *pieces,
					     const struct tree *tree);

#endif
