/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the events of the BPF programs in the order of time. A single event wakes nobody up: the
 * ring buffer is read some times a second, and wakes its reader only when it fills up. */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>
#include <stddef.h>

struct errmsg;
struct events;

/* An event: begins with u64 time_ns, CLOCK_MONOTONIC. `data` is aligned to 8 bytes and lives during
 * the call. Answers false: enough. */
typedef bool events_fn(const void *data, size_t len, void *ctx);

/* Has the kernel ring buffers? 0; -1 with *err and what it takes. */
int events_check(struct errmsg *err);

/* Reads the ring buffer map of this descriptor, which stays the caller's and outlives the events.
 * Whoever reads must be the only one. NULL and *err on failure. */
struct events *events_new(int ring_fd, events_fn *fn, void *ctx, struct errmsg *err);
void events_free(struct events *events); /* NULL is all right */

/* Readable when the kernel side has woken up its reader, until events_read(). */
int events_fd(const struct events *events);
/* Passes on the events that are there. Events younger than some milliseconds are kept for the next
 * time, because an older one may still be on its way from another CPU; with `all` nothing is kept.
 * Returns false if fn has returned false: fn is then not called again. */
bool events_read(struct events *events, bool all);

#endif
