// SPDX-License-Identifier: Apache-2.0
#include "arguments/copyinfo_located_internal.h"

#include <stdlib.h>

#include "arguments/provenance_internal.h"
#include "base/mem.h"
#include "dwarf/debuginfo.h"
#include "machine/registers.h"
#include "sites/inlining.h"
#include "sites/site_finder.h"

enum {
	WORD = 8,
	DEPTH_MAX = 32,
	WORDS_MAX = 32,
	TRIED_MAX = 8,
};

struct byte { /* one byte of a parameter */
	const struct debuginfo_variable *var;
	uint64_t off;
	struct provenance_sources *sources; /* of the parameter */
};

void copyinfo_nowhere(const struct gofunc *sig, struct abi_layout *out)
{
	*out = (struct abi_layout){.param_count = sig->param_count,
				   .result_count = sig->result_count};
	out->params = mem_zalloc(sig->param_count + 1, sizeof(*out->params));
	out->results = mem_zalloc(sig->result_count + 1, sizeof(*out->results));
}

static const struct debuginfo_location *location_at(const struct debuginfo_variable *var,
						    uint64_t addr)
{
	for (size_t i = 0; i < var->count; i++)
		if (var->locations[i].from <= addr && addr < var->locations[i].to)
			return &var->locations[i];
	return NULL;
}

/* DWARF counts from the CFA, 8 bytes (the return address) above SP at entry. */
static struct provenance_place place_of(const struct die_piece *piece, uint64_t off)
{
	uint64_t left = piece->size - (off - piece->off);

	return (struct provenance_place){
		.in_register = piece->in_register,
		.n = piece->in_register ? piece->n : piece->n + WORD + (int64_t)(off - piece->off),
		.size = left < WORD ? left : WORD,
	};
}

static bool is_located(const void *ctx, uint64_t addr, struct provenance_place *out)
{
	const struct byte *byte = ctx;
	const struct debuginfo_location *location = location_at(byte->var, addr);

	for (size_t i = 0; location && i < location->count; i++) {
		const struct die_piece *piece = &location->pieces[i];

		if (byte->off < piece->off || byte->off - piece->off >= piece->size)
			continue;
		*out = place_of(piece, byte->off);
		return true;
	}
	return false;
}

static bool is_first(const struct copyinfo_vars *vars, uint64_t addr, const struct byte *byte,
		     const struct provenance_place *place)
{
	struct provenance of = {.finder = vars->finder,
				.fn = vars->fn,
				.node = vars->copy->node,
				.located = is_located,
				.ctx = byte,
				.steps = vars->steps};
	size_t before = byte->sources->count;

	if (provenance_is_first(&of, addr, place, byte->sources))
		return true;
	byte->sources->count = before;
	return false;
}

/* Adds a word of the parameter to `value`, if this place holds it. */
static bool take_word(const struct copyinfo_vars *vars, uint64_t addr, const struct byte *byte,
		      const struct provenance_place *place, uint64_t size, struct abi_value *value)
{
	struct abi_piece piece = {.where = ABI_HARDWARE, .off = byte->off, .size = size};
	int vector = registers_float(vars->finder->arch, place->n);
	int32_t below;

	if (place->in_register && vector >= 0) {
		piece.where = ABI_FLOAT;
		piece.n = vector;
	} else if (place->in_register) {
		if (!registers_by_dwarf(vars->finder->arch, place->n) ||
		    !is_first(vars, addr, byte, place))
			return false;
		piece.n = place->n;
	} else {
		if (!site_finder_sp(vars->finder, vars->fn, addr, &below) || place->n + below < 0 ||
		    place->n > INT32_MAX || !is_first(vars, addr, byte, place))
			return false;
		piece.where = ABI_SP;
		piece.n = place->n + below;
	}
	value->pieces[value->count++] = piece;
	return true;
}

/* Looks where debug information has the word at this instruction; if that fails, in every place
 * where it has it at any time: the word may still be there. */
static void find_word(const struct copyinfo_vars *vars, uint64_t addr, const struct byte *byte,
		      uint64_t size, struct abi_value *value)
{
	const struct debuginfo_variable *var = byte->var;
	struct provenance_place place, tried[TRIED_MAX];
	size_t count = 0, i;

	if (is_located(byte, addr, &place) && take_word(vars, addr, byte, &place, size, value))
		return;
	for (size_t n = 0; n < var->count && count < TRIED_MAX; n++) {
		if (!is_located(byte, var->locations[n].from, &place))
			continue;
		for (i = 0; i < count; i++)
			if (tried[i].in_register == place.in_register && tried[i].n == place.n)
				break;
		if (i < count || place.size < size)
			continue;
		tried[count++] = place;
		if (take_word(vars, addr, byte, &place, size, value))
			return;
	}
}

static bool is_one(const struct gotype *type, unsigned depth)
{
	const struct gotype *part = NULL;

	switch (type->kind) {
	case GOTYPE_STRING:
	case GOTYPE_SLICE:
	case GOTYPE_INTERFACE:
	case GOTYPE_COMPLEX:
		return false;
	case GOTYPE_ARRAY:
		return type->count == 1 && type->elem && depth < DEPTH_MAX &&
		       is_one(type->elem, depth + 1);
	case GOTYPE_STRUCT:
		for (size_t i = 0; i < type->field_count; i++) {
			if (part && type->fields[i].type->size)
				return false;
			if (type->fields[i].type->size)
				part = type->fields[i].type;
		}
		return part && part->size == type->size && depth < DEPTH_MAX &&
		       is_one(part, depth + 1);
	default:
		return type->size <= WORD;
	}
}

static bool is_twice(const struct debuginfo_location *location, size_t n)
{
	const struct die_piece *piece = &location->pieces[n];

	for (size_t i = 0; i < location->count; i++)
		if (i != n && location->pieces[i].in_register == piece->in_register &&
		    location->pieces[i].n == piece->n)
			return true;
	return false;
}

/* Go's compiler lists the pieces of a variable in order, but silently omits those that never have a
 * value, so that the others seem to be the first ones; some it lists twice. So a location counts
 * only if all pieces are there, each once. */
static bool is_complete(const struct debuginfo_location *location, const struct gotype *type)
{
	if (location->size == UINT64_MAX)
		return is_one(type, 0);
	for (size_t i = 0; i < location->count; i++)
		if (is_twice(location, i))
			return false;
	return location->size == type->size;
}

static void find_words(const struct copyinfo_vars *vars, uint64_t addr, size_t param,
		       struct provenance_sources *sources, struct abi_value *value)
{
	const struct gotype *type = vars->sig->params[param].type;
	const struct debuginfo_variable *var = &vars->vars[param];
	const struct die_piece *pieces = NULL;
	size_t count = 0;

	for (size_t i = 0; i < var->count; i++)
		if (!is_complete(&var->locations[i], type))
			return;
		else if (var->locations[i].count > count) {
			pieces = var->locations[i].pieces;
			count = var->locations[i].count;
		}
	value->pieces = mem_zalloc(WORDS_MAX, sizeof(*value->pieces));
	for (size_t i = 0; i < count; i++) {
		uint64_t size = pieces[i].size < type->size ? pieces[i].size : type->size;

		for (uint64_t at = 0; at < size && value->count < WORDS_MAX; at += WORD) {
			struct byte byte = {var, pieces[i].off + at, sources};

			find_word(vars, addr, &byte, size - at < WORD ? size - at : WORD, value);
		}
	}
}

static bool shares(const struct provenance_sources *a, const struct provenance_sources *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			if (a->ids[i] == b->ids[j])
				return true;
	return false;
}

/* Two parameters with the same value: the callee may have set one to the other without ever using
 * what it was given. Neither is known then. */
static void drop_shared(struct abi_layout *layout, const struct provenance_sources *sources)
{
	for (size_t i = 0; i < layout->param_count; i++)
		for (size_t j = i + 1; j < layout->param_count; j++)
			if (shares(&sources[i], &sources[j]))
				layout->params[i].count = layout->params[j].count = 0;
}

void copyinfo_located(const struct copyinfo_vars *vars, uint64_t addr, struct abi_layout *out)
{
	struct provenance_sources *sources =
		mem_zalloc(vars->sig->param_count + 1, sizeof(*sources));

	copyinfo_nowhere(vars->sig, out);
	for (size_t i = 0; i < vars->sig->param_count; i++)
		find_words(vars, addr, i, &sources[i], &out->params[i]);
	drop_shared(out, sources);
	free(sources);
}
