/* SPDX-License-Identifier: Apache-2.0 */
/* What goargdist has counted in the kernel, by values or as histograms:
 *   [12:00:05]
 *   r:app:main.Put k.Name, len(s)
 *           COUNT      EVENT
 *           12         k.Name = "bob", len(s) = 3
 * or as JSON. */
#ifndef ARGDIST_H
#define ARGDIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct argdist;
struct errmsg;
struct traceplan;
struct tracer;

struct argdist_config {
	char *const *probes; /* as typed */
	const bool *histograms;
	size_t probe_count;
	uint64_t top; /* -T: so many values of a PROBE, those counted most; 0: all */
	uint32_t string_max;
	bool cumulative; /* -c: counts are of all the time, not of an interval */
	bool json;
};

/* All three outlive it. When all is attached. */
struct argdist *argdist_new(const struct argdist_config *config, const struct traceplan *plan,
			    const struct tracer *tracer);
void argdist_free(struct argdist *dist); /* NULL is all right */

/* Prints what has been counted since the last time. -1 with *err: it could not be read. */
int argdist_show(struct argdist *dist, struct errmsg *err);
/* On stderr, what was not counted as it should be. */
void argdist_say_lost(const struct argdist *dist);

#endif
