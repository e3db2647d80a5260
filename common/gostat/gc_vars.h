/* SPDX-License-Identifier: Apache-2.0 */
/* Where the runtime keeps what GODEBUG=gctrace=1 prints of a collection, found by the code that
 * prints it. Addresses are with load bias 0; 0: not known. */
#ifndef GC_VARS_H
#define GC_VARS_H

#include <stdint.h>

struct program;

struct gc_vars {
	uint64_t cycles; /* 4 bytes: memstats.numgc, how many have ended */
	uint64_t times;  /* work.tSweepTerm, tMark, tMarkTerm, tEnd: ns, CLOCK_MONOTONIC */
	uint64_t heap;   /* work.heap0, heap1, heap2: bytes as it began, ended, and that are live */
	uint64_t goal;   /* bytes: that of the collection that has ended */
	uint64_t assist; /* ns: how long goroutines have marked for what they allocated */
};

void gc_vars_find(const struct program *prog, struct gc_vars *out);

#endif
