/* SPDX-License-Identifier: Apache-2.0 */
/* Goroutines' labels (runtime/pprof), copied as they are at this moment: a set of them is never
 * changed, but may be gone a moment later. They are put into a record: see parts/free_words.h. */
#ifndef LABELS_H
#define LABELS_H

#include "parts/free_words.h"
#include "parts/label_walk.h"

struct go_label {
	struct go_string key, value;
};

static inline u64 short_length(u64 len)
{
	return len > 0xffffffff ? 0xffffffff : len;
}

static inline bool put_text(struct record *rec, const struct go_string *text)
{
	u64 len = text->len > PROFILE_LABEL_TEXT ? PROFILE_LABEL_TEXT : text->len;
	char *to = (char *)free_words(rec);

	/* the verifier must see that the very number passed below was checked, not a copy */
	asm volatile("" : "+r"(len));
	if (len > PROFILE_LABEL_TEXT)
		return false;
	if (len && probe_read_user(to, len, (void *)text->data))
		return false;
	rec->sample.count += (len + 7) / 8;
	return true;
}

static inline bool put_label(struct record *rec, const struct go_label *label)
{
	u32 before = rec->sample.count;

	*free_words(rec) = short_length(label->key.len) | short_length(label->value.len) << 32;
	rec->sample.count++;
	if (put_text(rec, &label->key) && put_text(rec, &label->value)) {
		rec->sample.labels++;
		return true;
	}
	rec->sample.count = before;
	return false;
}

/* From Go 1.24 on, src/runtime/pprof/label.go: LabelSet. Both return how many there are. */
static inline u64 read_label_slice(struct record *rec, u64 addr)
{
	struct go_string slice = {}; /* begins like one */
	struct go_label label;
	u32 i;

	read_user(&slice, sizeof(slice), addr);
#pragma clang loop unroll(disable)
	for (i = 0; i < PROFILE_LABELS && i < slice.len; i = loop_next(i)) {
		if (read_user(&label, sizeof(label), slice.data + i * sizeof(label)) ||
		    !put_label(rec, &label))
			break;
	}
	return slice.len;
}

static inline bool read_cell(struct record *rec, struct label_walk *walk)
{
	u64 key = next_cell(walk);
	struct go_label label;

	if (!key)
		return true;
	return !read_user(&label.key, 16, key) &&
	       !read_user(&label.value, 16, key + MAP_VALUES - MAP_KEYS) && put_label(rec, &label);
}

static inline u64 read_label_map(struct record *rec, u64 addr)
{
	struct label_map map = {};
	struct label_walk walk = {};
	u64 at = 0;
	u32 i;

	if (read_user(&at, sizeof(at), addr) || read_user(&map, sizeof(map), at))
		return 1;
	if (map.log2 > MAP_LOG2_MAX)
		return map.count;
#pragma clang loop unroll(disable)
	for (i = 0; i < MAP_STEPS; i = loop_next(i)) {
		if (rec->sample.labels >= PROFILE_LABELS || rec->sample.labels >= map.count ||
		    !find_bucket(&map, &walk) || !read_cell(rec, &walk))
			break;
	}
	return map.count;
}

/* `curg`: the goroutine that the thread works for, or 0. */
static inline void read_labels(struct record *rec, const struct profile_target *target, u64 curg)
{
	u32 before = rec->sample.count;
	u64 addr = 0, count;

	if (!curg)
		return;
	if (!target->g_labels || read_user(&addr, sizeof(addr), curg + target->g_labels)) {
		rec->sample.labels_cut = 1;
		return;
	}
	if (!addr)
		return;
	count = target->label_map ? read_label_map(rec, addr) : read_label_slice(rec, addr);
	rec->sample.labels_cut = rec->sample.labels < count;
	rec->sample.label_words = rec->sample.count - before;
}

#endif
