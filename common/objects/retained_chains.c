// SPDX-License-Identifier: Apache-2.0
#include "objects/retained_chains_internal.h"

#include <stdlib.h>

#include "base/mem.h"
#include "objects/object_kinds_internal.h"

enum {
	NEAR = 16, /* up to this depth, two objects of unknown type are taken to be different */
	SEEN_MAX = 64,
};

static uint32_t add(struct retained_chains *chains, const struct retained_chain *chain,
		    uint64_t hash)
{
	if (chains->count >= RETAINED_CHAINS_MAX) {
		chains->full = true;
		return RETAINED_NONE;
	}
	chains->all = mem_grow(chains->all, chains->count, &chains->cap, sizeof(*chains->all));
	chains->all[chains->count++] = *chain;
	return (uint32_t)index_add(&chains->index, hash);
}

void retained_chains_begin(struct retained_chains *chains)
{
	*chains = (struct retained_chains){0};
	add(chains, &(struct retained_chain){0}, index_hash(0, 0));
}

void retained_chains_end(struct retained_chains *chains)
{
	free(chains->all);
	index_free(&chains->index);
	*chains = (struct retained_chains){0};
}

/* Variables by where they are; frames by their function. */
uint32_t retained_chains_root(struct retained_chains *chains, const struct retained_root *root)
{
	uint64_t hash = index_hash(index_hash(index_hash(0, root->how), root->addr), 1);
	size_t n = index_first(&chains->index, hash);

	for (; n != INDEX_NONE; n = index_next(&chains->index, n)) {
		struct retained_chain *chain = &chains->all[n];

		if (n == RETAINED_NONE || chain->depth || chain->root.how != root->how ||
		    chain->root.addr != root->addr)
			continue;
		chain->several = chain->several || chain->root.goid != root->goid;
		return (uint32_t)n;
	}
	return add(chains, &(struct retained_chain){.root = *root}, hash);
}

static bool is_same(const struct retained_object *a, const struct retained_object *b)
{
	return a->kind == b->kind && a->size == b->size && a->pointers == b->pointers;
}

/* Has the way come by such an object before? Of an unknown type, that is only sure of the last. */
static uint32_t seen_before(const struct retained_chains *chains, uint32_t from,
			    const struct retained_object *object)
{
	const struct retained_chain *all = chains->all;
	bool known = object->kind >= OBJECT_FIRST || all[from].depth > NEAR;

	for (int i = 0; i < SEEN_MAX && all[from].depth; i++, from = all[from].before) {
		if (is_same(&all[from].object, object))
			return from;
		if (!known)
			break;
	}
	return RETAINED_NONE;
}

static uint32_t find(const struct retained_chains *chains, uint64_t hash, uint32_t from,
		     uint64_t step, const struct retained_object *object)
{
	size_t n = index_first(&chains->index, hash);

	for (; n != INDEX_NONE; n = index_next(&chains->index, n)) {
		const struct retained_chain *chain = &chains->all[n];

		if (chain->depth && chain->before == from && chain->step == step &&
		    is_same(&chain->object, object))
			return (uint32_t)n;
	}
	return RETAINED_NONE;
}

uint32_t retained_chains_next(struct retained_chains *chains, uint32_t from, uint64_t step,
			      const struct retained_object *object, bool sought)
{
	uint32_t before = from && !sought ? seen_before(chains, from, object) : RETAINED_NONE;

	if (before) {
		chains->all[before].repeated = true;
		return before;
	}
	if (from && !sought && chains->all[from].depth >= RETAINED_DEPTH_MAX) {
		chains->all[from].cut = true;
		return from;
	}
	uint64_t hash = index_hash(index_hash(index_hash(0, from), step), object->kind);

	hash = index_hash(index_hash(hash, object->size), object->pointers);
	uint32_t n = from ? find(chains, hash, from, step, object) : RETAINED_NONE;

	if (!n && from)
		n = add(chains,
			&(struct retained_chain){.before = from,
						 .depth = chains->all[from].depth + 1,
						 .step = step,
						 .object = *object},
			hash);
	if (!n && from && !sought)
		chains->all[from].cut = true;
	return n ? n : sought ? RETAINED_NONE : from;
}
