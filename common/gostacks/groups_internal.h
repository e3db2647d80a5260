/* SPDX-License-Identifier: Apache-2.0 */
/* Goroutines that do the same: with the same state, stack and creator. */
#ifndef GROUPS_INTERNAL_H
#define GROUPS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "goroutines/snapshot.h"

struct group {
	const struct goroutine *first; /* the one with the lowest goid */
	size_t count;
	uint64_t shortest, longest; /* ns that they wait, where noted */
	size_t noted;               /* of how many */
	bool waits_alike;           /* all of them wait for one and the same thing */
};

/* Of the goroutines that are picked (`picked` NULL: all), the largest group first, of equal ones
 * the oldest goroutine's. The caller frees. */
struct group *groups_make(const struct snapshot *snap, const unsigned char *picked, size_t *count);

#endif
