/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room waits uses of lock_fields. */
#ifndef LOCK_FIELDS_INTERNAL_H
#define LOCK_FIELDS_INTERNAL_H

#include "waits/lock_fields.h"

/* The lock's name, by the code that called it: `stack` has the addresses that return to its
 * callers, the innermost first and with load bias 0. NULL: not known. The caller frees. */
char *lock_fields_called(struct lock_fields *fields, const uint64_t *stack, size_t count,
			 const struct lock_callee *callee);
/* How many bytes from the beginnings of the structs that the lock is in, as its callers' code
 * tells: at most `max` numbers, each above 0. */
size_t lock_fields_offsets(struct lock_fields *fields, const uint64_t *stack, size_t count,
			   const struct lock_callee *callee, uint64_t *out, size_t max);

#endif
