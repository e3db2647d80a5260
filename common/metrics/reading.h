/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the calls of one function at one moment, since tracing began: it is published as
 * counters, which never go back. */
#ifndef READING_H
#define READING_H

#include <stddef.h>
#include <stdint.h>

enum { READING_BUCKETS = 30, READING_LOSSES = 9, READING_STATES = 64 };

struct reading {
	uint64_t calls; /* where they are timed: those that are in the buckets */
	uint64_t panicked, exited, process_ended;
	uint64_t running; /* now */
	uint64_t total_ns;
	uint64_t buckets[READING_BUCKETS]; /* not cumulative; those behind the last have no bound */
	uint64_t state_ns[READING_STATES]; /* of total_ns, by the goroutine's state */
};

struct reading_loss {       /* calls that are in no reading */
	const char *reason; /* a word or several, with underscores */
	uint64_t calls;
};

/* The bounds of buckets: the upper ends of bcc's rows, which are powers of two of the unit that
 * calls are timed in, less one: from about 256 ns, or the unit, to about a minute. */
struct reading_scale {
	unsigned first, count; /* bound i is below 2^(first + i) units */
	uint64_t unit_ns;
};

/* unit_ns: 1, 1000 or 1000000 */
struct reading_scale reading_scale(uint64_t unit_ns);
/* The first bucket whose bound is not below the value, which is in units; scale->count: none is. */
unsigned reading_bucket(const struct reading_scale *scale, uint64_t value);

#endif
