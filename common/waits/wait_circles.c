// SPDX-License-Identifier: Apache-2.0
#include "waits/wait_circles_internal.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "goroutines/snapshot.h"
#include "waits/wait_holders_internal.h"
#include "waits/wait_targets_internal.h"

enum { GUESSES_MAX = 8 }; /* who may hold a lock, if nothing tells any of them apart */

struct tally {                      /* of who may release a target */
	uint32_t all, in;           /* of these, who cannot go on */
	uint32_t strong, strong_in; /* who will do it, as their code tells */
	uint32_t out;               /* who can go on, and may do it */
};

struct circles {
	const struct wait_holders_source *source;
	const struct wait_candidates *candidates;
	struct tally *tallies; /* of each target */
	bool *stuck;           /* each goroutine */
	uint32_t *waiters;     /* goroutines by target */
	size_t *waiter_first;
	uint32_t *roles; /* candidates by goroutine */
	size_t *role_first;
	uint32_t *part; /* of the graph that each goroutine is in: everybody there waits for
			 * everybody */
};

/* --- lists by number --- */

/* counts[n + 1] has how many there are of n: to where each list begins */
static void to_begins(size_t *counts, size_t count)
{
	for (size_t i = 1; i <= count; i++)
		counts[i] += counts[i - 1];
}

static void list_waiters(struct circles *c)
{
	const struct wait_holders_source *source = c->source;
	size_t *first = mem_zalloc(source->targets->count + 2, sizeof(*first));

	c->waiters = mem_alloc((source->snap->count + 1) * sizeof(*c->waiters));
	for (size_t i = 0; i < source->snap->count; i++)
		if (source->targets->of[i] != WAIT_NO_TARGET)
			first[source->targets->of[i] + 2]++;
	to_begins(first, source->targets->count + 1);
	for (size_t i = 0; i < source->snap->count; i++)
		if (source->targets->of[i] != WAIT_NO_TARGET)
			c->waiters[first[source->targets->of[i] + 1]++] = i;
	c->waiter_first = first;
}

static void list_roles(struct circles *c)
{
	const struct wait_candidates *all = c->candidates;
	size_t *first = mem_zalloc(c->source->snap->count + 2, sizeof(*first));

	c->roles = mem_alloc((all->count + 1) * sizeof(*c->roles));
	for (size_t i = 0; i < all->count; i++)
		first[all->all[i].goroutine + 2]++;
	to_begins(first, c->source->snap->count + 1);
	for (size_t i = 0; i < all->count; i++)
		c->roles[first[all->all[i].goroutine + 1]++] = i;
	c->role_first = first;
}

/* --- who cannot go on --- */

/* A Mutex has one holder. An RWMutex may have several readers, each of which is waited for, as all
 * of a WaitGroup's are; but a channel is served by whoever comes first. */
static bool is_stuck(const struct circles *c, uint32_t target)
{
	const struct tally *tally = &c->tallies[target];

	switch (c->source->targets->all[target].kind) {
	case WAIT_MUTEX:
		if (tally->strong)
			return tally->strong_in == tally->strong;
		break;
	case WAIT_RWMUTEX:
		if (tally->strong)
			return tally->strong_in;
		break;
	case WAIT_WAITGROUP:
		return tally->strong_in;
	default:
		return tally->strong_in && !tally->out;
	}
	return tally->in && !tally->out && tally->all <= GUESSES_MAX;
}

static void count(struct circles *c)
{
	const struct wait_holders_source *source = c->source;

	for (size_t i = 0; i < c->candidates->count; i++) {
		const struct wait_candidate *one = &c->candidates->all[i];
		struct tally *tally = &c->tallies[one->target];
		bool in = c->stuck[one->goroutine], strong = one->how != CANDIDATE_POINTS;

		tally->all++;
		tally->in += in;
		tally->strong += strong;
		tally->strong_in += strong && in;
		/* who only keeps the pointer while it sleeps is most often who made the lock */
		tally->out +=
			!in && (strong || !wait_holders_sleeps(source->snap,
							       &source->snap->all[one->goroutine]));
	}
}

/* One can go on: what it may release is looked at again. */
static void leave(struct circles *c, uint32_t goroutine, uint32_t *left, size_t *left_count)
{
	c->stuck[goroutine] = false;
	for (size_t i = c->role_first[goroutine]; i < c->role_first[goroutine + 1]; i++) {
		const struct wait_candidate *one = &c->candidates->all[c->roles[i]];
		struct tally *tally = &c->tallies[one->target];
		bool was = is_stuck(c, one->target);

		tally->in--;
		tally->strong_in -= one->how != CANDIDATE_POINTS;
		tally->out++;
		if (was && !is_stuck(c, one->target))
			left[(*left_count)++] = one->target;
	}
}

static void find_stuck(struct circles *c)
{
	const struct wait_holders_source *source = c->source;
	uint32_t *left = mem_alloc((source->targets->count + 1) * sizeof(*left)); /* targets */
	size_t left_count = 0;

	for (size_t i = 0; i < source->snap->count; i++)
		c->stuck[i] = source->targets->of[i] != WAIT_NO_TARGET;
	count(c);
	for (size_t i = 0; i < source->targets->count; i++)
		if (!is_stuck(c, i))
			left[left_count++] = i;
	while (left_count) {
		uint32_t target = left[--left_count];

		for (size_t i = c->waiter_first[target]; i < c->waiter_first[target + 1]; i++)
			if (c->stuck[c->waiters[i]])
				leave(c, c->waiters[i], left, &left_count);
	}
	free(left);
}

/* --- circles --- */

/* Of who may release a target: is it waited for, if others will do it for certain? */
static bool follows(const struct circles *c, const struct wait_candidate *one)
{
	return c->stuck[one->goroutine] &&
	       (one->how != CANDIDATE_POINTS || !c->tallies[one->target].strong);
}

struct visit { /* Tarjan's algorithm, "Depth-first search and linear graph algorithms", 1972 */
	uint32_t goroutine;
	size_t at; /* candidate */
};

struct visiting {
	struct circles *c;
	uint32_t *order, *low; /* 0: not come to yet */
	uint32_t *open;        /* goroutines of no part yet */
	struct visit *path;
	size_t open_count, path_count;
	uint32_t next_order, next_part;
};

static void come_to(struct visiting *v, uint32_t goroutine)
{
	v->order[goroutine] = v->low[goroutine] = ++v->next_order;
	v->open[v->open_count++] = goroutine;
	v->path[v->path_count++] = (struct visit){
		goroutine, v->c->candidates->first[v->c->source->targets->of[goroutine]]};
}

static void go_back(struct visiting *v)
{
	uint32_t goroutine = v->path[--v->path_count].goroutine, last;

	if (v->path_count && v->low[goroutine] < v->low[v->path[v->path_count - 1].goroutine])
		v->low[v->path[v->path_count - 1].goroutine] = v->low[goroutine];
	if (v->low[goroutine] != v->order[goroutine])
		return;
	v->next_part++;
	do {
		last = v->open[--v->open_count];
		v->c->part[last] = v->next_part;
	} while (last != goroutine);
}

static void visit_from(struct visiting *v, uint32_t root)
{
	const struct wait_candidates *all = v->c->candidates;

	come_to(v, root);
	while (v->path_count) {
		struct visit *here = &v->path[v->path_count - 1];
		uint32_t from = here->goroutine;

		if (here->at == all->first[v->c->source->targets->of[from] + 1]) {
			go_back(v);
			continue;
		}
		const struct wait_candidate *one = &all->all[here->at++];

		if (!follows(v->c, one))
			continue;
		if (!v->order[one->goroutine])
			come_to(v, one->goroutine);
		else if (!v->c->part[one->goroutine] && v->order[one->goroutine] < v->low[from])
			v->low[from] = v->order[one->goroutine];
	}
}

static void find_parts(struct circles *c)
{
	size_t count = c->source->snap->count;
	struct visiting v = {.c = c,
			     .order = mem_zalloc(count + 1, sizeof(*v.order)),
			     .low = mem_zalloc(count + 1, sizeof(*v.low)),
			     .open = mem_alloc((count + 1) * sizeof(*v.open)),
			     .path = mem_alloc((count + 1) * sizeof(*v.path))};

	for (size_t i = 0; i < count; i++)
		if (c->stuck[i] && !v.order[i])
			visit_from(&v, i);
	free(v.order);
	free(v.low);
	free(v.open);
	free(v.path);
}

/* Whom it waits for, the likeliest of those who wait for it. */
static struct wait_circle_step step_of(const struct circles *c, uint32_t goroutine)
{
	const struct wait_candidates *all = c->candidates;
	uint32_t target = c->source->targets->of[goroutine];
	const struct tally *tally = &c->tallies[target];
	uint8_t kind = c->source->targets->all[target].kind;
	bool alone = kind == WAIT_MUTEX     ? tally->strong == 1
		     : kind == WAIT_CHANNEL ? tally->strong == tally->all
					    : tally->strong;

	for (size_t i = all->first[target]; i < all->first[target + 1]; i++) {
		const struct wait_candidate *one = &all->all[i];

		if (follows(c, one) && c->part[one->goroutine] == c->part[goroutine])
			return (struct wait_circle_step){one->goroutine, alone || tally->all == 1
										 ? CIRCLE_SURE
										 : CIRCLE_PERHAPS};
	}
	return (struct wait_circle_step){WAIT_NOBODY, CIRCLE_SURE};
}

/* Leaves those out that only wait for somebody in a circle. */
static void keep_circles(size_t count, struct wait_circle_step *steps)
{
	uint32_t *seen = mem_zalloc(count + 1, sizeof(*seen)); /* by which walk */
	bool *keeps = mem_zalloc(count + 1, sizeof(*keeps));

	for (size_t i = 0; i < count; i++) {
		uint32_t at = i;

		while (at != WAIT_NOBODY && !seen[at]) {
			seen[at] = i + 1;
			at = steps[at].next;
		}
		for (; at != WAIT_NOBODY && seen[at] == i + 1 && !keeps[at]; at = steps[at].next)
			keeps[at] = true;
	}
	for (size_t i = 0; i < count; i++)
		if (!keeps[i])
			steps[i].next = WAIT_NOBODY;
	free(seen);
	free(keeps);
}

void wait_circles_find(const struct wait_holders_source *source,
		       const struct wait_candidates *candidates, struct wait_circle_step *steps)
{
	size_t count = source->snap->count;
	struct circles c = {
		.source = source,
		.candidates = candidates,
		.tallies = mem_zalloc(source->targets->count + 1, sizeof(*c.tallies)),
		.stuck = mem_zalloc(count + 1, sizeof(*c.stuck)),
		.part = mem_zalloc(count + 1, sizeof(*c.part)),
	};

	list_waiters(&c);
	list_roles(&c);
	find_stuck(&c);
	find_parts(&c);
	for (size_t i = 0; i < count; i++)
		steps[i] = c.stuck[i] ? step_of(&c, i)
				      : (struct wait_circle_step){WAIT_NOBODY, CIRCLE_SURE};
	keep_circles(count, steps);
	free(c.tallies);
	free(c.stuck);
	free(c.part);
	free(c.waiters);
	free(c.waiter_first);
	free(c.roles);
	free(c.role_first);
}
