/* SPDX-License-Identifier: Apache-2.0 */
/* The spans of a program's heap, and which of their slots are allocated: runtime.mheap_.allspans,
 * of Go's src/runtime/mheap.go. A span is some pages that are divided into slots of one size. */
#ifndef SPANS_INTERNAL_H
#define SPANS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "objects/specials_internal.h"

struct errmsg;
struct memory;
struct program;

enum { SPAN_PAGE = 8192 };

struct span {
	uint64_t base;  /* address */
	uint64_t bytes; /* all of its pages */
	uint64_t elem;  /* bytes of a slot */
	uint32_t count, free_from;
	uint64_t bits;  /* where in spans.bits those of its slots are */
	uint64_t first; /* number of its first slot among all slots */
	uint64_t type;  /* from Go 1.22 on, of a slot that has a span to itself: address, 0: none */
	bool noscan;    /* no pointers are in it */
	bool large;     /* it is one slot, of no size class */
	bool unswept;   /* some of what is allocated may be garbage */
};

struct spans {
	struct span *all; /* by address; those with objects alone */
	size_t count, cap;
	uint8_t *bits;
	size_t bit_bytes, bit_cap;
	uint64_t slots;
	struct specials specials;
	bool headers; /* slots of more than 512 bytes with pointers begin with their type */
};

/* Where it is kept, in memory. 0; -1 with *err: the code that uses it is not as of known releases.
 */
int spans_find(const struct program *prog, const struct memory *mem, uint64_t bias, uint64_t *place,
	       struct errmsg *err);
/* 0; -1 with *err: it is not as Go's runtime leaves it, or takes longer than until `until_ns` of
 * CLOCK_MONOTONIC (0: ever). The caller frees. */
int spans_read(const struct memory *mem, uint64_t place, int release, uint64_t until_ns,
	       struct spans *out, struct errmsg *err);
void spans_free(struct spans *spans); /* what it points to */

/* How many bytes of those that may have pointers in them can be read, by pages of 4 KiB: a core
 * file may tell of far more than it has. Of what stands behind such a gap, some may not be counted.
 */
uint64_t spans_there(const struct spans *spans, const struct memory *mem);

/* The span that has this address; NULL: none. */
const struct span *spans_at(const struct spans *spans, uint64_t addr);
struct spans_slot {
	const struct span *span;
	uint32_t index;  /* in the span */
	uint64_t number; /* among all slots */
	uint64_t begin;  /* address */
};

/* The slot that has this address and is allocated; false: there is none. */
bool spans_slot(const struct spans *spans, uint64_t addr, struct spans_slot *out);
bool spans_is_allocated(const struct spans *spans, const struct span *span, uint32_t index);
/* Bytes of a slot that are not the object's: 8 where its type stands before it. */
uint64_t spans_header(const struct spans *spans, const struct span *span);
/* How many bytes the runtime takes for an object of this size, the header included. */
uint64_t spans_rounded(uint64_t bytes, bool noscan, int release);

#endif
