/* SPDX-License-Identifier: Apache-2.0 */
/* What latency.bpf.c and the tools share. Times in ns of CLOCK_MONOTONIC. */
#ifndef LATENCY_H
#define LATENCY_H

#include <stdint.h>

/* Map `inflight`: a call that has begun. A goroutine's stack may move, but how far below its upper
 * end a frame lies does not change; goroutine IDs are never used again. System stacks have no such
 * ID and never move: there goid is the thread's ID with LATENCY_THREAD set, depth is minus the
 * stack pointer. */
struct latency_key {
	uint32_t tgid; /* in the initial PID namespace */
	uint32_t row;
	uint64_t goid;
	uint64_t depth; /* bytes below the stack's upper end */
	uint32_t copy;  /* cookie.h */
	uint32_t pad;
};

#define LATENCY_THREAD (1ULL << 63)

struct latency_value {
	uint64_t start;
};

/* Array `control`, one entry. */
struct latency_control {
	uint32_t active; /* 0: handlers return at once */
	uint32_t epoch;  /* 0 or 1: which half of `extremes` is written */
};

/* Per-CPU array `outcomes`, one for each row, to be summed. */
struct latency_outcome {
	uint64_t count;     /* calls that returned */
	uint64_t total;     /* their time */
	uint64_t panicked;  /* found abandoned by a later call in the same place */
	uint64_t switched;  /* the same on a system stack, which the runtime leaves by a jump */
	uint64_t untracked; /* not timed: `inflight` was full */
};

#define LATENCY_OUTCOME_WORDS 5

/* Array `extremes`: entry epoch * ROWS + row. Zero is "none yet". */
struct latency_extremes {
	uint64_t max;
	uint64_t inverted_min; /* ~min */
};

/* Per-CPU array `tallies`, one word each, to be summed. */
enum latency_tally {
	LATENCY_LOST_END,       /* a latency_end that could not be made or found the ring full */
	LATENCY_LOST_SLOT,      /* a call timed, but its histogram slot found no room */
	LATENCY_LOST_GOROUTINE, /* a call whose goroutine could not be read */
	LATENCY_SENT_END,       /* a latency_end, lost ones too where the ring was full */
	LATENCY_TALLIES,
};

/* Ring buffer `ends`: calls of this goroutine at `depth` or deeper, begun at `now` or before, will
 * never return. */
struct latency_end {
	uint32_t kind; /* enum cookie_kind: COOKIE_RECOVERED, _GOEXIT, _FATAL */
	uint32_t tgid;
	uint64_t goid;
	uint64_t depth;
	uint64_t now;
};

/* Hash `slots`, where there are too many histograms for an array: the key */
#define LATENCY_SLOT_BITS 10

_Static_assert(sizeof(struct latency_key) == 32, "shared");
_Static_assert(sizeof(struct latency_outcome) == 8 * LATENCY_OUTCOME_WORDS, "shared");
_Static_assert(sizeof(struct latency_end) == 32, "shared");

#endif
