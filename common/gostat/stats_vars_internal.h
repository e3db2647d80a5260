/* SPDX-License-Identifier: Apache-2.0 */
/* Where the runtime keeps its numbers, found by the code that uses them. Addresses are with load
 * bias 0; 0: not known. */
#ifndef STATS_VARS_INTERNAL_H
#define STATS_VARS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct program;
struct runtime_refs;

enum {
	STATS_CLASSES = 68,
	STATS_COUNTS = 3,
	STATS_COUNTS_APART = 1176,
	STATS_STACKS = 3,
	STATS_OWN = 12,
	STATS_SLICES = 8
};

struct stats_vars {
	uint64_t gomaxprocs;           /* 4 bytes */
	uint64_t slices[STATS_SLICES]; /* one of these may be allp; 0: there are no more */
	uint64_t gc_cycles;            /* 4 bytes */
	uint64_t pause_total;          /* the others: 8 bytes */
	uint64_t last_gc;
	uint64_t gc_fraction;               /* a double */
	uint64_t heap_inuse, heap_released; /* runtime.gcController's, or memstats' */
	uint64_t heap_free;                 /* idle and not released, */
	uint64_t heap_idle;                 /* or both together, */
	uint64_t heap_sys;                  /* or all that is in use or idle */
	uint64_t total_alloc, total_free;
	uint64_t counts, counts_apart; /* struct stats_counts: the first of three, and how far apart
					* they are, STATS_COUNTS_APART at most */
	uint64_t tiny;      /* what struct stats_counts has as `tiny` is not in it, but here */
	bool counted_bytes; /* bytes are counted by size there, and nowhere else */
	uint64_t next_gc;   /* the goal itself, */
	uint64_t goal, sweep_goal, triggered, limit; /* or what it is made of: from Go 1.19 on */
	uint64_t gogc;                               /* 4 bytes, signed */
	/* they are added up; 0: there are no more */
	uint64_t stacks[STATS_STACKS]; /* of goroutines */
	uint64_t own[STATS_OWN]; /* the runtime's own, and the stacks of the system's threads */
};

/* Allocations of one generation: all are added up. Go's src/runtime/mstats.go, heapStatsDelta */
struct stats_counts {
	uint64_t tiny; /* which are small ones in a block of another */
	uint64_t large_bytes, large, small[STATS_CLASSES];
	uint64_t large_freed_bytes, large_freed, small_freed[STATS_CLASSES];
};

/* Of gcMarkTermination's: work.heap1 = heapLive, which are loaded and stored one after the other */
bool stats_vars_live(const struct runtime_refs *refs, uint64_t *live, uint64_t *heap1);

void stats_vars_find(const struct program *prog, struct stats_vars *out);

#endif
