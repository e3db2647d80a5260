/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of a profile, by the frames that are shown of them. Each is known by a number, from
 * one look at a program to the next. */
#ifndef HEAP_STACKS_INTERNAL_H
#define HEAP_STACKS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

struct frame;
struct frames;
struct heap;
struct heap_bucket;
struct heap_stacks;
struct pattern;
struct profile;

struct heap_stacks *heap_stacks_new(const struct frames *frames); /* which outlive it */
void heap_stacks_free(struct heap_stacks *stacks);                /* NULL is all right */

/* The number of a bucket's stack. As runtime/pprof has it, without the runtime's functions that it
 * begins with, those that allocate, unless there are no others. */
size_t heap_stacks_number(struct heap_stacks *stacks, const struct heap *heap,
			  const struct heap_bucket *bucket);
/* Innermost first. */
void heap_stacks_each(const struct heap_stacks *stacks, size_t number,
		      void (*fn)(void *ctx, const struct frame *frame), void *ctx);
/* The same frames, to a row of a profile, with their addresses. */
void heap_stacks_profile(struct heap_stacks *stacks, const struct heap *heap,
			 const struct heap_bucket *bucket, struct profile *profile);

#endif
