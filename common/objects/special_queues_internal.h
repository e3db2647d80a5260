/* SPDX-License-Identifier: Apache-2.0 */
/* Finalizers and cleanups whose objects have been collected, but which did not run yet: they keep
 * these objects, and all else that they need. One that waits for ever keeps all that come after it.
 * Go's src/runtime/mfinal.go, allfin, and from Go 1.25 on mcleanup.go, gcCleanups.all. */
#ifndef SPECIAL_QUEUES_INTERNAL_H
#define SPECIAL_QUEUES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct memory;
struct program;
struct specials;

struct special_queues { /* where lists of blocks begin, with load bias 0; 0: not known */
	uint64_t finalizers, cleanups;
	bool has_cleanups; /* they have a list of their own */
};

void special_queues_find(const struct program *prog, struct special_queues *out);
/* Appends those that are in the blocks. */
void special_queues_read(const struct special_queues *queues, const struct memory *mem,
			 uint64_t bias, int release, struct specials *out);

#endif
