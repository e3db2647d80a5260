// SPDX-License-Identifier: Apache-2.0
/* Keeps each set of labels (runtime/pprof) of goroutines that wait once, by its hash.
 *
 *   -DG_LABELS=n      byte offset in Go's struct g; 0: not known
 *   -DLABEL_MAP       it leads to a map, not to a slice
 *   -DLABEL_SETS=n    room for them
 *
 * Inserted into parts/waits.bpf.c, after parts/stacks.bpf.c.
 */
#define LABELS_READING 32768

/* while a set is read: memory of a CPU would be another's as soon as the program waits */
BPF_F_TABLE("hash", struct goroutine_key, struct wait_labels, labels_reading, LABELS_READING,
	    BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", u64, struct wait_labels, label_sets, LABEL_SETS, BPF_F_NO_PREALLOC);
BPF_ARRAY(no_labels, struct wait_labels, 1);

#define record wait_labels
#define RECORD_WORDS WAIT_LABEL_WORDS
#include "parts/labels.h"
#undef record

static inline u64 labels_hash(struct wait_labels *rec)
{
	u64 hash = stack_hash(0xcbf29ce484222325, rec->sample.labels_cut);
	u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < WAIT_LABEL_WORDS; i = loop_next(i)) {
		if (i >= rec->sample.count)
			break;
		hash = stack_hash(hash, rec->words[i & (WAIT_LABEL_WORDS - 1)]);
	}
	return hash;
}

/* The labels of the goroutine whose g is `who`. Returns their hash; 0: it has none. */
static inline u64 labels_keep(struct goroutine_key *who)
{
	struct profile_target target = {.g_labels = G_LABELS};
	u64 addr = 0, hash = WAIT_LABELS_LOST;
	struct wait_labels *none, *rec;
	u32 zero = 0;

#ifdef LABEL_MAP
	target.label_map = 1;
#endif
	if (G_LABELS && !read_user(&addr, sizeof(addr), who->id + G_LABELS) && !addr)
		return 0;
	none = no_labels.lookup(&zero);
	if (!none || labels_reading.update(who, none)) {
		count_loss(WAIT_LOSS_LABELS);
		return hash;
	}
	rec = labels_reading.lookup(who);
	if (rec) {
		read_labels(rec, &target, who->id);
		hash = labels_hash(rec);
		if (!label_sets.lookup(&hash) && label_sets.update(&hash, rec)) {
			count_loss(WAIT_LOSS_LABELS);
			hash = WAIT_LABELS_LOST;
		}
	}
	labels_reading.delete(who);
	return hash;
}
