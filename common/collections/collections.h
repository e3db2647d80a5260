/* SPDX-License-Identifier: Apache-2.0 */
/* Puts collections and stops of the world together, from the events of gogc.bpf.c in the order of
 * time. The traced program may tell anything: times that it tells count only where they agree with
 * those of the events. */
#ifndef COLLECTIONS_H
#define COLLECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/gc.h"
#include "collections/stop_reason.h"

enum { COLLECTION_STOPS = 8 }; /* two, but for a mark termination that is begun anew */

struct stop {
	struct stop_reason reason;
	enum gc_trigger trigger; /* of a sweep termination: what began the collection */
	uint64_t begin_ns, ns;   /* until the world ran again; CLOCK_MONOTONIC */
	uint64_t stopping_ns;    /* until all had stopped */
	uint64_t goid;           /* who asked for it, */
	uint64_t stack, bias;    /* as struct gc_event's; and the process's load bias */
	uint32_t pid;
	/* who has stopped last; goid 0: not known, as where that was in a system call, or where
	 * there was nobody to wait for */
	uint64_t last_goid, last_stack;
};

struct collection {
	uint32_t pid;
	/* its beginning was seen: the first stop is that which began it */
	bool begun;
	enum gc_trigger trigger;
	struct stop stops[COLLECTION_STOPS];
	size_t stop_count, stops_left_out;
	uint64_t ns, mark_ns;      /* all of it; marking while the program runs */
	struct gc_numbers numbers; /* as the process told them at its end */
};

struct collections_report {
	void (*collection)(void *ctx, const struct collection *collection);
	void (*stop)(void *ctx, const struct stop *stop); /* that no collection asked for */
	void *ctx;
};

struct collections *collections_new(const struct collections_report *report);
void collections_free(struct collections *collections); /* NULL is all right */

/* With GC_STOP: what is known of it, of which the event's own words are filled in here. Else NULL.
 */
void collections_event(struct collections *collections, const struct gc_event *event,
		       const struct stop *stop);

#endif
