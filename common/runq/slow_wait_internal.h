/* SPDX-License-Identifier: Apache-2.0 */
/* One long wait: from the kernel's event to who ran meanwhile, added up, and printed. */
#ifndef SLOW_WAIT_INTERNAL_H
#define SLOW_WAIT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/runqslower.h"

struct slow_ran {
	uint64_t goid, start, ns; /* start: as in struct runq_turn */
};

struct slow_wait {
	struct slow_ran ran[RUNQ_TURNS]; /* each goroutine once, most time first */
	size_t count;
	uint64_t cut_ns; /* of the wait's beginning, of which the turns are not kept any more */
};

/* Of the event's turns those that lie in the wait, as far as they do. */
void slow_wait_read(const struct runq_slow *event, struct slow_wait *out);

/* The name of the function at this address of a process; NULL: not known. */
typedef const char *slow_wait_name(void *ctx, uint64_t addr);

void slow_wait_print_head(void);
void slow_wait_print(const struct runq_slow *event, const struct slow_wait *wait,
		     slow_wait_name *name, void *ctx);
void slow_wait_json(const struct runq_slow *event, const struct slow_wait *wait, bool timestamp,
		    slow_wait_name *name, void *ctx);

#endif
