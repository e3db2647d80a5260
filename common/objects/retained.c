// SPDX-License-Identifier: Apache-2.0
#include "objects/retained_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "golang/pattern.h"
#include "goroutines/memory.h"
#include "objects/object_step_internal.h"
#include "objects/object_walk_internal.h"
#include "objects/objects_still_internal.h"
#include "objects/spans_internal.h"
#include "objects/variable_names_internal.h"
#include "program/program.h"

enum {
	CHUNK = 512,     /* words */
	TYPES_NAMED = 4, /* that may be meant */
};

struct search {
	struct object_walk *walk;
	struct retained *out;
	bool *kinds;       /* which are sought, by number */
	uint64_t one;      /* likewise, the number of a slot; UINT64_MAX: none */
	uint32_t *reached; /* by the slot's number: that of its chain, and 1; 0: not reached */
	/* addresses of slots. First of those that are reached without what is sought, and of what
	 * is sought; these are gone on from when all the others are known. */
	uint64_t *queue, *sought;
	size_t head, count, sought_count;
	bool beyond; /* that is what is done */
};

static bool is_sought(const struct search *search, const struct spans_slot *slot)
{
	if (search->one != UINT64_MAX)
		return slot->number == search->one;
	return search->kinds[search->walk->kind_of[slot->number]];
}

static struct retained_object describe(const struct search *search, const struct spans_slot *slot)
{
	uint16_t kind = search->walk->kind_of[slot->number];

	if (kind != OBJECT_UNKNOWN)
		return (struct retained_object){.kind = kind};
	return (struct retained_object){.kind = kind,
					.pointers = !slot->span->noscan,
					.size = slot->span->large ? 0 : slot->span->elem};
}

static struct retained_chain *chain_of(const struct search *search, uint32_t number)
{
	struct retained *out = search->out;

	return number == RETAINED_NONE ? &out->others : &out->chains.all[number];
}

static void count_sought(const struct search *search, uint32_t chain, const struct spans_slot *slot)
{
	struct retained_chain *at = chain_of(search, chain);

	if (!at->objects++)
		at->example = slot->begin;
	at->bytes += slot->span->elem;
}

/* --- before what is sought --- */

static void reach(struct search *search, uint32_t from, uint64_t step,
		  const struct spans_slot *slot)
{
	bool sought = is_sought(search, slot);
	struct retained_object object = describe(search, slot);
	uint32_t chain = retained_chains_next(&search->out->chains, from, step, &object, sought);

	search->reached[slot->number] = chain + 1;
	if (!sought) {
		search->queue[search->count++] = slot->begin;
		return;
	}
	search->sought[search->sought_count++] = slot->begin;
	count_sought(search, chain, slot);
}

static void reach_from_root(void *ctx, const struct retained_root *root, uint64_t to)
{
	struct search *search = ctx;
	struct spans_slot slot;

	if (spans_slot(search->walk->spans, to, &slot) && !search->reached[slot.number])
		reach(search, retained_chains_root(&search->out->chains, root), 0, &slot);
}

/* --- beyond it --- */

/* What was not reached without it is kept by it. */
static void keep(struct search *search, uint32_t chain, const struct spans_slot *slot)
{
	search->reached[slot->number] = chain + 1;
	search->queue[search->count++] = slot->begin;
	if (is_sought(search, slot))
		count_sought(search, chain, slot);
}

static void count_kept(const struct search *search, uint32_t chain, const struct spans_slot *slot)
{
	struct retained_chain *at = chain_of(search, chain);

	at->kept++;
	at->kept_bytes += slot->span->elem;
}

/* --- what an object leads to --- */

static void follow_word(struct search *search, const struct spans_slot *from, uint64_t at,
			uint64_t word)
{
	const struct object_walk *walk = search->walk;
	uint32_t chain = search->reached[from->number] - 1;
	uint16_t kind = walk->kind_of[from->number];
	uint64_t start = from->begin + spans_header(walk->spans, from->span);
	struct spans_slot slot;

	if (!spans_slot(walk->spans, word, &slot) || search->reached[slot.number])
		return;
	const struct object_kind *of =
		kind >= OBJECT_FIRST ? object_kinds_get(&walk->kinds, kind) : NULL;

	if (at >= start && object_walk_is_certain(walk, from) &&
	    !object_step_is_pointer(of, at - start))
		return;
	if (search->beyond) {
		keep(search, chain, &slot);
		return;
	}
	reach(search, chain, at < start ? 0 : object_step(of, at - start), &slot);
}

/* Of an object whose type is certain, the pointers; of others all words count: what is no pointer
 * is hardly ever the address of an object. */
static void follow(struct search *search, const struct spans_slot *from)
{
	const struct object_walk *walk = search->walk;
	uint64_t words[CHUNK], elem = from->span->elem / 8 * 8;

	for (uint64_t at = 0; at < elem && object_walk_spend(search->walk); at += sizeof(words)) {
		uint64_t bytes = elem - at < sizeof(words) ? elem - at : sizeof(words);

		if (!walk->mem->read(walk->mem->ctx, from->begin + at, words, bytes))
			continue;
		for (size_t i = 0; i < bytes / 8; i++)
			if (words[i])
				follow_word(search, from, from->begin + at + i * 8, words[i]);
	}
}

static void drain(struct search *search)
{
	struct spans_slot slot;

	while (search->head < search->count) {
		if (!spans_slot(search->walk->spans, search->queue[search->head++], &slot))
			continue;
		if (search->beyond)
			count_kept(search, search->reached[slot.number] - 1, &slot);
		if (!slot.span->noscan)
			follow(search, &slot);
	}
}

static void add_unreached(struct search *search)
{
	const struct spans *spans = search->walk->spans;
	struct retained_chain *out = &search->out->unreached;
	struct spans_slot slot;

	for (size_t i = 0; i < spans->count; i++) {
		for (uint32_t n = 0; n < spans->all[i].count; n++) {
			uint64_t addr = spans->all[i].base + n * spans->all[i].elem;

			if (search->reached[spans->all[i].first + n] ||
			    !spans_slot(spans, addr, &slot) || !is_sought(search, &slot))
				continue;
			if (!out->objects++)
				out->example = slot.begin;
			out->bytes += slot.span->elem;
		}
	}
}

/* --- what is sought --- */

static bool pick_kinds(const struct objects_look *look, struct search *search)
{
	const struct object_kinds *kinds = &search->walk->kinds;
	bool any = false;

	search->kinds = mem_zalloc(kinds->count + OBJECT_FIRST, sizeof(*search->kinds));
	for (size_t i = 0; look->retained && i < kinds->count; i++) {
		search->kinds[i + OBJECT_FIRST] = pattern_match(look->retained, kinds->all[i].name);
		any = any || search->kinds[i + OBJECT_FIRST];
	}
	return any;
}

/* Who types Order means main.Order, or *main.Order. */
static void hint_types(const struct object_kinds *kinds, const char *typed, struct errmsg *err)
{
	char list[300] = "";
	size_t found = 0, len = 0;

	for (size_t i = 0; i < kinds->count && found < TYPES_NAMED; i++) {
		const char *name = kinds->all[i].name;

		if (!strcasestr(name, typed) || len + strlen(name) + 3 > sizeof(list))
			continue;
		len += snprintf(list + len, sizeof(list) - len, "%s%s", found++ ? ", " : "", name);
	}
	if (found)
		errmsg_hint(err, "types with this in their names: %s", list);
	else
		errmsg_hint(err, "--objects lists their types; those of some are not known, and "
				 "can be given by their address");
}

static int pick(const struct objects_look *look, struct search *search, struct errmsg *err)
{
	struct spans_slot slot;

	if (pick_kinds(look, search))
		return 0;
	if (look->retained) {
		errmsg_set(err, "no type of the objects in its heap matches \"%s\"",
			   pattern_text(look->retained));
		hint_types(&search->walk->kinds, pattern_text(look->retained), err);
		return -1;
	}
	if (!spans_slot(search->walk->spans, look->retained_addr, &slot))
		return errmsg_set(err, "0x%llx is in no object of its heap",
				  (unsigned long long)look->retained_addr);
	search->one = slot.number;
	return 0;
}

static void find_all(struct search *search, const struct objects_still *still,
		     const struct frames *frames)
{
	struct variable_names *names = variable_names_new(search->walk->prog->img);
	const struct retained_roots roots = {.walk = search->walk,
					     .still = still,
					     .frames = frames,
					     .names = names,
					     .found = reach_from_root,
					     .ctx = search};

	search->out->every_word = !retained_roots_variables(&roots);
	retained_roots_stacks(&roots, false);
	drain(search);
	/* they have references to nearly all of the runtime's own objects */
	retained_roots_stacks(&roots, true);
	drain(search);
	/* what else is reached is kept for nobody but these */
	retained_roots_specials(&roots);
	search->out->specials_left_out = search->walk->spans->specials.left_out;
	drain(search);
	search->beyond = true;
	for (size_t i = 0; i < search->sought_count; i++)
		search->queue[search->count++] = search->sought[i];
	drain(search);
	add_unreached(search);
	variable_names_free(names);
}

int retained_find(const struct objects_look *look, struct object_walk *walk,
		  const struct objects_still *still, const struct frames *frames,
		  struct retained *out, struct errmsg *err)
{
	struct search search = {.walk = walk, .out = out, .one = UINT64_MAX};
	uint64_t slots = walk->spans->slots + 1;

	*out = (struct retained){0};
	int ret = pick(look, &search, err);

	if (!ret) {
		retained_chains_begin(&out->chains);
		search.reached = mem_zalloc(slots, sizeof(*search.reached));
		search.queue = mem_zalloc(slots, sizeof(*search.queue));
		search.sought = mem_zalloc(slots, sizeof(*search.sought));
		find_all(&search, still, frames);
	}
	free(search.kinds);
	free(search.reached);
	free(search.queue);
	free(search.sought);
	return ret;
}

void retained_free(struct retained *retained)
{
	retained_chains_end(&retained->chains);
}
