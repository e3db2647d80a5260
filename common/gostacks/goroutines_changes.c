// SPDX-License-Identifier: Apache-2.0
#include "gostacks/goroutines_changes_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/json.h"
#include "base/mem.h"
#include "gostacks/goroutines_print_internal.h"
#include "gostacks/groups_internal.h"

struct side { /* one of the two snapshots */
	const struct goroutines_view *view;
	struct group *groups;
	size_t count;
};

struct change {
	const struct side *side; /* the later one that has it */
	const struct group *group;
	size_t before, now;
};

static struct side make_side(const struct goroutines_view *view)
{
	struct side side = {.view = view};

	if (view)
		side.groups = groups_make(view->snap, view->picked, &side.count);
	return side;
}

/* --- the same in both --- */

/* By what it is, since snapshots number stacks each in its own way. */
static uint64_t hash_of(const struct side *side, const struct group *group)
{
	const struct goroutine *g = group->first;
	size_t count;
	const uint64_t *stack = snapshot_stack(side->view->snap, g->stack, &count);
	uint64_t hash =
		index_hash(g->created_by,
			   (uint64_t)g->status << 16 | (uint64_t)g->reason << 8 | g->stack_state);

	for (size_t i = 0; i < count; i++)
		hash = index_hash(hash, stack[i]);
	return hash;
}

static bool is_same(const struct side *a, const struct group *ag, const struct side *b,
		    const struct group *bg)
{
	const struct goroutine *x = ag->first, *y = bg->first;
	size_t count, other;
	const uint64_t *stack = snapshot_stack(a->view->snap, x->stack, &count);
	const uint64_t *others = snapshot_stack(b->view->snap, y->stack, &other);

	return x->created_by == y->created_by && x->status == y->status && x->reason == y->reason &&
	       x->stack_state == y->stack_state && count == other &&
	       (!count || !memcmp(stack, others, count * sizeof(*stack)));
}

static void add_before(const struct side *before, struct change *changes, size_t now_count,
		       size_t *count, const struct index *index)
{
	for (size_t i = 0; i < before->count; i++) {
		const struct group *group = &before->groups[i];
		size_t n = index_first(index, hash_of(before, group));

		while (n != INDEX_NONE &&
		       !is_same(before, group, changes[n].side, changes[n].group))
			n = index_next(index, n);
		if (n != INDEX_NONE && n < now_count)
			changes[n].before = group->count;
		else
			changes[(*count)++] = (struct change){
				.side = before, .group = group, .before = group->count};
	}
}

static int64_t change_of(const struct change *change)
{
	return (int64_t)change->now - (int64_t)change->before;
}

static int most_first(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int64_t m = change_of(x), n = change_of(y);

	if (m != n)
		return m < n ? 1 : -1;
	return (x->group->first->goid > y->group->first->goid) -
	       (x->group->first->goid < y->group->first->goid);
}

/* Those that differ, in order. The caller frees. */
static struct change *find(const struct side *before, const struct side *now, size_t *count)
{
	struct change *changes = mem_alloc((before->count + now->count + 1) * sizeof(*changes));
	struct index index = {0};
	size_t all = 0;

	for (size_t i = 0; i < now->count; i++) {
		const struct group *group = &now->groups[i];

		index_add(&index, hash_of(now, group));
		changes[all++] = (struct change){.side = now, .group = group, .now = group->count};
	}
	add_before(before, changes, now->count, &all, &index);
	index_free(&index);
	*count = 0;
	for (size_t i = 0; i < all; i++)
		if (change_of(&changes[i]))
			changes[(*count)++] = changes[i];
	if (*count)
		qsort(changes, *count, sizeof(*changes), most_first);
	return changes;
}

/* --- print --- */

void goroutines_print_changes(FILE *out, const struct goroutines_view *before,
			      const struct goroutines_view *now)
{
	struct side sides[2] = {make_side(before), make_side(now)};
	size_t count;
	struct change *changes = find(&sides[0], &sides[1], &count);

	if (count)
		fputs("COUNT   CHANGE   STATE\n", out);
	for (size_t i = 0; i < count; i++) {
		const struct change *change = &changes[i];

		fprintf(out, "%6zu %+7" PRId64 "   ", change->now, change_of(change));
		goroutines_print_state(out, change->side->view, change->group);
		goroutines_print_where(out, change->side->view, change->group->first);
	}
	free(changes);
	free(sides[0].groups);
	free(sides[1].groups);
}

static void json_change(struct json *json, const struct change *change,
			void (*time)(struct json *json))
{
	const struct goroutines_view *view = change->side->view;

	json_object(json);
	json_member_string(json, "type", "change");
	if (time)
		time(json);
	json_member_i64(json, "pid", view->pid);
	json_member_u64(json, "count", change->now);
	json_member_i64(json, "change", change_of(change));
	json_member_string(json, "state", snapshot_state(view->snap, change->group->first));
	goroutines_json_where(json, view, change->group->first, false);
	json_object_end(json);
}

void goroutines_json_changes(FILE *out, const struct goroutines_view *before,
			     const struct goroutines_view *now, void (*time)(struct json *json))
{
	struct side sides[2] = {make_side(before), make_side(now)};
	size_t count;
	struct change *changes = find(&sides[0], &sides[1], &count);
	struct json json;

	json_init(&json, out);
	for (size_t i = 0; i < count; i++)
		json_change(&json, &changes[i], time);
	free(changes);
	free(sides[0].groups);
	free(sides[1].groups);
}
