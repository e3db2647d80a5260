/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel side reports, in the order of time. The ring buffer wakes nobody up for a single
 * event: it is looked into some times a second, and woken for only when it fills up. */
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
/* Hands on what is there: what is younger than some milliseconds is kept for the next time, as an
 * older one may still be on its way from another CPU; with `all` nothing is kept. Returns false
 * when fn has said so: then fn is not called any more. */
bool events_read(struct events *events, bool all);

#endif
