// SPDX-License-Identifier: Apache-2.0
/* Up to Go 1.16 DWARF lists parameters by place rather than in source order. One of size 0 is where
 * the next one is, and may be listed after it, or be listed where it belongs. Each such order is
 * tried: its places have to agree with all that is known, and the compiler must sort it into the
 * list that DWARF has (Go's src/cmd/compile/internal/gc/pgen.go, createDwarfVars; scope.go,
 * varsByScopeAndOffset). */
#include <stdlib.h>

#include "base/mem.h"
#include "dwarf/debuginfo_params_internal.h"
#include "elf/image.h"

enum { MAX_MOVED = 6, WORD = 8 };

/* The last parameter before `at` that has a size, other than the receiver; -1: none. */
static int sized_before(const struct debuginfo_params *params, int at, bool receiver)
{
	while (at-- > receiver)
		if (params->items[at].type->size)
			return at;
	return -1;
}

static unsigned count_movable(const struct debuginfo_params *params, bool receiver)
{
	unsigned count = 0;

	for (size_t i = receiver; i < params->count; i++)
		count += !params->items[i].type->size && sized_before(params, i, receiver) >= 0;
	return count;
}

static void move(struct debuginfo_params *params, size_t from, size_t to)
{
	struct debuginfo_param moved = params->items[from];

	for (; from > to; from--)
		params->items[from] = params->items[from - 1];
	params->items[to] = moved;
}

/* Each parameter of size 0 has a bit in `unusual`: is it in the less likely of its two places? Of
 * parameters at one address, one with a location list is listed before one without. */
static void reorder(struct debuginfo_params *params, bool receiver, unsigned unusual)
{
	for (size_t i = receiver; i < params->count; i++) {
		int before = sized_before(params, i, receiver);

		if (params->items[i].type->size || before < 0)
			continue;

		const struct debuginfo_param *sized = &params->items[before];
		bool usual = sized->is_placed && !sized->place.is_fixed;

		if (usual != (unusual & 1))
			move(params, i, before);
		unusual >>= 1;
	}
}

/* --- would the compiler have listed them so? It sorts by a parameter's first used byte; on arm64
 * it adds a word to that, except for unused ones. --- */

struct key {
	uint64_t least, most;
	bool has_list; /* for certain: it comes first among equals, */
	bool has_none; /* or last */
};

static struct key key_of(const struct debuginfo_param *param, const struct abi_value *value,
			 enum arch arch)
{
	uint64_t size = param->type->size;
	struct key key = {.least = value->slot, .most = value->slot};

	key.has_none = !size || (param->is_placed && param->place.is_fixed);
	key.has_list = size && param->is_placed && !param->place.is_fixed;
	if (!key.has_none && !param->is_exact)
		key.most += size - 1;
	if (arch == ARCH_ARM64) {
		key.least += param->is_placed ? WORD : 0;
		key.most += param->is_placed || size ? WORD : 0;
	}
	return key;
}

static bool may_follow(const struct key *first, const struct key *second)
{
	if (first->least == second->most)
		return !(first->has_none && second->has_list);
	return first->least < second->most;
}

static bool is_where_told(const struct debuginfo_param *param, const struct abi_value *value)
{
	return param->type->size || !param->is_placed || param->place.in_register ||
	       param->place.n == (int64_t)value->slot;
}

static bool is_listed_so(const struct debuginfo_params *params, const struct abi_layout *layout,
			 enum arch arch)
{
	struct key *keys = mem_zalloc(params->count + 1, sizeof(*keys));
	bool *known = mem_zalloc(params->count + 1, sizeof(*known));
	const struct key *last = NULL;
	bool possible = true;

	for (size_t i = 0; i < params->count; i++) {
		const struct debuginfo_param *param = &params->items[i];

		possible &= is_where_told(param, &layout->params[i]);
		if (!param->listed || param->listed > params->count)
			continue;
		keys[param->listed] = key_of(param, &layout->params[i], arch);
		known[param->listed] = true;
	}
	for (size_t i = 1; i <= params->count; i++) {
		if (!known[i])
			continue;
		possible &= !last || may_follow(last, &keys[i]);
		last = &keys[i];
	}
	free(keys);
	free(known);
	return possible;
}

/* --- */

static bool is_possible(const struct debuginfo *dbg, const struct debuginfo_list *list)
{
	struct gofunc fn = {.dictionary = -1, .param_count = list->params.count};
	struct abi_layout layout;
	bool possible;

	if (debuginfo_has_blanks(
		    &list->params)) /* where they are among those of size 0 is not known */
		return true;
	fn.params = debuginfo_take(&list->params);
	abi_layout(&fn, image_arch(dbg->img), ABI_STACK, &layout);
	possible = is_listed_so(&list->params, &layout, image_arch(dbg->img));
	abi_layout_free(&layout);
	free(fn.params);
	return possible;
}

static bool is_same_param(const struct debuginfo_param *a, const struct debuginfo_param *b)
{
	return a->listed == b->listed || (a->type == b->type && !a->type->size);
}

/* Where another order is possible too, a parameter's number is a guess. */
static void compare_orders(struct debuginfo_params *found, const struct debuginfo_params *other)
{
	bool differ = found->count != other->count || debuginfo_has_blanks(found);

	for (size_t i = 0; i < found->count; i++)
		if (differ || !is_same_param(&found->items[i], &other->items[i]))
			found->items[i].is_guess = true;
}

/* Two parameters of size 0 in a row are at one address, so nothing tells one from the other. */
static void compare_neighbours(struct debuginfo_params *params, bool receiver)
{
	for (size_t i = receiver; i + 1 < params->count; i++) {
		struct debuginfo_param *param = &params->items[i];

		if (!param[0].type->size && !param[1].type->size && param[0].type != param[1].type)
			param[0].is_guess = param[1].is_guess = true;
	}
}

/* Keeps the first that is possible. */
static bool try_order(struct debuginfo *dbg, uint64_t addr, struct debuginfo_list *list,
		      unsigned unusual, bool is_first, struct debuginfo_params *found)
{
	struct debuginfo_list candidate = debuginfo_copy(list);

	reorder(&candidate.params, list->receiver, unusual);
	if (!debuginfo_complete(dbg, addr, &candidate) || !is_possible(dbg, &candidate)) {
		free(candidate.params.items);
		return false;
	}
	if (!is_first) {
		compare_orders(found, &candidate.params);
		free(candidate.params.items);
	} else {
		*found = candidate.params;
	}
	return true;
}

/* On arm64 parameters of size 0 without a place may be listed anywhere. */
static bool is_anywhere(const struct debuginfo *dbg, const struct debuginfo_list *list)
{
	size_t first = list->receiver;

	if (image_arch(dbg->img) != ARCH_ARM64 || list->params.count <= first + 1)
		return false;
	for (size_t i = first; i < list->params.count; i++)
		if (!list->params.items[i].type->size && !list->params.items[i].is_placed)
			return true;
	return false;
}

bool debuginfo_order(struct debuginfo *dbg, uint64_t addr, struct debuginfo_list *list)
{
	unsigned movable = count_movable(&list->params, list->receiver);
	struct debuginfo_params found = {0};
	bool is_found = false;

	if (movable > MAX_MOVED || is_anywhere(dbg, list))
		return false;
	for (unsigned unusual = 0; unusual < 1u << movable; unusual++)
		is_found |= try_order(dbg, addr, list, unusual, !is_found, &found);
	if (!is_found)
		return false;
	free(list->params.items);
	list->params = found;
	compare_neighbours(&list->params, list->receiver);
	return true;
}
