// SPDX-License-Identifier: Apache-2.0
/* Types made from descriptors. What a descriptor refers to gets an entry of its own and is filled
 * in after it, so that types may refer to each other. Code that walks types relies on what is made
 * sure of here: a struct's fields lie in it, an array's elements make up its size, and structs and
 * arrays do not contain themselves, nor each other too deep. */
#include "rtti/rtti.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "program/typedesc_gccgo.h"
#include "rtti/rtti_internal.h"

enum { /* far beyond what programs have */
       MAX_ENTRIES = 1 << 22,
       MAX_TEXTS = 1 << 27, /* bytes */
       MAX_FIELDS = 1 << 23,
       MAX_DEPTH = 32,
       MAX_WEIGHT = 1 << 16,
};

const char *rtti_keep_text(struct rtti *rtti, const char *text, size_t len)
{
	if (len >= MAX_TEXTS - rtti->texts) {
		rtti->texts = MAX_TEXTS;
		return NULL;
	}
	rtti->texts += len;
	return gotypes_text(rtti->types, text, len);
}

/* --- entries --- */

static size_t find_read(const struct rtti *rtti, uint64_t addr)
{
	size_t n = index_first(&rtti->by_addr, index_hash(0, addr));

	while (n != INDEX_NONE && rtti->entries[n].addr != addr)
		n = index_next(&rtti->by_addr, n);
	return n;
}

/* Descriptors of predeclared types say "named", too. */
static bool is_defined(const struct typedesc *desc, const char *name)
{
	if (!desc->named)
		return false;
	if (desc->kind == GOKIND_UNSAFE_POINTER)
		return strcmp(name, "unsafe.Pointer") != 0;
	return strchr(name, '.') || strcmp(name, "error") == 0;
}

static const char *keep_name(struct rtti *rtti, const struct typedesc_text *name)
{
	char *plain = mem_zalloc(name->len + 1, 1);
	size_t len = typedesc_plain(&rtti->mod, name, plain);
	const char *kept = rtti_keep_text(rtti, plain, len);

	free(plain);
	return kept;
}

/* A type with all that needs no other type; NULL: there is no descriptor at `addr`. */
static struct gotype *make_type(struct rtti *rtti, uint64_t addr)
{
	struct typedesc desc;
	const char *name = NULL;

	if (typedesc_read(&rtti->mod, addr, &desc))
		name = keep_name(rtti, &desc.name);
	if (!name)
		return NULL;

	struct gotype *type = gotypes_alloc(rtti->types, 1, sizeof(*type));

	type->kind = gokind_type(desc.kind);
	type->name = name;
	type->size = desc.size;
	type->align = desc.align;
	type->rtype = addr;
	type->swiss = desc.swiss;
	type->defined = is_defined(&desc, name);
	type->has_methods = desc.kind == GOKIND_INTERFACE && desc.listed;
	return type;
}

size_t rtti_entry(struct rtti *rtti, uint64_t addr)
{
	size_t n = find_read(rtti, addr);

	if (n != INDEX_NONE)
		return n;
	if (rtti->count == MAX_ENTRIES || rtti->texts == MAX_TEXTS)
		return SIZE_MAX;
	rtti->entries = mem_grow(rtti->entries, rtti->count, &rtti->cap, sizeof(*rtti->entries));
	rtti->entries[rtti->count] = (struct rtti_entry){
		.addr = addr,
		.type = make_type(rtti, addr),
		.weight = 1,
	};
	rtti->count++;
	return index_add(&rtti->by_addr, index_hash(0, addr));
}

/* --- filling in --- */

static const struct gotype *refer(struct rtti *rtti, uint64_t addr)
{
	size_t index = rtti_entry(rtti, addr);

	if (index == SIZE_MAX || !rtti->entries[index].type)
		return rtti->unknown;
	return rtti->entries[index].type;
}

static void spoil(struct gotype *type)
{
	type->kind = GOTYPE_UNKNOWN;
	type->elem = type->key = NULL;
	type->fields = NULL;
	type->field_count = type->count = 0;
}

static bool fill_field(struct rtti *rtti, struct gotype *type, const struct typedesc *desc,
		       size_t index)
{
	struct gotype_field *field = &type->fields[index];
	struct typedesc_field found;

	if (!typedesc_field(&rtti->mod, desc, index, &found))
		return false;
	*field = (struct gotype_field){
		.name = rtti_keep_text(rtti, found.name.text, found.name.len),
		.type = refer(rtti, found.type),
		.off = found.off,
		.embedded = found.embedded,
	};
	return field->name && field->off <= type->size &&
	       field->type->size <= type->size - field->off;
}

static bool fill_struct(struct rtti *rtti, struct gotype *type, const struct typedesc *desc)
{
	if (desc->listed > MAX_FIELDS - rtti->fields)
		return false;
	rtti->fields += desc->listed;
	type->fields = gotypes_alloc(rtti->types, desc->listed, sizeof(*type->fields));
	type->field_count = desc->listed;
	for (size_t i = 0; i < desc->listed; i++)
		if (!fill_field(rtti, type, desc, i))
			return false;
	return true;
}

static bool fill_array(struct gotype *type, uint64_t count)
{
	uint64_t size;

	type->count = count;
	return !__builtin_mul_overflow(type->elem->size, count, &size) && size == type->size;
}

static bool fill_type(struct rtti *rtti, struct gotype *type, const struct typedesc *desc)
{
	if (desc->elem)
		type->elem = refer(rtti, desc->elem);
	else if (desc->kind == GOKIND_POINTER || desc->kind == GOKIND_ARRAY)
		type->elem = rtti->unknown;
	if (desc->key)
		type->key = refer(rtti, desc->key);
	if (desc->kind == GOKIND_STRUCT)
		return fill_struct(rtti, type, desc);
	return desc->kind != GOKIND_ARRAY || fill_array(type, desc->count);
}

static const struct rtti_entry *part_of(const struct rtti *rtti, const struct gotype *type)
{
	static const struct rtti_entry leaf = {.weight = 1};

	if (type->kind != GOTYPE_STRUCT && type->kind != GOTYPE_ARRAY)
		return &leaf;
	return &rtti->entries[find_read(rtti, type->rtype)];
}

/* Takes an entry's depth and weight from those of its parts; have they changed? */
static bool measure(struct rtti *rtti, struct rtti_entry *entry)
{
	const struct gotype *type = entry->type;
	uint32_t depth = 0, weight = 1;

	if (type->kind == GOTYPE_ARRAY) {
		const struct rtti_entry *part = part_of(rtti, type->elem);

		depth = part->depth + 1;
		weight = part->weight;
	}
	for (size_t i = 0; i < type->field_count; i++) {
		const struct rtti_entry *part = part_of(rtti, type->fields[i].type);

		if (part->depth + 1 > depth)
			depth = part->depth + 1;
		if (weight <= MAX_WEIGHT)
			weight += part->weight;
	}
	if (depth == entry->depth && weight == entry->weight)
		return false;
	entry->depth = depth;
	entry->weight = weight;
	return true;
}

/* In each round the numbers of types that contain themselves grow; those of others come to rest. */
static void check_nesting(struct rtti *rtti, size_t from)
{
	bool changed = true;

	for (unsigned round = 0; changed && round <= MAX_DEPTH; round++) {
		changed = false;
		/* what is referred to comes later */
		for (size_t i = rtti->count; i-- > from;)
			if (rtti->entries[i].type && measure(rtti, &rtti->entries[i]))
				changed = true;
	}
	for (size_t i = from; i < rtti->count; i++) {
		struct rtti_entry *entry = &rtti->entries[i];

		if (entry->type && (entry->depth > MAX_DEPTH || entry->weight > MAX_WEIGHT))
			spoil(entry->type);
	}
}

void rtti_fill(struct rtti *rtti)
{
	size_t from = rtti->filled;

	while (rtti->filled < rtti->count) {
		struct gotype *type = rtti->entries[rtti->filled++].type;
		struct typedesc desc;

		if (type && typedesc_read(&rtti->mod, type->rtype, &desc) &&
		    !fill_type(rtti, type, &desc))
			spoil(type);
	}
	check_nesting(rtti, from);
}

const struct gotype *rtti_type(struct rtti *rtti, uint64_t addr)
{
	size_t index = rtti_entry(rtti, addr);

	rtti_fill(rtti);
	return index == SIZE_MAX ? NULL : rtti->entries[index].type;
}
