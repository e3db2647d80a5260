// SPDX-License-Identifier: Apache-2.0
#include "frames/frame_maps.h"

#include <string.h>

#include "elf/image.h"
#include "golang/release.h"
#include "frames/frames.h"
#include "program/functab.h"

enum {
	FUNCDATA_ARG_POINTERS = 0,
	FUNCDATA_LOCAL_POINTERS = 1,
	FUNCDATA_OBJECTS = 2,
	PCDATA_STACK_MAP = 1,
	WORDS_MAX = 1 << 16,   /* of a frame */
	OBJECTS_MAX = 1 << 10, /* of a frame */
	OBJECT_LEN = 16,       /* bytes of the table's entries, after the word with their number */
};

struct stack_map { /* as it is in the file; bits follow, for each number */
	int32_t count, bits;
};

static bool note_number(uint64_t from, uint64_t to, int32_t value, void *ctx)
{
	uint64_t *found = ctx; /* the address, and the map's number there */

	if (found[0] >= from && found[0] < to && value >= 0)
		found[1] = value;
	return found[0] >= to;
}

static struct frame_map read_map(const struct frames *frames, uint64_t table, uint64_t number)
{
	const void *bytes = table ? image_at(frames->img, table, sizeof(struct stack_map)) : NULL;
	struct stack_map map;

	if (!bytes)
		return (struct frame_map){0};
	memcpy(&map, bytes, sizeof(map));
	if (map.bits <= 0 || map.count <= 0 || number >= (uint64_t)map.count)
		return (struct frame_map){0};
	uint64_t size = ((uint64_t)map.bits + 7) / 8, at = table + sizeof(map) + number * size;
	uint64_t count = map.bits < WORDS_MAX ? map.bits : WORDS_MAX;
	uint64_t left = image_left(frames->img, at);

	if (left < (count + 7) / 8)
		count = left * 8;
	const uint8_t *bits = count ? image_at(frames->img, at, (count + 7) / 8) : NULL;

	return (struct frame_map){bits, bits ? count : 0};
}

void frame_maps_at(const struct frames *frames, uint64_t addr, struct frame_maps *out)
{
	uint64_t found[2] = {addr, UINT64_MAX}, count;
	struct functab_func fn;

	*out = (struct frame_maps){0};
	if (!functab_find(frames->tab, addr, &fn) ||
	    !functab_pcdata(frames->tab, &fn, PCDATA_STACK_MAP, note_number, found))
		return;
	out->args = read_map(frames, functab_funcdata(frames->tab, &fn, FUNCDATA_ARG_POINTERS),
			     found[1]);
	out->locals = read_map(frames, functab_funcdata(frames->tab, &fn, FUNCDATA_LOCAL_POINTERS),
			       found[1]);
	out->objects = functab_funcdata(frames->tab, &fn, FUNCDATA_OBJECTS);
	if (!out->objects || !image_u64(frames->img, out->objects, &count))
		return;
	out->object_count = count < OBJECTS_MAX ? count : 0;
}

bool frame_maps_bit(const struct frame_map *map, uint32_t word)
{
	return word < map->count && map->bits[word / 8] >> word % 8 & 1;
}

bool frame_maps_object(const struct frames *frames, const struct frame_maps *maps, uint32_t number,
		       struct frame_object *out)
{
	uint64_t at = maps->objects + 8 + (uint64_t)number * OBJECT_LEN, type, size;
	const void *bytes = image_at(frames->img, at, OBJECT_LEN);

	if (!bytes)
		return false;
	memcpy(out, bytes, sizeof(*out));
	if (frames->release >= RELEASE_OBJECT_SIZES)
		return true;
	if (!image_u64(frames->img, at + 8, &type) || !image_u64(frames->img, type, &size))
		return false;
	out->size = size < UINT32_MAX ? size : 0;
	return true;
}
