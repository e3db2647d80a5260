/* SPDX-License-Identifier: Apache-2.0 */
/* Where a program's runtime keeps its own profile of allocations (Go's src/runtime/mprof.go), found
 * by the code that uses it. Addresses are with load bias 0. */
#ifndef HEAP_VARS_INTERNAL_H
#define HEAP_VARS_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct errmsg;
struct program;

struct heap_vars {
	uint64_t buckets; /* runtime.mbuckets, the first of a list */
	uint64_t cycle;   /* runtime.mProfCycle; to Go 1.18 runtime.mProf */
	uint64_t rate;    /* runtime.MemProfileRate */
	uint64_t last_gc; /* runtime.memstats.last_gc_unix, see heap_vars.c; 0: not found */
	bool used;        /* the program has runtime.MemProfile, so its linker leaves sampling on */
};

/* 0; -1 with *err: its code is not as that of known releases. */
int heap_vars_find(const struct program *prog, struct heap_vars *out, struct errmsg *err);

/* What follows memstats.last_gc_unix in all releases from 1.15 on: numbers of bytes behind it. */
enum {
	HEAP_PAUSE_TOTAL = 8,
	HEAP_PAUSE_NS = 16, /* [256], of the last collections */
	HEAP_PAUSES = 256,
	HEAP_PAUSE_END = HEAP_PAUSE_NS + 8 * HEAP_PAUSES, /* [256], when each ended: ns since 1970
							   */
	HEAP_NUMGC = HEAP_PAUSE_END + 8 * HEAP_PAUSES,    /* 4 bytes */
};

#endif
