/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room gostacks uses of wait_print. */
#ifndef WAIT_PRINT_INTERNAL_H
#define WAIT_PRINT_INTERNAL_H

#include <stdbool.h>

#include "gostacks/wait_print.h"

/* Lines that begin with `indent`, nothing if it is not known:
 *	waits to receive from chan int 0xc00008c060, 2 of 10, with 3 others
 */
void wait_print(FILE *out, const char *indent, const struct wait_context *waits,
		const struct snapshot *snap, const struct goroutine *g);
/* Does it wait for a sync.Mutex or sync.RWMutex? */
bool wait_print_is_lock(const struct snapshot *snap, const struct goroutine *g);
/* A line for each circle of goroutines that wait for each other's locks, of those with one that is
 * picked, nothing if there is none:
 *	deadlock? goroutine 7 -> sync.Mutex 0xc00008c060 main.(*T).mu -> perhaps goroutine 9 -> ...
 */
void wait_print_circles(FILE *out, const struct wait_context *waits, const struct snapshot *snap,
			const unsigned char *picked);
/* An object, or null. */
void wait_json(struct json *json, const struct wait_context *waits, const struct snapshot *snap,
	       const struct goroutine *g);

#endif
