/* SPDX-License-Identifier: Apache-2.0 */
/* A program's own profile of its allocations, as runtime.MemProfile would return it now, read from
 * the memory of the process while it runs. */
#ifndef HEAP_INTERNAL_H
#define HEAP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/heap_vars_internal.h"

struct errmsg;
struct memory;

enum { HEAP_BUCKETS_MAX = 1 << 20, HEAP_WORDS_MAX = 1 << 24, HEAP_DEPTH_MAX = 1024 };

struct heap_count {
	uint64_t objects, bytes;
};

struct heap_bucket { /* allocations of one size by one stack, of those that were sampled */
	uint64_t size;
	struct heap_count allocated, freed;
	uint64_t record; /* address */
	size_t words;    /* its return addresses in heap.words, the innermost first */
	uint32_t depth;
};

struct heap_source {
	const struct memory *mem;
	const struct heap_vars *vars;
	uint64_t bias;
	int release; /* N of Go 1.N */
};

struct heap {
	struct heap_bucket *all; /* the latest new stack first */
	size_t count, cap;
	uint64_t *words;
	size_t word_count, word_cap;
	size_t left_out;    /* buckets for which there was no room */
	int64_t rate;       /* a sample every so many bytes on the average; 0: none is taken */
	uint32_t cycle;     /* collections so far */
	uint32_t of;        /* it is as of the end of this one's mark phase, ... */
	bool early;         /* ... or, as none was published yet: of all that was allocated */
	uint64_t marked_ns; /* when that ended, since 1970; 0: not known */
	bool unsteady;      /* it did not hold still: some may be counted twice or not at all */
};

/* 0; -1 with *err: not readable, or no list of such buckets. The caller frees with heap_free(). */
int heap_read(const struct heap_source *from, struct heap *out, struct errmsg *err);
void heap_free(struct heap *heap); /* what it points to */

/* What allocations that were seen by sampling stand for, as runtime/pprof has it (scaleHeapSample):
 * each is divided by the probability that one of its size is sampled. */
struct heap_count heap_scale(struct heap_count sampled, int64_t rate);
/* allocated - freed */
struct heap_count heap_in_use(const struct heap_bucket *bucket);

#endif
