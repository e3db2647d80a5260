/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for which semaphore, by runtime.semtable (Go's src/runtime/sema.go): trees of sudogs,
 * in a table by their addresses. From Go 1.26 on, goroutines say it themselves. */
#ifndef WAIT_SEMAPHORES_H
#define WAIT_SEMAPHORES_H

#include <stddef.h>
#include <stdint.h>

struct snapshot;
struct snapshot_source;

/* Adds to the waits of goroutines that have none. `tables`: where it may be, of which at most one
 * is. */
void wait_semaphores(const struct snapshot_source *from, const uint64_t *tables, size_t count,
		     struct snapshot *snap);

#endif
