/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room goroutines uses of wait. */
#ifndef WAIT_INTERNAL_H
#define WAIT_INTERNAL_H

#include "goroutines/wait.h"

/* Appends what it waits for: nothing, where that is not found or is not its own. */
void wait_read(const struct memory *mem, const struct wait_layout *layout,
	       const struct wait_source *from, struct waits *out);

#endif
