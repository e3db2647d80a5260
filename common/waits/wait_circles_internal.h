/* SPDX-License-Identifier: Apache-2.0 */
/* Goroutines that wait for each other: each for something that only the next may release, round to
 * the first. */
#ifndef WAIT_CIRCLES_INTERNAL_H
#define WAIT_CIRCLES_INTERNAL_H

#include <stdint.h>

struct wait_candidates;
struct wait_holders_source;

#define WAIT_NOBODY UINT32_MAX

struct wait_circle_step { /* of each goroutine */
	uint32_t next; /* whom it waits for: a number in the snapshot; WAIT_NOBODY: in no circle */
	/* There is another who may release it, or nothing but that the next has its address. */
	enum { CIRCLE_SURE, CIRCLE_PERHAPS } how;
};

/* Who is in a circle waits for a single thing, and everybody who may release it waits in the same
 * way, and cannot go on either. */
void wait_circles_find(const struct wait_holders_source *source,
		       const struct wait_candidates *candidates, struct wait_circle_step *steps);

#endif
