/* SPDX-License-Identifier: Apache-2.0 */
/* Which goroutines of a snapshot are wanted. */
#ifndef GOSTACKS_PICK_H
#define GOSTACKS_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct pattern;
struct snapshot;

struct goroutines_pick {
	uint64_t goid;     /* this alone; 0: any */
	const char *state; /* of this state; NULL: of any */
	bool system;       /* those of the runtime, too */
	/* whose stack has a function that one of these matches; none: any */
	struct pattern **patterns;
	size_t pattern_count;
};

/* For each goroutine, 1 or 0; *count of them are wanted. The caller frees. */
unsigned char *goroutines_pick(const struct goroutines_pick *pick, const struct snapshot *snap,
			       const struct frames *frames, size_t *count);

#endif
