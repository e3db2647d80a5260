// SPDX-License-Identifier: Apache-2.0
/* Where the pointers of a value lead, by its type. */
#include "objects/object_walk_internal.h"

#include <stdio.h>
#include <string.h>

#include "elf/image.h"
#include "golang/gotype.h"
#include "goroutines/memory.h"
#include "objects/spans_internal.h"
#include "program/functab.h"
#include "program/program.h"
#include "rtti/rtti.h"

/* Go's src/runtime/map.go, hmap, up to 1.23; src/internal/runtime/maps/map.go and table.go after it
 */
enum {
	MAP_BYTES = 48, /* of both */
	MAP_BUCKETS = 16,
	MAP_OLD_BUCKETS = 24,
	SWISS_DIRECTORY = 16,
	SWISS_DIRECTORY_LEN = 24,
	TABLE_BYTES = 32,
	TABLE_GROUPS = 16,
	MAP_TYPE_GROUP = 64, /* in the descriptor: of a bucket, or of a group */
	CHAN_BYTES = 96,     /* src/runtime/chan.go, hchan: at least */
	CHAN_COUNT = 8,
	CHAN_BUFFER = 16,
	NAME_MAX_BYTES = 4096,
};

/* --- maps and channels --- */

static bool set_map_part(struct object_walk *walk, uint64_t addr, enum object_role role,
			 const struct gotype *group, const struct gotype *map)
{
	char name[NAME_MAX_BYTES];

	/* maps of defined types are the same memory */
	snprintf(name, sizeof(name), "map[%s]%s", map->key ? map->key->name : "?",
		 map->elem ? map->elem->name : "?");
	return object_walk_set(walk, addr,
			       object_kinds_number(&walk->kinds, role, group, group, name));
}

static void walk_directory(struct object_walk *walk, uint64_t directory, uint64_t len,
			   struct object_place group, const struct gotype *map)
{
	uint64_t before = 0;

	if (object_walk_bytes(walk, directory) / 8 < len)
		return;
	set_map_part(walk, directory, OBJECT_DIRECTORY, group.type, map);
	for (uint64_t i = 0; i < len && object_walk_spend(walk); i++) {
		uint64_t table = object_walk_word(walk, directory + i * 8);

		if (!table)
			return;
		if (table == before || object_walk_bytes(walk, table) != TABLE_BYTES)
			continue;
		before = table;
		set_map_part(walk, table, OBJECT_TABLE, group.type, map);
		group.addr = object_walk_word(walk, table + TABLE_GROUPS);
		object_walk_whole(walk, group);
	}
}

static void walk_map(struct object_walk *walk, uint64_t addr, const struct gotype *type)
{
	uint64_t of;
	const struct gotype *group = image_u64(walk->prog->img, type->rtype + MAP_TYPE_GROUP, &of)
					     ? object_walk_type(walk, of + walk->bias)
					     : NULL;
	struct object_place place = {.type = group, .buckets = !type->swiss};

	if (!group || group->kind != GOTYPE_STRUCT || object_walk_bytes(walk, addr) != MAP_BYTES)
		return;
	/* many may point to it, and it may be large */
	if (!set_map_part(walk, addr, OBJECT_MAP, group, type))
		return;
	place.addr = object_walk_word(walk, addr + MAP_BUCKETS);
	uint64_t len = type->swiss ? object_walk_word(walk, addr + SWISS_DIRECTORY_LEN) : 0;

	if (len) {
		walk_directory(walk, place.addr, len, place, type);
		return;
	}
	object_walk_whole(walk, place);
	if (type->swiss)
		return;
	place.addr = object_walk_word(walk, addr + MAP_OLD_BUCKETS);
	object_walk_whole(walk, place);
}

static void walk_chan(struct object_walk *walk, uint64_t addr, const struct gotype *elem)
{
	uint64_t buffer = object_walk_word(walk, addr + CHAN_BUFFER);
	struct object_kinds *kinds = &walk->kinds;

	if (!elem || object_walk_bytes(walk, addr) < CHAN_BYTES ||
	    !object_walk_set(walk, addr,
			     object_kinds_number(kinds, OBJECT_CHAN, elem, elem, elem->name)))
		return;
	struct object_place place = {.addr = buffer,
				     .count = object_walk_word(walk, addr + CHAN_COUNT),
				     .type = elem,
				     .role = OBJECT_BUFFER};

	object_walk_reach(walk, &place);
}

/* --- a word that is a pointer --- */

static void walk_func(struct object_walk *walk, uint64_t closure)
{
	uint64_t pc = object_walk_word(walk, closure);
	struct functab_func fn;

	if (!pc || !functab_find(walk->prog->tab, pc - walk->bias, &fn) ||
	    fn.addr != pc - walk->bias)
		return;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): only to tell it from others */
	const void *of = (const void *)(uintptr_t)fn.addr;

	object_walk_set(walk, closure,
			object_kinds_number(&walk->kinds, OBJECT_FUNC, of, NULL, fn.name));
}

/* Of a struct or array that is a single pointer: that. */
static const struct gotype *pointer_in(const struct gotype *type)
{
	for (;;) {
		const struct gotype *inner = NULL;

		if (type->kind == GOTYPE_ARRAY && type->count == 1)
			inner = type->elem;
		for (size_t i = 0; type->kind == GOTYPE_STRUCT && i < type->field_count; i++)
			if (type->fields[i].type->size)
				inner = type->fields[i].type;
		if (!inner || inner->size != type->size)
			return type;
		type = inner;
	}
}

void object_walk_pointer(struct object_walk *walk, const struct gotype *type, uint64_t word)
{
	type = pointer_in(type);
	struct object_place place = {.addr = word, .count = 1, .type = type->elem};

	if (!word)
		return;
	switch (type->kind) {
	case GOTYPE_POINTER:
		if (type->elem)
			object_walk_reach(walk, &place);
		break;
	case GOTYPE_MAP:
		walk_map(walk, word, type);
		break;
	case GOTYPE_CHAN:
		walk_chan(walk, word, type->elem);
		break;
	case GOTYPE_FUNC:
		walk_func(walk, word);
		break;
	default:
		break;
	}
}

/* --- a value --- */

static void walk_string(struct object_walk *walk, uint64_t addr)
{
	uint64_t bytes = object_walk_word(walk, addr), len = object_walk_word(walk, addr + 8);
	const struct span *span = len ? spans_at(walk->spans, bytes) : NULL;
	enum { TINY = 16 };

	if (!span || !span->noscan)
		return;
	uint64_t off = (bytes - span->base) % span->elem;

	if (len <= span->elem - off)
		object_walk_set(walk, bytes - off,
				len < TINY && span->elem == TINY ? OBJECT_TINY : OBJECT_STRING);
}

static void walk_slice(struct object_walk *walk, uint64_t addr, const struct gotype *type)
{
	struct object_place place = {.addr = object_walk_word(walk, addr),
				     .count = object_walk_word(walk, addr + 16),
				     .type = type->elem,
				     .role = OBJECT_ARRAY};

	if (place.count && type->elem)
		object_walk_reach(walk, &place);
}

static const struct gotype *held_type(struct object_walk *walk, uint64_t word, bool itab)
{
	uint64_t type = word;

	if (itab && (!word || word + 8 < word || !memory_u64(walk->live, word + 8, &type)))
		return NULL;
	const struct gotype *held = object_walk_type(walk, type);

	return held && held->kind != GOTYPE_INTERFACE ? held : NULL;
}

static void walk_interface(struct object_walk *walk, uint64_t addr, const struct gotype *type)
{
	uint64_t data = object_walk_word(walk, addr + 8);
	const struct gotype *held =
		data ? held_type(walk, object_walk_word(walk, addr), type->has_methods) : NULL;
	struct object_place place = {.addr = data, .count = 1, .type = held};

	if (!held)
		return;
	if (rtti_is_direct(walk->rtti, held->rtype))
		object_walk_pointer(walk, held, data);
	else
		object_walk_reach(walk, &place);
}

static void walk_struct(struct object_walk *walk, uint64_t addr, const struct gotype *type)
{
	for (size_t i = 0; i < type->field_count; i++)
		object_walk_value(walk, addr + type->fields[i].off, type->fields[i].type);
}

void object_walk_value(struct object_walk *walk, uint64_t addr, const struct gotype *type)
{
	if (!object_walk_spend(walk))
		return;
	switch (type->kind) {
	case GOTYPE_STRING:
		walk_string(walk, addr);
		break;
	case GOTYPE_SLICE:
		walk_slice(walk, addr, type);
		break;
	case GOTYPE_INTERFACE:
		walk_interface(walk, addr, type);
		break;
	case GOTYPE_STRUCT:
		walk_struct(walk, addr, type);
		break;
	case GOTYPE_ARRAY:
		if (!object_walk_has_pointers(walk, type))
			break;
		for (uint64_t i = 0; i < type->count && walk->words_left; i++)
			object_walk_value(walk, addr + i * type->elem->size, type->elem);
		break;
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_CHAN:
	case GOTYPE_FUNC:
		object_walk_pointer(walk, type, object_walk_word(walk, addr));
		break;
	default:
		break;
	}
}
