// SPDX-License-Identifier: Apache-2.0
#include "metrics/reading_internal.h"

enum { NS_FIRST = 8, US_LAST = 26, MS_LAST = 16 }; /* powers of two: 256 ns, 67 s, 66 s */

struct reading_scale reading_scale(uint64_t unit_ns)
{
	if (unit_ns == 1)
		return (struct reading_scale){NS_FIRST, READING_BUCKETS - 1, unit_ns};
	return (struct reading_scale){0, (unit_ns == 1000 ? US_LAST : MS_LAST) + 1, unit_ns};
}

/* A value of v units is a time of less than v + 1 units. */
uint64_t reading_bound_ns(const struct reading_scale *scale, unsigned i)
{
	return ((uint64_t)1 << (scale->first + i)) * scale->unit_ns - 1;
}

unsigned reading_bucket(const struct reading_scale *scale, uint64_t value)
{
	unsigned i = 0;

	while (i < scale->count && value >> (scale->first + i))
		i++;
	return i;
}

void reading_add(struct reading *sum, const struct reading *more)
{
	sum->calls += more->calls;
	sum->panicked += more->panicked;
	sum->exited += more->exited;
	sum->process_ended += more->process_ended;
	sum->running += more->running;
	sum->total_ns += more->total_ns;
	for (unsigned i = 0; i < READING_BUCKETS; i++)
		sum->buckets[i] += more->buckets[i];
	for (unsigned i = 0; i < READING_STATES; i++)
		sum->state_ns[i] += more->state_ns[i];
}

uint64_t reading_weight(const struct reading *reading)
{
	return reading->calls + reading->panicked + reading->exited + reading->process_ended +
	       reading->running;
}
