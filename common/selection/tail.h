/* SPDX-License-Identifier: Apache-2.0 */
/* Where calls end that have left their function by a jump. */
#ifndef SELECTION_TAIL_H
#define SELECTION_TAIL_H

#include <stdbool.h>
#include <stddef.h>

#include "sites/site.h"

/* An end of calls that are gone on with by jumps, wherever they began: a return, or a jump to what
 * is not known, or has no ends that can be probed. */
struct selection_tail {
	struct site site;
	size_t item;    /* one of those with calls that may end here */
	unsigned calls; /* of one goroutine that may end here at once: so many probes are needed */
	bool is_entry;  /* the function that this is in begins here too */
};

struct selection_tails {
	struct selection_tail *items;
	size_t count, cap;
};

#endif
