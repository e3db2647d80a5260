// SPDX-License-Identifier: Apache-2.0
#include "gostacks/leaks.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "frames/frames.h"
#include "goroutines/goroutine_frames.h"
#include "goroutines/snapshot.h"
#include "program/functab.h"

enum { GROWN_MIN = 2 };

struct seen { /* a goroutine, at one look */
	uint64_t goid, since;
	uint32_t leak;
};

struct leaks {
	struct leak *all;
	struct index index;
	size_t count, cap;
	struct seen *seen; /* at the last look, by goid */
	size_t seen_count;
	size_t looks;
	uint64_t looked_ns; /* when, the last time */
};

struct leaks *leaks_new(void)
{
	return mem_zalloc(1, sizeof(struct leaks));
}

void leaks_free(struct leaks *leaks)
{
	if (!leaks)
		return;
	index_free(&leaks->index);
	free(leaks->all);
	free(leaks->seen);
	free(leaks);
}

/* SIZE_MAX: there are too many */
static size_t find(struct leaks *leaks, uint64_t created_by, uint64_t now)
{
	uint64_t hash = index_hash(0, created_by);
	size_t n = index_first(&leaks->index, hash);

	while (n != INDEX_NONE && leaks->all[n].created_by != created_by)
		n = index_next(&leaks->index, n);
	if (n != INDEX_NONE)
		return n;
	if (leaks->count >= LEAKS_MAX)
		return SIZE_MAX;
	n = index_add(&leaks->index, hash);
	leaks->all = mem_grow(leaks->all, leaks->count, &leaks->cap, sizeof(*leaks->all));
	leaks->all[leaks->count++] = (struct leak){
		.created_by = created_by, .first_ns = leaks->looks ? leaks->looked_ns : now};
	return n;
}

static bool is_wanted(const struct snapshot *snap, const struct frames *frames,
		      const struct goroutine *g)
{
	size_t count;
	const uint64_t *stack = snapshot_stack(snap, g->stack, &count);

	return g->goid != 1 && !goroutine_is_system(g, frames, stack, count);
}

/* --- one look --- */

static struct seen *list(struct leaks *leaks, const struct snapshot *snap,
			 const struct frames *frames, size_t *count, size_t *left_out)
{
	struct seen *seen = mem_alloc((snap->count + 1) * sizeof(*seen));

	*count = *left_out = 0;
	for (size_t i = 0; i < snap->count; i++) {
		const struct goroutine *g = &snap->all[i];

		if (!is_wanted(snap, frames, g))
			continue;
		size_t n = find(leaks, g->created_by, snap->when_ns);

		if (n == SIZE_MAX) {
			++*left_out;
			continue;
		}
		leaks->all[n].live++;
		leaks->all[n].of = g;
		seen[(*count)++] = (struct seen){g->goid, snap->when_ns, n};
	}
	return seen;
}

static void begin(struct leaks *leaks, size_t *lived)
{
	for (size_t i = 0; i < leaks->count; i++) {
		struct leak *leak = &leaks->all[i];

		lived[i] = leak->live;
		leak->live = leak->born = leak->ended = 0;
		leak->of = NULL;
		leak->oldest_ns = 0;
	}
}

/* Both lists are in order. */
static void compare(struct leaks *leaks, struct seen *now, size_t count)
{
	const struct seen *before = leaks->seen, *end = before + leaks->seen_count;

	for (size_t i = 0; i < count; i++) {
		for (; before < end && before->goid < now[i].goid; before++)
			leaks->all[before->leak].ended++;
		if (before < end && before->goid == now[i].goid)
			now[i].since = before++->since;
		else if (leaks->looks)
			leaks->all[now[i].leak].born++;
	}
	for (; before < end; before++)
		leaks->all[before->leak].ended++;
}

/* The first goroutine is created by no go statement, and those of the runtime are its own. */
static bool is_counted(const struct frames *frames, const struct leak_births *births)
{
	const struct goroutine g = {.start = births->start};
	struct functab_func fn;

	if (!births->created_by || goroutine_is_system(&g, frames, NULL, 0))
		return false;
	return !g.start || !functab_find(frames->tab, g.start - frames->bias, &fn) ||
	       strcmp(fn.name, "runtime.main") != 0;
}

/* In place of what compare() has found; but where it is not known who has created them. Returns how
 * many are left out. */
static size_t take_births(struct leaks *leaks, const struct frames *frames, uint64_t now,
			  const struct leak_births *births, size_t count)
{
	size_t left_out = 0;

	for (size_t i = 0; i < leaks->count; i++)
		if (leaks->all[i].created_by)
			leaks->all[i].born = leaks->all[i].ended = 0;
	for (size_t i = 0; leaks->looks && i < count; i++) {
		if (!is_counted(frames, &births[i]))
			continue;
		size_t n = find(leaks, births[i].created_by, now);

		if (n == SIZE_MAX) {
			left_out += births[i].born;
			continue;
		}
		leaks->all[n].born += births[i].born;
		leaks->all[n].ended += births[i].ended;
	}
	return left_out;
}

static void finish(struct leaks *leaks, const size_t *lived, size_t known)
{
	for (size_t i = 0; i < leaks->count; i++) {
		struct leak *leak = &leaks->all[i];

		leak->all_ended += leak->ended;
		if (i < known && leak->live < lived[i])
			leak->has_shrunk = true;
		leak->grown += leaks->looks && leak->live > (i < known ? lived[i] : 0);
		if (!leak->looks++)
			leak->first_live = leaks->looks ? 0 : leak->live;
	}
}

/* --- what they do --- */

static unsigned state_number(const struct goroutine *g)
{
	return g->status == GOROUTINE_WAITING ? GOROUTINE_DEADEXTRA + 1 + g->reason : g->status;
}

struct in_state {
	uint32_t leak;
	uint16_t state;
	const struct goroutine *g;
};

static int by_leak(const void *a, const void *b)
{
	const struct in_state *x = a, *y = b;

	if (x->leak != y->leak)
		return x->leak < y->leak ? -1 : 1;
	return (int)x->state - (int)y->state;
}

static void note_states(struct leaks *leaks, const struct snapshot *snap, struct in_state *states,
			size_t count)
{
	if (count)
		qsort(states, count, sizeof(*states), by_leak);
	for (size_t i = 0; i < leaks->count; i++)
		leaks->all[i].goroutines_state = 0;
	for (size_t from = 0, to; from < count; from = to) {
		struct leak *leak = &leaks->all[states[from].leak];

		for (to = from; to < count && !by_leak(&states[from], &states[to]);)
			to++;
		if (to - from <= leak->goroutines_state)
			continue;
		leak->goroutines_state = to - from;
		leak->state = snapshot_state(snap, states[from].g);
	}
}

static void note_each(struct leaks *leaks, const struct snapshot *snap, const struct seen *seen,
		      size_t count)
{
	struct in_state *states = mem_alloc((count + 1) * sizeof(*states));
	const struct goroutine *g = snap->all;
	uint64_t waits;

	for (size_t i = 0; i < count; i++, g++) {
		struct leak *leak = &leaks->all[seen[i].leak];
		uint64_t age = snap->when_ns - seen[i].since;

		while (g->goid != seen[i].goid)
			g++;
		if (snapshot_since(snap, g, &waits) && waits > age)
			age = waits;
		if (age > leak->oldest_ns)
			leak->oldest_ns = age;
		states[i] = (struct in_state){seen[i].leak, state_number(g), g};
	}
	note_states(leaks, snap, states, count);
	free(states);
}

size_t leaks_look(struct leaks *leaks, const struct snapshot *snap, const struct frames *frames,
		  const struct leak_births *births, size_t birth_count)
{
	size_t *lived = mem_alloc((leaks->count + 1) * sizeof(*lived));
	size_t known = leaks->count, count, left_out;

	begin(leaks, lived);
	struct seen *seen = list(leaks, snap, frames, &count, &left_out);

	compare(leaks, seen, count);
	if (births)
		left_out += take_births(leaks, frames, snap->when_ns, births, birth_count);
	finish(leaks, lived, known);
	note_each(leaks, snap, seen, count);
	leaks->looks++;
	leaks->looked_ns = snap->when_ns;
	free(lived);
	free(leaks->seen);
	leaks->seen = seen;
	leaks->seen_count = count;
	return left_out;
}

/* --- results --- */

static int64_t growth(const struct leak *leak)
{
	return (int64_t)leak->live - (int64_t)leak->first_live;
}

static int most_first(const void *a, const void *b)
{
	const struct leak *x = a, *y = b;

	if (growth(x) != growth(y))
		return growth(x) < growth(y) ? 1 : -1;
	if (x->live != y->live)
		return x->live < y->live ? 1 : -1;
	return (x->created_by > y->created_by) - (x->created_by < y->created_by);
}

struct leak *leaks_all(const struct leaks *leaks, size_t *count)
{
	struct leak *all = mem_alloc((leaks->count + 1) * sizeof(*all));

	*count = 0;
	for (size_t i = 0; i < leaks->count; i++)
		if (leaks->all[i].live || leaks->all[i].born || leaks->all[i].ended)
			all[(*count)++] = leaks->all[i];
	if (*count)
		qsort(all, *count, sizeof(*all), most_first);
	return all;
}

bool leak_only_grows(const struct leak *leak)
{
	return !leak->has_shrunk && leak->grown >= GROWN_MIN && leak->grown * 2 >= leak->looks - 1;
}

int64_t leak_a_minute(int64_t count, uint64_t ns)
{
	double minutes = (double)ns / 60e9;

	return (int64_t)((double)count / minutes + (count < 0 ? -0.5 : 0.5));
}
