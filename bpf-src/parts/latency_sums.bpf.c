// SPDX-License-Identifier: Apache-2.0
/* Adds up calls that have ended, in a log-linear histogram, and calls that were lost. The tools'
 * side is common/latency/latency.h.
 *
 *   -DROWS=n      names that are told apart
 *   -DUNIT=n      ns in a unit of the histogram
 *   -DPER_ROW     a histogram for each row, not one for all
 *   -DPLACES=n    room for them: no more than they can need, as the kernel allocates the hash
 *                 table's buckets at once
 */
#include "parts/assembly.h"
#include "parts/extremes.h"
#include "parts/losses.bpf.c"
#include "shared/histogram_index.h"

struct control {
	u32 active;
	u32 epoch; /* which of a row's two entries in `extremes` is in use */
};

BPF_ARRAY(control, struct control, 1);
BPF_PERCPU_ARRAY(sums, struct call_sums, ROWS);
BPF_ARRAY(extremes, struct call_extremes, ROWS * 2);
#ifdef PER_ROW
BPF_F_TABLE("hash", u64, u64, places, PLACES, BPF_F_NO_PREALLOC);
#else
BPF_PERCPU_ARRAY(histogram, u64, HISTOGRAM_SLOTS);
#endif

static inline void count_abandoned(u64 row, enum ending how)
{
	struct call_sums *sum = sums.lookup(KEY(row));

	if (!sum)
		return;
	/* indexed by `how`: without branches, which the verifier would follow both ways */
	__sync_fetch_and_add(&sum->panicked + (how & 3), 1);
}

static inline void count_jumped(u64 row)
{
	struct call_sums *sum = sums.lookup(KEY(row));

	if (sum)
		__sync_fetch_and_add(&sum->jumped, 1);
}

/* Counts why a map took no entry: it had no room (counted as `full`), or the kernel no memory. */
static inline void count_refusal(long error, u32 full)
{
	count_loss(error == -E2BIG ? full : LOSS_MEMORY);
}

static inline void place(u32 row, u64 ns)
{
	u64 slot = histogram_index(ns / UNIT);
	u64 *count;
#ifdef PER_ROW
	u64 key = latency_place(row, slot), none = 0;

	count = places.lookup(&key);
	if (!count) {
		/* several CPUs may try: the first one inserts it */
		places.insert(&key, &none);
		count = places.lookup(&key);
	}
	if (!count) {
		count_loss(LOSS_PLACES);
		return;
	}
#else
	count = histogram.lookup(KEY(slot));
	if (!count)
		return;
#endif
	__sync_fetch_and_add(count, 1);
}

static inline void on_end(u64 row, u64 ns, u32 epoch)
{
	struct call_sums *sum = sums.lookup(KEY(row));
	u64 index = row * 2 + (epoch & 1);
	struct call_extremes *ext = extremes.lookup(KEY(index));

	if (sum) {
		__sync_fetch_and_add(&sum->count, 1);
		__sync_fetch_and_add(&sum->total_ns, ns);
	}
	if (ext) {
		extremes_raise(&ext->max_ns, ns);
		extremes_raise(&ext->not_min_ns, ~ns);
	}
	place(row, ns);
}
