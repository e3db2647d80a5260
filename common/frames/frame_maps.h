/* SPDX-License-Identifier: Apache-2.0 */
/* Which words of a frame are pointers in use, by the maps that the garbage collector goes by (Go's
 * src/runtime/stkframe.go, getStackMap). A variable whose address was taken is in no map: it counts
 * if a pointer to it does. */
#ifndef FRAME_MAPS_H
#define FRAME_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;

struct frame_map {
	const uint8_t *bits; /* one for each word */
	uint32_t count;      /* of words */
};

struct frame_maps {
	struct frame_map locals; /* up to where the frame's locals end */
	struct frame_map args;   /* from where its arguments begin */
	uint64_t objects;        /* address of the table of variables; 0: there is none */
	uint32_t object_count;
};

struct frame_object {
	int32_t off;   /* bytes from the arguments' begin; negative: from the locals' end */
	uint32_t size; /* bytes */
};

/* `addr` is in the call that the frame stands at, with load bias 0. What is malformed, or not
 * known, is empty. */
void frame_maps_at(const struct frames *frames, uint64_t addr, struct frame_maps *out);
bool frame_maps_bit(const struct frame_map *map, uint32_t word);
/* The variable of this number; false: it is malformed. */
bool frame_maps_object(const struct frames *frames, const struct frame_maps *maps, uint32_t number,
		       struct frame_object *out);

#endif
