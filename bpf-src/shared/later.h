/* SPDX-License-Identifier: Apache-2.0 */
/* A read that generated code puts off, in one word; 0: none. Used by both sides; gotrace observes
 * the limits.
 *
 *   bits  0-13  place in the record of the pointer that is read through; what else the reading
 *               takes stands after it: a length, or an interface's data word
 *   bits 14-27  place in the record that it goes to
 *   bits 28-41  bytes to read at most; of an interface: how its type is found (fetch.h)
 *   bits 42-45  0, or how many such reads there are: those of a slice's elements, of two words
 * each. The slice's state stands before them: only those are done of which it has the words bits
 * 46-57  bytes of an element of what is read; of an interface: how many levels, at most bits 58-61
 * how many of them are done bits 62-63  LATER_ELEMENTS, or LATER_DYNAMIC: what an interface holds
 */
#ifndef LATER_H
#define LATER_H

#define LATER_PLACE_BITS 14
#define LATER_TO_SHIFT 14
#define LATER_MAX_SHIFT 28
#define LATER_COUNT_SHIFT 42
#define LATER_SIZE_SHIFT 46
#define LATER_DONE_SHIFT 58
#define LATER_WHAT_SHIFT 62
#define LATER_ELEMENTS 2ULL
#define LATER_DYNAMIC 3ULL
#define LATER_PLACES (1 << LATER_PLACE_BITS) /* bytes of a record; nothing in it is larger */
#define LATER_SIZE_MAX 0xfff                 /* bytes of an element */
#define LATER_COUNT_MAX 15
#define LATER_OWN 16 /* bytes of an element that is a string or an interface */

/* elements of `size` bytes, `max` bytes of them at most, to `to` + 8; their state to `to` */
static inline unsigned long long later_elements(unsigned long long own, unsigned long long to,
						unsigned long long max, unsigned long long size)
{
	return LATER_ELEMENTS << LATER_WHAT_SHIFT | own | to << LATER_TO_SHIFT |
	       max << LATER_MAX_SHIFT | size << LATER_SIZE_SHIFT;
}

static inline unsigned long long later_dynamic(unsigned long long own, unsigned long long to,
					       unsigned long long how, unsigned long long levels)
{
	return LATER_DYNAMIC << LATER_WHAT_SHIFT | own | to << LATER_TO_SHIFT |
	       how << LATER_MAX_SHIFT | levels << LATER_SIZE_SHIFT;
}

/* The same for each of `count` elements of a slice, from the first one's on. */
static inline unsigned long long later_of_each(unsigned long long count, unsigned long long word)
{
	return word | count << LATER_COUNT_SHIFT;
}

static inline int later_is_dynamic(unsigned long long word)
{
	return word >> LATER_WHAT_SHIFT == LATER_DYNAMIC;
}

static inline unsigned long long later_own(unsigned long long word)
{
	return word & (LATER_PLACES - 1);
}

static inline unsigned long long later_to(unsigned long long word)
{
	return word >> LATER_TO_SHIFT & (LATER_PLACES - 1);
}

/* `max` or `how` */
static inline unsigned long long later_max(unsigned long long word)
{
	return word >> LATER_MAX_SHIFT & (LATER_PLACES - 1);
}

/* Bytes of the record for what is read of at most `max` bytes: its state, and these */
static inline unsigned long long later_room(unsigned long long max)
{
	return 8 + (max + 7) / 8 * 8;
}

static inline unsigned long long later_count(unsigned long long word)
{
	return word >> LATER_COUNT_SHIFT & LATER_COUNT_MAX;
}

static inline unsigned long long later_done(unsigned long long word)
{
	return word >> LATER_DONE_SHIFT & LATER_COUNT_MAX;
}

/* What is to be read after that; 0: nothing */
static inline unsigned long long later_next(unsigned long long word)
{
	return later_done(word) + 1 < later_count(word) ? word + (1ULL << LATER_DONE_SHIFT) : 0;
}

/* bytes of an element, or levels */
static inline unsigned long long later_size(unsigned long long word)
{
	return word >> LATER_SIZE_SHIFT & LATER_SIZE_MAX;
}

#endif
