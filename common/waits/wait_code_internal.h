/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room waits uses of wait_code. */
#ifndef WAIT_CODE_INTERNAL_H
#define WAIT_CODE_INTERNAL_H

#include "waits/wait_code.h"

/* How many bytes the lock is behind the beginnings of structs that it is in: at most `max` numbers.
 */
size_t wait_code_offsets(const struct frames *frames, struct lock_fields *fields,
			 const uint64_t *addrs, size_t count, enum wait_kind kind, uint64_t *out,
			 size_t max);
/* All of these outlive it. */
struct wait_code *wait_code_new(const struct snapshot *snap, const struct frames *frames,
				struct lock_fields *fields);
void wait_code_free(struct wait_code *code); /* NULL is all right */
/* The same for a goroutine of the snapshot, by the number of its stack. */
const char *wait_code_name(struct wait_code *code, uint32_t stack, enum wait_kind kind,
			   bool in_sync);

#endif
