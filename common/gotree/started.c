// SPDX-License-Identifier: Apache-2.0
#include "gotree/started_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "golang/funcname.h"
#include "gotree/calltree.h"
#include "program/functab.h"

struct child {
	struct tree_head head;
	struct tree_call *calls;
};

struct started {
	struct child *children;
	size_t child_count, child_cap;
	struct calltree_goroutine *goroutines;
	size_t goroutine_count, goroutine_cap;
	struct tree_call *root_calls;
};

struct started *started_new(void)
{
	return mem_zalloc(1, sizeof(struct started));
}

void started_clear(struct started *started)
{
	for (size_t i = 0; i < started->child_count; i++)
		free(started->children[i].calls);
	for (size_t i = 0; i < started->goroutine_count; i++)
		free((struct tree_call *)started->goroutines[i].tree.calls);
	free(started->root_calls);
	started->root_calls = NULL;
	started->child_count = started->goroutine_count = 0;
}

void started_free(struct started *started)
{
	if (!started)
		return;
	started_clear(started);
	free(started->children);
	free(started->goroutines);
	free(started);
}

static struct tree_call *copy_calls(const struct tree_call *calls, uint32_t count)
{
	struct tree_call *copy = mem_zalloc(count, sizeof(*copy));

	memcpy(copy, calls, count * sizeof(*copy));
	return copy;
}

void started_add(struct started *started, const struct tree *tree)
{
	started->children = mem_grow(started->children, started->child_count, &started->child_cap,
				     sizeof(*started->children));
	started->children[started->child_count++] = (struct child){
		.head = tree->head, .calls = copy_calls(tree->calls, tree->head.count)};
}

size_t started_count(const struct started *started)
{
	return started->child_count;
}

const struct tree_head *started_head(const struct started *started, size_t n)
{
	return &started->children[n].head;
}

bool started_running(const struct started *started)
{
	for (size_t i = 0; i < started->child_count; i++)
		if (!started->children[i].head.end_ns)
			return true;
	return false;
}

/* --- joined --- */

/* How the call stood when ROOT's ended. */
static void cut_off(struct tree_call *call, const struct started_of *of)
{
	uint64_t end_ns = call->start_ns + call->latency_ns;

	if (call->how != TREE_RUNNING && end_ns <= of->end_ns + of->grace_ns)
		return;
	call->how = TREE_RUNNING;
	call->latency_ns = of->end_ns - call->start_ns;
}

static const char *name_of(const struct tree_call *call, const struct started_of *of)
{
	struct functab_func fn;

	return functab_find(of->tab, tree_started_func(call) + of->probe, &fn) ? fn.name : "?";
}

/* The goroutine's tree; where there is none: it was not followed. */
static struct calltree tree_of(const struct started *started, const struct tree_call *call,
			       const struct calltree *starter)
{
	uint64_t goid = tree_started_goid(call);
	struct calltree tree = {.head = starter->head, .sel = starter->sel};
	struct tree_call none = {.row = TREE_NO_ROW,
				 .start_ns = call->start_ns,
				 .parent = TREE_NONE,
				 .how = TREE_STARTED};

	for (size_t i = 0; i < started->child_count; i++) {
		const struct child *child = &started->children[i];

		if (child->head.who.id != goid)
			continue;
		tree.head = child->head;
		tree.calls = copy_calls(child->calls, child->head.count);
		return tree;
	}
	tree.head.by = starter->head.who.id;
	tree.head.who.id = goid;
	tree.head.count = 1;
	tree.head.cut = 0;
	tree.head.cut_started = 0;
	tree.calls = copy_calls(&none, 1);
	return tree;
}

static void add_goroutine(struct started *started, const struct calltree *starter, size_t number,
			  uint32_t caller, const struct tree_call *call,
			  const struct started_of *of)
{
	const char *func = name_of(call, of);

	if (funcname_begins_system(func))
		return;
	started->goroutines = mem_grow(started->goroutines, started->goroutine_count,
				       &started->goroutine_cap, sizeof(*started->goroutines));
	started->goroutines[started->goroutine_count++] =
		(struct calltree_goroutine){.tree = tree_of(started, call, starter),
					    .func = func,
					    .starter = number,
					    .caller = caller};
}

/* Takes the starts of goroutines out of these calls of goroutine `number`, 0: ROOT's, and what came
 * after ROOT's call. */
static void take_apart(struct started *started, struct calltree *tree, struct tree_call *calls,
		       size_t number, const struct started_of *of)
{
	uint32_t *places = mem_zalloc(tree->head.count, sizeof(*places)), kept = 0;

	for (uint32_t i = 0; i < tree->head.count; i++) {
		struct tree_call call = calls[i];
		uint32_t caller = i ? places[call.parent] : TREE_NONE;

		/* the kernel side writes the time last */
		if (i && (!call.start_ns || call.start_ns > of->end_ns))
			break;
		places[i] = caller;
		if (i && call.how == TREE_STARTED) {
			add_goroutine(started, tree, number, caller, &call, of);
			continue;
		}
		if (number && call.how != TREE_STARTED)
			cut_off(&call, of);
		call.parent = caller;
		places[i] = kept;
		calls[kept++] = call;
	}
	tree->head.count = kept;
	free(places);
}

void started_join(struct started *started, struct calltree *root, const struct started_of *of)
{
	started->root_calls = copy_calls(root->calls, root->head.count);
	root->calls = started->root_calls;
	take_apart(started, root, started->root_calls, 0, of);
	for (size_t i = 0; i < started->goroutine_count; i++) {
		struct calltree tree = started->goroutines[i].tree;

		take_apart(started, &tree, (struct tree_call *)tree.calls, i + 1, of);
		started->goroutines[i].tree.head.count = tree.head.count;
	}
	root->goroutines = started->goroutines;
	root->goroutine_count = started->goroutine_count;
}
