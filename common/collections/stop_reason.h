/* SPDX-License-Identifier: Apache-2.0 */
/* Why the world is stopped, in the words of Go's runtime. */
#ifndef STOP_REASON_H
#define STOP_REASON_H

#include <stdbool.h>
#include <stdint.h>

struct stacks;

enum stop_gc { STOP_NO_GC, STOP_SWEEP_TERMINATION, STOP_MARK_TERMINATION };

enum gc_trigger { GC_TRIGGER_UNKNOWN, GC_TRIGGER_HEAP, GC_TRIGGER_TIME, GC_TRIGGER_CALL };

struct stop_reason {
	const char *words; /* NULL: not known. Valid as long as the stacks. */
	enum stop_gc gc;   /* does a collection ask for it? */
};

/* Why the collection begins, by who calls runtime.gcStart, as the stack of its first stop shows.
 */
enum gc_trigger stop_reason_trigger(const struct stacks *stacks, uint64_t hash, uint64_t bias);

/* Go 1.21 and later: by the runtime's number. */
struct stop_reason stop_reason_number(uint64_t number);
/* Before: by who asks, as the stack shows; where the runtime has no words of its own for that
 * function, its name. */
struct stop_reason stop_reason_asker(const struct stacks *stacks, uint64_t hash, uint64_t bias);

#endif
