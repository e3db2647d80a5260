/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the target's memory, and arithmetic, as generated code needs them. States are those of
 * shared/trace.h.
 *
 *   -DSTRING_MAX=n      bytes of a string in an interface, at most */
#ifndef FETCH_H
#define FETCH_H

#include "parts/hit.h"
#include "shared/later.h"
#include "shared/trace.h"

#define STRING_ROOM ((STRING_MAX + 7) / 8 * 8)

/* 0, or what the kernel says: without a branch, which the verifier would follow both ways. */
static inline s64 fetch_some(void *to, u32 size, u64 from)
{
#ifdef SLEEPABLE
	return copy_from_user(to, size, (void *)from);
#else
	return probe_read_user(to, size, (void *)from);
#endif
}

static inline s64 fetch(void *to, u32 size, u64 from)
{
	return fetch_some(to, size, from) ? TRACE_FAULT : 0;
}

static inline void must(s64 *bad, s64 state)
{
	if (!*bad)
		*bad = state;
}

/* A number of `size` bytes. (A function, so that all numbers share one place on the stack, which
 * has only 512 bytes.) */
static inline u64 fetch_word(s64 *bad, u32 size, u64 from)
{
	u64 word = 0;

	must(bad, fetch(&word, size, from));
	return word;
}

static inline void must_not_be_nil(s64 *bad, u64 pointer)
{
	if (!pointer && !*bad)
		*bad = TRACE_NIL;
}

/* A function that does not use its register arguments does not save them when its stack grows: then
 * the registers no longer hold them. runtime.gogo has resumed such a function, by a jump through
 * BX, on arm64 R6, which still holds the address: up to the site there are only the jump back to
 * the start and the stack check. (Go's src/runtime/asm_amd64.s, asm_arm64.s) */
static inline void must_be_kept(s64 *bad, struct pt_regs *ctx, struct hit *hit)
{
#ifdef __aarch64__
	enum { RESUMED = 8 * 6 };
#else
	enum { RESUMED = REGISTER_BX };
#endif

	if (hit->restart && probe_register(ctx, RESUMED) - probe_address(ctx) == hit->restart)
		must(bad, TRACE_ABSENT);
}

static inline u64 element(s64 *bad, u64 base, u64 index, u64 length, u64 size)
{
	if (index >= length && !*bad)
		*bad = TRACE_BOUNDS;
	return base + index * size;
}

/* The end of x[low:high] where x has `cap` elements: an end beyond them is cut off. */
static inline u64 slice_end(s64 *bad, u64 low, u64 high, u64 cap)
{
	u64 end = (s64)high > 0 && high > cap ? cap : high;

	if ((low > end || (s64)(low | high) < 0) && !*bad)
		*bad = TRACE_BOUNDS;
	return low > end || (s64)(low | high) < 0 ? low : end;
}

/* The state of elements of which at most `bytes` are wanted. */
static inline s64 slice_state(s64 state, u64 bytes)
{
	return state > 0 && state > bytes ? bytes : state;
}

/* The present value of a pointer that was known when the call began, with stack pointer `sp`: if it
 * pointed into the stack above the call's frame, its target has moved with the stack. Without a
 * branch, which the verifier would follow both ways. */
static inline u64 after_move(struct hit *hit, u64 sp, u64 pointer)
{
	u64 above = pointer - sp, on_stack = (above - hit->depth) & ~above;

	return pointer + ((hit->sp - sp) & -(on_stack >> 63));
}

static inline s64 fetch_object(char *to, u32 size, u64 from)
{
	if (!from)
		return TRACE_NIL;
	return fetch(to, size, from) ? TRACE_FAULT : size;
}

/* `length` elements of `size` bytes, but at most `max` bytes */
static inline s64 fetch_elements(char *to, u64 max, u64 from, u64 length, u64 size)
{
	u64 bytes = length > max ? max : length * size;

	if (!from)
		return TRACE_NIL;
	if (bytes > max)
		bytes = max;
	/* the verifier must see that the very number passed below was checked, not a copy */
	asm volatile("" : "+r"(bytes));
	if (!bytes || bytes > max)
		return 0;
	bytes &= LATER_PLACES - 1; /* where it does not know `max`, either */
	return fetch(to, bytes, from) ? TRACE_FAULT : bytes;
}

/* Reads the first group of a map whose header has been read. Swiss maps (Go's
 * src/internal/runtime/maps/map.go): dirPtr, at 16, points to the group of a small map, else to an
 * array of tables, which have their groups at 16. Older maps (src/runtime/map.go): an array of
 * buckets at 16. */
static inline s64 fetch_group(char *to, u32 max, char *header, bool swiss)
{
	u64 group = *(u64 *)(header + 16), table = 0;

	if (swiss && *(u64 *)(header + 24)) {
		if (fetch(&table, 8, group) || fetch(&group, 8, table + 16))
			return TRACE_FAULT;
	}
	return fetch_object(to, max, group);
}

/* Reads what an object refers to, as its type's row of `dyntypes` says. */
static inline void fetch_refs(char *object, char *refs, struct trace_dyntype *type)
{
	u64 off;
	u32 i;

#pragma clang loop unroll(disable)
	for (i = 0; i < TRACE_DYN_REFS; i++, refs += 8 + STRING_ROOM) {
		*(s64 *)refs = TRACE_NIL;
		if (i >= type->refs)
			continue;
		off = type->ref[i].off;
		asm volatile("" : "+r"(off));
		if (off > TRACE_DYN_OBJECT - 16)
			continue;
		*(s64 *)refs = fetch_elements(refs + 8, STRING_MAX, *(u64 *)(object + off),
					      *(u64 *)(object + off + 8), type->ref[i].elem);
	}
}

/* What the first word of a value is: a type's descriptor, an itab, or one of them if the value is
 * an interface at all. */
#define DYNAMIC_TYPE 0
#define DYNAMIC_ITAB 1
#define DYNAMIC_EITHER 2
/* one more bit, for gccgo: its method tables begin with the type */
#define DYNAMIC_GCCGO 4

/* The type of what an interface holds, as its address in the file; 0: nil. An itab has it at 8
 * (Go's src/internal/abi/iface.go). */
static inline u64 dynamic_type(u64 word, u64 how, struct hit *hit)
{
	u64 rtype = word, at = how & DYNAMIC_GCCGO ? 0 : 8;

	if (!word)
		return 0;
	if (how & DYNAMIC_ITAB && fetch(&rtype, 8, word + at))
		return ~0ULL; /* no type's address */
	return rtype - hit->bias;
}

/* Does an interface with this first word hold a value of the type with its descriptor at `rtype`?
 */
static inline bool holds_type(s64 *bad, u64 word, u64 how, u64 rtype, struct hit *hit)
{
	u64 type = dynamic_type(word, how, hit);

	if (type == ~0ULL)
		must(bad, TRACE_FAULT);
	return type == rtype;
}

static inline void must_hold(s64 *bad, u64 word, u64 holds)
{
	if (!holds)
		must(bad, word ? TRACE_OTHER : TRACE_NIL);
}

/* Arithmetic that C or BPF leaves undefined. */

static inline u64 divide_unsigned(s64 *bad, u64 a, u64 b)
{
	if (!b && !*bad)
		*bad = TRACE_BOUNDS;
	return b ? a / b : 0;
}

static inline u64 modulo_unsigned(s64 *bad, u64 a, u64 b)
{
	if (!b && !*bad)
		*bad = TRACE_BOUNDS;
	return b ? a % b : 0;
}

static inline u64 magnitude(s64 a)
{
	return a < 0 ? -(u64)a : a;
}

static inline u64 divide_signed(s64 *bad, s64 a, s64 b)
{
	u64 quotient = divide_unsigned(bad, magnitude(a), magnitude(b));

	return (a < 0) != (b < 0) ? -quotient : quotient;
}

static inline u64 modulo_signed(s64 *bad, s64 a, s64 b)
{
	u64 rest = modulo_unsigned(bad, magnitude(a), magnitude(b));

	return a < 0 ? -rest : rest;
}

static inline u64 shift_right_unsigned(u64 a, u64 n)
{
	return n < 64 ? a >> (n & 63) : 0;
}

static inline u64 shift_right_signed(s64 a, u64 n)
{
	return a >> (n < 64 ? n & 63 : 63);
}

#endif
