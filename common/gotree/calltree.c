// SPDX-License-Identifier: Apache-2.0
#include "gotree/calltree_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "selection/selection.h"

/* Trees that lack pieces at a time: those of other goroutines come in between. A tree of which a
 * piece was lost is there until its place is needed. */
enum { PENDING_MAX = 256 };

struct pending {
	struct tree *tree; /* NULL: the place is free */
	uint32_t have;     /* calls */
};

struct calltree_pieces {
	struct pending pending[PENDING_MAX];
	size_t oldest;
	struct tree *whole;
	struct calltree tree;
};

const char *calltree_func(const struct calltree *tree, const struct tree_call *call)
{
	return call->row < tree->sel->row_count ? tree->sel->rows[call->row].name : "?";
}

const char *calltree_how(const struct tree_call *call)
{
	static const char *const names[TREE_HOWS] = {
		[TREE_RUNNING] = "running",    [TREE_RETURNED] = "return",
		[TREE_PANICKED] = "panic",     [TREE_EXITED] = "exit",
		[TREE_JUMPED] = "jump",        [TREE_UNSEEN] = "unseen",
		[TREE_STARTED] = "unfollowed",
	};

	return names[call->how < TREE_HOWS ? call->how : TREE_UNSEEN];
}

uint32_t *calltree_depths(const struct calltree *tree)
{
	uint32_t *depths = mem_zalloc(tree->head.count, sizeof(*depths));

	for (uint32_t i = 1; i < tree->head.count; i++)
		depths[i] = depths[tree->calls[i].parent] + 1;
	return depths;
}

void calltree_running(struct tree *tree, uint64_t end_ns)
{
	for (uint32_t i = 0; i < tree->head.count && i < TREE_CALLS; i++) {
		struct tree_call *call = &tree->calls[i];

		if (call->how == TREE_RUNNING && end_ns > call->start_ns)
			call->latency_ns = end_ns - call->start_ns;
	}
}

struct calltree_pieces *calltree_pieces_new(const struct selection *sel)
{
	struct calltree_pieces *pieces = mem_zalloc(1, sizeof(*pieces));

	pieces->tree.sel = sel;
	return pieces;
}

void calltree_pieces_free(struct calltree_pieces *pieces)
{
	if (!pieces)
		return;
	for (size_t i = 0; i < PENDING_MAX; i++)
		free(pieces->pending[i].tree);
	free(pieces->whole);
	free(pieces);
}

static bool same_goroutine(const struct goroutine_key *a, const struct goroutine_key *b)
{
	return a->id == b->id && a->process.tgid == b->process.tgid &&
	       a->process.start_ns == b->process.start_ns && a->process.exec == b->process.exec;
}

static struct pending *find_pending(struct calltree_pieces *pieces, const struct goroutine_key *who)
{
	for (size_t i = 0; i < PENDING_MAX; i++) {
		const struct tree *tree = pieces->pending[i].tree;

		if (tree && same_goroutine(&tree->head.who, who))
			return &pieces->pending[i];
	}
	return NULL;
}

/* A place for a tree that begins: a free one, or that of the tree which began first. */
static struct pending *new_pending(struct calltree_pieces *pieces)
{
	struct pending *place = NULL;

	for (size_t i = 0; i < PENDING_MAX && !place; i++)
		if (!pieces->pending[i].tree)
			place = &pieces->pending[i];
	if (!place) {
		place = &pieces->pending[pieces->oldest];
		pieces->oldest = (pieces->oldest + 1) % PENDING_MAX;
	}
	if (!place->tree)
		place->tree = mem_alloc(sizeof(*place->tree));
	place->have = 0;
	return place;
}

bool calltree_is_whole(const struct tree *tree)
{
	if (!tree->head.count || tree->head.count > TREE_CALLS ||
	    tree->calls[0].parent != TREE_NONE)
		return false;
	for (uint32_t i = 1; i < tree->head.count; i++)
		if (tree->calls[i].parent >= i)
			return false;
	return true;
}

const struct calltree *calltree_pieces_whole(struct calltree_pieces *pieces,
					     const struct tree *tree)
{
	if (!calltree_is_whole(tree))
		return NULL;
	pieces->tree.head = tree->head;
	pieces->tree.calls = tree->calls;
	return &pieces->tree;
}

const struct calltree *calltree_pieces_add(struct calltree_pieces *pieces,
					   const struct tree_event *event)
{
	struct pending *place = find_pending(pieces, &event->head.who);
	uint32_t count = event->head.count;

	if (count > TREE_CALLS || event->first >= count)
		return NULL;
	if (!event->first && !place)
		place = new_pending(pieces);
	if (!place)
		return NULL;
	if (!event->first) {
		place->tree->head = event->head;
		place->have = 0;
	}
	if (event->first != place->have || count != place->tree->head.count)
		return NULL;
	uint32_t more = count - place->have < TREE_PIECE ? count - place->have : TREE_PIECE;

	memcpy(&place->tree->calls[place->have], event->calls, more * sizeof(*event->calls));
	place->have += more;
	if (place->have < count)
		return NULL;
	free(pieces->whole);
	pieces->whole = place->tree;
	place->tree = NULL;
	return calltree_pieces_whole(pieces, pieces->whole);
}
