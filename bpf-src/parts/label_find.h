/* SPDX-License-Identifier: Apache-2.0 */
/* One label of the goroutine that runs here, by its key. The goroutine stands at the probe
 * meanwhile, and nobody else gives it other labels. */
#ifndef LABEL_FIND_H
#define LABEL_FIND_H

#include "parts/label_walk.h"
#include "parts/text_key.h"

#define LABELS_MAX 32    /* that are looked at; in a map, */
#define LABEL_BUCKETS 12 /* so many buckets: 26 labels have 7 at most, 9 while they grow */

struct label_place {
	u32 g_labels; /* byte offset in Go's struct g */
	bool is_map;  /* it leads to a map, not to a slice */
};

/* Is the text that the string at `at` refers to the key? */
static inline bool is_label(s64 *failed, u64 at, const struct text_key *key)
{
	if (read_word(failed, 8, at + 8) != key->len)
		return false;
	return has_bytes(failed, read_word(failed, 8, at), key);
}

/* Both return where the value stands, as a string; 0: there is no such label. `many` is set if
 * there are more than are looked at. */
static inline u64 find_in_slice(s64 *failed, bool *many, u64 addr, const struct text_key *key)
{
	u64 at = read_word(failed, 8, addr), len = read_word(failed, 8, addr + 8);
	u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < LABELS_MAX; i = loop_next(i)) {
		if (i >= len)
			return 0;
		if (is_label(failed, at, key))
			return at + sizeof(struct go_string);
		at += 2 * sizeof(struct go_string);
	}
	*many = len > LABELS_MAX;
	return 0;
}

static inline u64 find_in_bucket(s64 *failed, u64 bucket, const struct text_key *key)
{
	u64 tops = read_word(failed, MAP_CELLS, bucket), at;
	u32 cell;

#pragma clang loop unroll(disable)
	for (cell = 0; cell < MAP_CELLS; cell = loop_next(cell)) {
		at = bucket + MAP_KEYS + 16 * cell;
		if ((u8)tops >= MAP_TOP_MIN && is_label(failed, at, key))
			return at + MAP_VALUES - MAP_KEYS;
		tops >>= 8;
	}
	return 0;
}

static inline u64 find_in_map(s64 *failed, bool *many, u64 addr, const struct text_key *key)
{
	struct label_map map = {};
	struct label_walk walk = {};
	u64 at, noise;
	u32 i;

	addr = read_word(failed, 8, addr);
	map.count = read_word(failed, 8, addr);
	map.flags = read_word(failed, 1, addr + 8);
	map.log2 = read_word(failed, 1, addr + 9);
	map.buckets = read_word(failed, 8, addr + 16);
	map.before = read_word(failed, 8, addr + 24);
	noise = map.buckets;
#pragma clang loop unroll(disable)
	for (i = 0; i < LABEL_BUCKETS; i = loop_next(i)) {
		if (!map.count || map.log2 > MAP_LOG2_MAX)
			break;
		if (!find_bucket(&map, &walk))
			return 0;
		/* else the verifier walks what follows once for each bucket, and each way to it */
		walk.bucket = forget_value(walk.bucket, noise);
		walk.number = forget_value(walk.number, noise);
		at = find_in_bucket(failed, walk.bucket, key);
		if (at)
			return at;
		walk.bucket = read_word(failed, 8, walk.bucket + MAP_NEXT);
	}
	*many = map.count != 0;
	return 0;
}

/* The value of the label; no such label: a string that is empty. What is found is unknown to the
 * verifier, so that it walks what follows once. */
static inline struct go_string find_label(s64 *bad, struct pt_regs *ctx, struct label_place place,
					  const struct text_key *key)
{
	u64 addr, at = 0, noise = probe_register(ctx, REGISTER_SP), g;
	struct goroutine_stack stack = {};
	struct go_string value = {};
	bool many = false;
	s64 failed = 0;

	g = goroutine_current(ctx, &stack);
	addr = read_word(&failed, 8, g + place.g_labels);
	if (addr && place.is_map)
		at = find_in_map(&failed, &many, addr, key);
	else if (addr)
		at = find_in_slice(&failed, &many, addr, key);
	if (at) {
		value.data = read_word(&failed, 8, at);
		value.len = read_word(&failed, 8, at + 8);
	}
	must(bad, failed ? TRACE_FAULT : many ? TRACE_MANY : 0);
	*bad = forget_value(*bad, noise);
	value.data = forget_value(value.data, noise);
	value.len = forget_value(value.len, noise);
	return value;
}

#endif
