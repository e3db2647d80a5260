/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room goroutines uses of snapshot_args. */
#ifndef SNAPSHOT_ARGS_INTERNAL_H
#define SNAPSHOT_ARGS_INTERNAL_H

#include "goroutines/snapshot_args.h"

/* Appends those of one goroutine. */
void snapshot_args_note(struct snapshot_args *args, const uint8_t *stack,
			const struct unwound_frames *frames);
/* Appends what was noted, and returns where it is; SNAPSHOT_NO_ARGS: nowhere, there is too much. */
uint64_t snapshot_args_add(struct snapshot_args *args, const struct snapshot_args *noted);
/* Frame `number` of what is at `at`; NULL: there is none. */
const uint8_t *snapshot_args_at(const struct snapshot_args *args, uint64_t at, size_t number,
				size_t *len);

#endif
