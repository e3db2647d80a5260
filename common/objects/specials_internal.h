/* SPDX-License-Identifier: Apache-2.0 */
/* What the runtime has noted of single objects, outside of the heap, and what it keeps alive by
 * that: src/runtime/mheap.go, mspan.specials. */
#ifndef SPECIALS_INTERNAL_H
#define SPECIALS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory;

enum special_how {
	SPECIAL_FINALIZER,
	SPECIAL_CLEANUP,
	SPECIAL_WEAK_POINTER,
	/* these have left the objects for a queue: special_queues_read() */
	SPECIAL_QUEUED_FINALIZER,
	SPECIAL_QUEUED_CLEANUP
};
enum { SPECIAL_WORDS = 4 };

struct special {
	enum special_how how;
	/* of a finalizer, which keeps all that this object points to; the others keep nothing of
	 * the object that they are of. 0: none */
	uint64_t object;
	uint64_t words[SPECIAL_WORDS]; /* functions, handles, queued objects; 0: none */
	/* the type of pointers to an object, and the object: addresses; 0: it is not told */
	uint64_t type, typed;
};

struct specials {
	struct special *all;
	size_t count, cap;
	size_t read;   /* of any kind */
	size_t blocks; /* of queues */
	bool left_out; /* there are more than there can be in a real program, or unreadable ones */
};

/* Appends those of a list that begins at `first` (0: it is empty), of a span at `base`. */
void specials_add(struct specials *specials, const struct memory *mem, uint64_t first,
		  uint64_t base, int release);
void specials_put(struct specials *specials, const struct special *special); /* appends it */
void specials_free(struct specials *specials);                               /* what it points to */

#endif
