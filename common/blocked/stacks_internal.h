/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room blocked uses of stacks. */
#ifndef STACKS_INTERNAL_H
#define STACKS_INTERNAL_H

#include "blocked/stacks.h"

/* A number that stacks share if the same is shown of them, though they differ in frames of the
 * runtime: calls are inlined in several places. 0: not kept */
uint64_t stacks_shown(const struct stacks *stacks, uint64_t hash, uint64_t bias);

/* For struct tracer_config's `plan`, where all stacks are those of probed places. -1 with *err: a
 * program's functions keep no frame pointers. */
int stacks_check(void *ctx, struct tracer *tracer, struct errmsg *err);

/* The same of one that stack_keep_here() has kept at a probed place, the tracer's of this number:
 * it begins with the function, or the inlined copy, that is probed. All frames, the runtime's too,
 * but for runtime.goexit, which every goroutine returns to. */
void stacks_profile_at(const struct stacks *stacks, uint64_t hash, uint32_t place,
		       struct profile *profile);

#endif
