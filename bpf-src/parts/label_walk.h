/* SPDX-License-Identifier: Apache-2.0 */
/* Where a goroutine's labels (runtime/pprof) stand: a set of them is never changed, but may be gone
 * a moment after the goroutine has another. Included by labels.h and label_find.h. */
#ifndef LABEL_WALK_H
#define LABEL_WALK_H

/* Up to Go 1.23, src/runtime/map.go: a map is buckets of eight, and those that follow each of them;
 * one that grows still has some entries in the buckets that it had before. Of cells with a smaller
 * "top hash" there is nothing, or it has moved. */
enum {
	MAP_CELLS = 8,
	MAP_TOP_MIN = 5,
	MAP_KEYS = 8,
	MAP_VALUES = MAP_KEYS + 16 * MAP_CELLS,
	MAP_NEXT = MAP_VALUES + 16 * MAP_CELLS,
	MAP_BUCKET = MAP_NEXT + 8,
	MAP_LOG2_MAX = 4,
	MAP_SAME_SIZE = 8, /* a flag: there were as many buckets before, not half of them */
	MAP_STEPS = 128,   /* cells that are looked at */
};

struct go_string {
	u64 data, len;
};

struct label_map {
	u64 count;
	u8 flags, log2;
	u16 overflow;
	u32 seed;
	u64 buckets, before;
};

struct label_walk {
	u64 bucket; /* 0: the next one of the array */
	u32 number, cell;
};

/* Leads to the bucket that `walk` is at; false: there is none. */
static inline bool find_bucket(const struct label_map *map, struct label_walk *walk)
{
	u32 count = 1 << (map->log2 & 7), before = map->flags & MAP_SAME_SIZE ? count : count / 2;

	if (walk->bucket)
		return true;
	if (walk->number < count)
		walk->bucket = map->buckets + walk->number * MAP_BUCKET;
	else if (map->before && walk->number < count + before)
		walk->bucket = map->before + (walk->number - count) * MAP_BUCKET;
	walk->number++;
	return walk->bucket;
}

/* Passes the cell that `walk` is at. Returns where its key stands, as a string; its value is
 * MAP_VALUES - MAP_KEYS behind. 0: there is nothing in the cell. */
static inline u64 next_cell(struct label_walk *walk)
{
	u64 at = walk->bucket;
	u32 cell = walk->cell & (MAP_CELLS - 1);
	u8 top = 0;

	read_user(&top, 1, at + cell);
	walk->cell = cell + 1;
	if (cell == MAP_CELLS - 1)
		read_user(&walk->bucket, 8, at + MAP_NEXT);
	return top < MAP_TOP_MIN ? 0 : at + MAP_KEYS + 16 * cell;
}

#endif
