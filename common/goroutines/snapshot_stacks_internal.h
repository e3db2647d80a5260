/* SPDX-License-Identifier: Apache-2.0 */
/* Different stacks, each kept once. */
#ifndef SNAPSHOT_STACKS_INTERNAL_H
#define SNAPSHOT_STACKS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snapshot_stacks;

struct snapshot_stacks *snapshot_stacks_new(void); /* has number 0: the empty one */
void snapshot_stacks_free(struct snapshot_stacks *stacks);
/* false: they take too much memory together */
bool snapshot_stacks_add(struct snapshot_stacks *stacks, const uint64_t *frames, size_t count,
			 uint32_t *number);
const uint64_t *snapshot_stacks_at(const struct snapshot_stacks *stacks, uint32_t number,
				   size_t *count);
size_t snapshot_stacks_count(const struct snapshot_stacks *stacks); /* at least 1 */

#endif
