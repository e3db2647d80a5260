// SPDX-License-Identifier: Apache-2.0
#include "objects/object_walk_internal.h"

#include <stdlib.h>

#include "base/mem.h"
#include "elf/image.h"
#include "golang/gotype.h"
#include "goroutines/memory.h"
#include "objects/spans_internal.h"
#include "program/program.h"
#include "rtti/rtti.h"

enum {
	PARTS_MAX = 1 << 21,
	TODO_MAX = 1 << 24,
	POINTER_BYTES = 8, /* in a descriptor: how much of a value has pointers */
	TINY = 16,         /* objects below it that have no pointers share a block */
	CHUNK = 512,       /* words */
	AT_ONCE = 256,     /* elements: what they lead to is looked at before the rest */
};

bool object_walk_spend(struct object_walk *walk)
{
	if (!walk->words_left) {
		walk->gave_up = true;
		return false;
	}
	walk->words_left--;
	return true;
}

uint64_t object_walk_word(const struct object_walk *walk, uint64_t addr)
{
	uint64_t word;

	return memory_u64(walk->mem, addr, &word) ? word : 0;
}

const struct gotype *object_walk_type(struct object_walk *walk, uint64_t addr)
{
	if (addr < walk->types || addr >= walk->types_end || addr % 8)
		return NULL;
	const struct gotype *type = rtti_type(walk->rtti, addr - walk->bias);

	return type && type->kind != GOTYPE_UNKNOWN && type->rtype ? type : NULL;
}

bool object_walk_has_pointers(const struct object_walk *walk, const struct gotype *type)
{
	uint64_t bytes;

	return type->rtype && image_u64(walk->prog->img, type->rtype + POINTER_BYTES, &bytes) &&
	       bytes;
}

/* Is it in a variable of the program itself? */
static bool is_variable(const struct object_walk *walk, uint64_t addr, uint64_t bytes)
{
	size_t count;
	const struct image_segment *segments = image_segments(walk->prog->img, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t off = addr - walk->bias - segments[i].addr;

		if (segments[i].write && off < segments[i].memsz &&
		    bytes <= segments[i].memsz - off)
			return true;
	}
	return false;
}

/* --- slots --- */

struct slot {
	const struct span *span;
	uint64_t number;     /* among all */
	uint64_t start, end; /* of the object, its header left out */
};

/* An object that is allocated and has this address in it; false: there is none. */
static bool find_slot(const struct object_walk *walk, uint64_t addr, struct slot *out)
{
	struct spans_slot slot;

	if (!spans_slot(walk->spans, addr, &slot))
		return false;
	*out = (struct slot){.span = slot.span,
			     .number = slot.number,
			     .start = slot.begin + spans_header(walk->spans, slot.span),
			     .end = slot.begin + slot.span->elem};
	return addr >= out->start;
}

/* Their headers tell what they are. */
static bool has_header(const struct object_walk *walk, const struct span *span)
{
	return spans_header(walk->spans, span) || (span->large && span->type);
}

static void add_todo(struct object_walk *walk, const struct object_place *place)
{
	if (walk->todo_count >= TODO_MAX) {
		walk->gave_up = true;
		return;
	}
	walk->todo = mem_grow(walk->todo, walk->todo_count, &walk->todo_cap, sizeof(*walk->todo));
	walk->todo[walk->todo_count++] = *place;
}

/* ... and all of it is looked at by that. */
static bool is_told(const struct object_walk *walk, const struct slot *slot)
{
	return walk->kind_of[slot->number] != OBJECT_UNKNOWN && has_header(walk, slot->span);
}

bool object_walk_is_certain(const struct object_walk *walk, const struct spans_slot *slot)
{
	uint16_t kind = walk->kind_of[slot->number];

	return kind != OBJECT_UNKNOWN && (kind == walk->processors || has_header(walk, slot->span));
}

/* Has it become what it was not before? */
static bool merge(struct object_walk *walk, const struct slot *slot, uint16_t kind)
{
	uint16_t *now = &walk->kind_of[slot->number];
	uint16_t merged = object_kinds_merge(&walk->kinds, *now, kind);
	bool new = merged != *now;

	*now = merged;
	return new;
}

uint64_t object_walk_bytes(const struct object_walk *walk, uint64_t addr)
{
	struct slot slot;

	return find_slot(walk, addr, &slot) && addr == slot.start ? slot.end - slot.start : 0;
}

bool object_walk_set(struct object_walk *walk, uint64_t addr, uint16_t kind)
{
	struct slot slot;

	if (kind == OBJECT_UNKNOWN || !find_slot(walk, addr, &slot) || addr != slot.start)
		return false;
	if (!is_told(walk, &slot))
		return merge(walk, &slot, kind);
	/* its header tells of pointers to tables alone */
	if (kind >= OBJECT_FIRST && object_kinds_get(&walk->kinds, kind)->role == OBJECT_DIRECTORY)
		walk->kind_of[slot.number] = kind;
	return false;
}

/* --- places --- */

/* The same again? */
static bool is_known_part(struct object_walk *walk, const struct object_place *place)
{
	uint64_t hash = index_hash(index_hash(index_hash(0, place->addr), (uintptr_t)place->type),
				   place->count);
	size_t n = index_first(&walk->part_index, hash);

	for (; n != INDEX_NONE; n = index_next(&walk->part_index, n)) {
		const struct object_place *part = &walk->parts[n];

		if (part->addr == place->addr && part->type == place->type &&
		    part->count == place->count && part->buckets == place->buckets)
			return true;
	}
	if (walk->part_count >= PARTS_MAX) {
		walk->gave_up = true;
		return true;
	}
	walk->parts =
		mem_grow(walk->parts, walk->part_count, &walk->part_cap, sizeof(*walk->parts));
	walk->parts[walk->part_count++] = *place;
	index_add(&walk->part_index, hash);
	return false;
}

static void add_part(struct object_walk *walk, const struct object_place *place)
{
	if (!is_known_part(walk, place))
		add_todo(walk, place);
}

static uint16_t kind_of(struct object_walk *walk, const struct object_place *place)
{
	enum object_role role = place->role;

	return object_kinds_number(&walk->kinds, role, place->type, place->type, place->type->name);
}

static bool is_whole(const struct object_walk *walk, const struct object_place *place,
		     const struct slot *slot, uint64_t bytes, bool pointers)
{
	const struct span *span = slot->span;

	return place->addr == slot->start && pointers == !span->noscan &&
	       spans_rounded(bytes, span->noscan, walk->prog->release) == span->elem;
}

/* Of an object that is to be found in *slot */
static void reach_object(struct object_walk *walk, const struct object_place *place,
			 const struct slot *slot, uint64_t bytes, bool pointers)
{
	const struct span *span = slot->span;

	if (!pointers && bytes < TINY && span->noscan && span->elem == TINY) {
		if (walk->kind_of[slot->number] == OBJECT_UNKNOWN)
			walk->kind_of[slot->number] = OBJECT_TINY;
	} else if (is_whole(walk, place, slot, bytes, pointers)) {
		if (merge(walk, slot, kind_of(walk, place)) && pointers)
			add_todo(walk, place);
	} else if (pointers && !walk->strict) {
		add_part(walk, place);
	}
}

void object_walk_reach(struct object_walk *walk, const struct object_place *place)
{
	const struct gotype *type = place->type;
	uint64_t bytes;
	struct slot slot;

	if (!place->addr || !type || !type->size || type->kind == GOTYPE_UNKNOWN ||
	    __builtin_mul_overflow(type->size, place->count, &bytes) || !bytes)
		return;
	bool pointers = object_walk_has_pointers(walk, type);

	if (pointers && is_variable(walk, place->addr, bytes)) {
		add_part(walk, place);
		return;
	}
	/* what does not fit is not what it is said to be */
	if (!find_slot(walk, place->addr, &slot) || bytes > slot.end - place->addr ||
	    (pointers && slot.span->noscan))
		return;
	if (!is_told(walk, &slot))
		reach_object(walk, place, &slot, bytes, pointers);
	else if (place->role == OBJECT_BUFFER && place->addr == slot.start)
		walk->kind_of[slot.number] = kind_of(walk, place);
}

void object_walk_whole(struct object_walk *walk, struct object_place place)
{
	struct slot slot;

	if (!place.addr || !place.type->size || !find_slot(walk, place.addr, &slot) ||
	    place.addr != slot.start)
		return;
	place.count = (slot.end - slot.start) / place.type->size;
	place.role = place.count > 1 ? OBJECT_ARRAY : OBJECT_VALUE;
	if (!place.count || object_walk_has_pointers(walk, place.type) == slot.span->noscan)
		return;
	if (is_told(walk, &slot))
		add_part(walk, &place); /* its last words are not told by the header */
	else if (merge(walk, &slot, kind_of(walk, &place)))
		add_todo(walk, &place);
}

/* --- what is to be looked at --- */

static void walk_place(struct object_walk *walk, const struct object_place *place)
{
	bool pointers = object_walk_has_pointers(walk, place->type);

	if (!pointers && !place->buckets)
		return;
	for (uint64_t i = 0; i < place->count && object_walk_spend(walk); i++) {
		uint64_t addr = place->addr + i * place->type->size;
		struct object_place next = {.type = place->type, .buckets = true};

		if (pointers)
			object_walk_value(walk, addr, place->type);
		if (!place->buckets)
			continue;
		next.addr = object_walk_word(walk, addr + place->type->size - 8);
		object_walk_whole(walk, next);
	}
}

static void drain(struct object_walk *walk)
{
	bool strict = walk->strict;

	walk->strict = false;
	while (walk->todo_count) {
		struct object_place *last = &walk->todo[walk->todo_count - 1];
		struct object_place place = *last;

		if (place.count > AT_ONCE) {
			place.count = AT_ONCE;
			last->count -= AT_ONCE;
			last->addr += AT_ONCE * place.type->size;
		} else {
			walk->todo_count--;
		}
		walk_place(walk, &place);
	}
	walk->strict = strict;
}

/* --- what tells types --- */

static void walk_header(struct object_walk *walk, const struct span *span, uint32_t index)
{
	uint64_t begin = span->base + index * span->elem;
	uint64_t header = spans_header(walk->spans, span);
	uint64_t word = header ? object_walk_word(walk, begin) : span->type;
	struct object_place place = {.addr = begin + header, .type = object_walk_type(walk, word)};

	if (!place.type || !place.type->size)
		return;
	place.count = (span->elem - header) / place.type->size;
	/* one alone would have been put into a smaller slot */
	place.role = place.count > 1 ? OBJECT_ARRAY : OBJECT_VALUE;
	if (!place.count || !object_walk_has_pointers(walk, place.type))
		return;
	walk->kind_of[span->first + index] = kind_of(walk, &place);
	add_todo(walk, &place);
}

void object_walk_headers(struct object_walk *walk)
{
	for (size_t i = 0; i < walk->spans->count; i++) {
		const struct span *span = &walk->spans->all[i];

		if (span->noscan || !has_header(walk, span))
			continue;
		for (uint32_t n = 0; n < span->count; n++)
			if (spans_is_allocated(walk->spans, span, n))
				walk_header(walk, span, n);
		drain(walk);
	}
}

static bool is_type(const struct object_walk *walk, uint64_t addr)
{
	return addr >= walk->types && addr < walk->types_end && addr % 8 == 0;
}

/* Two words that may be an interface value: the type that it holds. */
static const struct gotype *held_by(struct object_walk *walk, uint64_t word)
{
	uint64_t itab[2];

	if (is_type(walk, word))
		return object_walk_type(walk, word);
	/* itabs are not in the heap */
	if (!word || word % 8 || spans_at(walk->spans, word) ||
	    !walk->live->read(walk->live->ctx, word, itab, sizeof(itab)) ||
	    !is_type(walk, itab[0]) || !is_type(walk, itab[1]))
		return NULL;
	const struct gotype *inter = object_walk_type(walk, itab[0]);

	return inter && inter->kind == GOTYPE_INTERFACE ? object_walk_type(walk, itab[1]) : NULL;
}

static void look_at_pair(struct object_walk *walk, uint64_t word, uint64_t data)
{
	struct object_place place = {.addr = data, .count = 1};

	if (!word || !data || data == word)
		return;
	place.type = held_by(walk, word);
	if (!place.type || place.type->kind == GOTYPE_INTERFACE)
		return;
	walk->strict = true;
	if (rtti_is_direct(walk->rtti, place.type->rtype))
		object_walk_pointer(walk, place.type, data);
	else
		object_walk_reach(walk, &place);
	walk->strict = false;
	drain(walk);
}

/* Is it a pointer to something that may get a type? */
static bool leads_somewhere(const struct object_walk *walk, uint64_t data)
{
	const struct spans *spans = walk->spans;
	bool in_heap =
		spans->count && data >= spans->all[0].base &&
		data < spans->all[spans->count - 1].base + spans->all[spans->count - 1].bytes;

	return in_heap || is_variable(walk, data, 1);
}

void object_walk_words(struct object_walk *walk, uint64_t addr, uint64_t len)
{
	uint64_t words[CHUNK + 1];

	for (uint64_t at = 0; at + 16 <= len && object_walk_spend(walk); at += CHUNK * 8) {
		uint64_t bytes = len - at < sizeof(words) ? (len - at) / 8 * 8 : sizeof(words);

		if (!walk->mem->read(walk->mem->ctx, addr + at, words, bytes))
			continue;
		for (size_t i = 0; i + 1 < bytes / 8; i++)
			if (words[i + 1] && leads_somewhere(walk, words[i + 1]))
				look_at_pair(walk, words[i], words[i + 1]);
	}
}

static bool is_open(const struct object_walk *walk, uint64_t number)
{
	uint16_t kind = walk->kind_of[number];

	return kind <= OBJECT_SEVERAL ||
	       (kind >= OBJECT_FIRST && object_kinds_get(&walk->kinds, kind)->role == OBJECT_FUNC);
}

void object_walk_unknown(struct object_walk *walk)
{
	for (size_t i = 0; i < walk->spans->count; i++) {
		const struct span *span = &walk->spans->all[i];

		for (uint32_t n = 0; n < span->count && !span->noscan; n++)
			if (spans_is_allocated(walk->spans, span, n) &&
			    is_open(walk, span->first + n))
				object_walk_words(walk, span->base + n * span->elem, span->elem);
	}
}

void object_walk_end(struct object_walk *walk)
{
	free(walk->kind_of);
	free(walk->todo);
	free(walk->parts);
	index_free(&walk->part_index);
	object_kinds_free(&walk->kinds);
}
