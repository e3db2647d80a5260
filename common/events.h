/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel side reports, in the order of time. The ring buffer wakes nobody up for a single
 * event: it is looked into some times a second, and woken for only when it fills up. */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpfprog;
struct errmsg;
struct events;

/* An event: begins with u64 time_ns. `data` is aligned to 8 bytes and lives during the call.
 * Answers false: enough. */
typedef bool events_fn(const void *data, size_t len, void *ctx);

/* Reads ring buffer map `name`. NULL and *err on failure. */
struct events *events_new(const struct bpfprog *prog, const char *name, events_fn *fn, void *ctx,
			  struct errmsg *err);
void events_free(struct events *events); /* NULL is all right */

int events_fd(const struct events *events); /* readable when there is much to read */
/* Hands on what is there: what is younger than some milliseconds is kept for the next time, as an
 * older one may still be on its way from another CPU; with `all` nothing is kept. Returns false
 * when fn has said so: then fn is not called any more. */
bool events_read(struct events *events, bool all);

#endif
