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
	for (size_t i = 0; i < started->child_count; i++) {
		const struct tree_head *head = &started->children[i].head;

		/* who has received a value goes on in any case: do calls of it? */
		if (!head->end_ns && (!head->given || head->last))
			return true;
	}
	return false;
}

/* --- joined --- */

/* How the call stood when ROOT's ended, or before that what began with a value, at given_ns; 0: it
 * has not. */
static void cut_off(struct tree_call *call, uint64_t given_ns, const struct started_of *of)
{
	uint64_t end_ns = of->end_ns;

	if (call->how != TREE_RUNNING &&
	    call->start_ns + call->latency_ns <= of->end_ns + of->grace_ns)
		return;
	if (given_ns && given_ns < end_ns)
		end_ns = given_ns;
	call->how = TREE_RUNNING;
	call->latency_ns = end_ns - call->start_ns;
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

		if (child->head.who.id != goid || child->head.given)
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

static void add_goroutine(struct started *started, const struct calltree_goroutine *goroutine)
{
	started->goroutines = mem_grow(started->goroutines, started->goroutine_count,
				       &started->goroutine_cap, sizeof(*started->goroutines));
	started->goroutines[started->goroutine_count++] = *goroutine;
}

static void add_started(struct started *started, const struct calltree *starter, size_t number,
			uint32_t caller, const struct tree_call *call, const struct started_of *of)
{
	const char *func = name_of(call, of);

	if (funcname_begins_system(func))
		return;
	add_goroutine(started, &(struct calltree_goroutine){.tree = tree_of(started, call, starter),
							    .func = func,
							    .starter = number,
							    .caller = caller});
}

/* Adds what began with values that this tree's goroutine, `number`, has sent. What begins later
 * than ROOT's call ends is none of it. */
static void add_given(struct started *started, const struct calltree *sender, size_t number,
		      const uint32_t *places, const struct started_of *of)
{
	uint64_t id = number ? tree_id(&sender->head) : sender->head.who.id;

	for (size_t i = 0; i < started->child_count; i++) {
		const struct child *child = &started->children[i];
		const struct tree_head *head = &child->head;

		if (!head->given || head->from != id || head->count < 2 ||
		    child->calls[1].start_ns > of->end_ns)
			continue;
		add_goroutine(started,
			      &(struct calltree_goroutine){
				      .tree = {.head = *head,
					       .sel = sender->sel,
					       .calls = copy_calls(child->calls, head->count)},
				      .starter = number,
				      .caller = head->call < sender->head.count ? places[head->call]
										: 0});
	}
}

/* What began with a value took until its last call ended: whoever waits for the next value does
 * nothing for this one. */
static void end_given(struct tree_call *calls, uint32_t count)
{
	struct tree_call *all = &calls[0];

	all->latency_ns = 0;
	all->how = TREE_RETURNED;
	for (uint32_t i = 1; i < count; i++) {
		uint64_t took_ns = calls[i].start_ns + calls[i].latency_ns - all->start_ns;

		if (took_ns > all->latency_ns)
			all->latency_ns = took_ns;
		if (calls[i].how == TREE_RUNNING)
			all->how = TREE_RUNNING;
	}
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
			add_started(started, tree, number, caller, &call, of);
			continue;
		}
		if (number && call.how != TREE_STARTED)
			cut_off(&call, tree->head.given ? tree->head.end_ns : 0, of);
		call.parent = caller;
		places[i] = kept;
		calls[kept++] = call;
	}
	add_given(started, tree, number, places, of);
	tree->head.count = kept;
	if (tree->head.given)
		end_given(calls, kept);
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
