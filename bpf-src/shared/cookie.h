/* SPDX-License-Identifier: Apache-2.0 */
/* The 64 bits that tell the kernel side which probe it runs for. Used by both sides.
 *
 *   bits  0-23  row: index of the function or name that is counted
 *   bits 24-43  stack adjustment in words of 8 bytes, signed: SP at the probe plus this is the
 *               stack pointer that identifies the call (struct site's sp_adjust)
 *   bits 44-47  enum cookie_kind
 *   bits 48-63  copy: 0 for functions; for inlined copies the ordinal within the physical function
 *               that holds them, so that two copies nested in one frame differ
 */
#ifndef COOKIE_H
#define COOKIE_H

#define COOKIE_ROW_BITS 24
#define COOKIE_ADJUST_BITS 20
#define COOKIE_KIND_SHIFT 44
#define COOKIE_COPY_SHIFT 48
#define COOKIE_ROWS (1U << COOKIE_ROW_BITS)
#define COOKIE_COPIES (1U << 16)
/* limits of the adjustment, in bytes */
#define COOKIE_ADJUST_MAX (((1L << (COOKIE_ADJUST_BITS - 1)) - 1) * 8)
#define COOKIE_ADJUST_MIN (-(1L << (COOKIE_ADJUST_BITS - 1)) * 8)

enum cookie_kind {
	COOKIE_CALL,            /* every hit is a call */
	COOKIE_CALL_IF_CHECKED, /* at the stack check's branch: a call unless the branch is taken */
	COOKIE_JUMP,            /* the call ends by a jump to another function: no results yet */
	COOKIE_RETURN,
	COOKIE_RECOVERED, /* runtime.recovery on g0: the frames below m.curg's sched.sp are gone */
	COOKIE_GOEXIT,    /* on the goroutine: all its frames end by runtime.Goexit */
	COOKIE_FATAL,     /* on the goroutine: all its frames end by a panic that nobody recovers */
	COOKIE_NONE = 15, /* no probe of ours */
};

/* `adjust` in bytes, a multiple of 8 within the limits above */
static inline unsigned long long cookie_make(unsigned int row, enum cookie_kind kind, int adjust,
					     unsigned int copy)
{
	unsigned long long words = (unsigned long long)(adjust / 8);

	return (row & (COOKIE_ROWS - 1)) |
	       (words & ((1ULL << COOKIE_ADJUST_BITS) - 1)) << COOKIE_ROW_BITS |
	       (unsigned long long)kind << COOKIE_KIND_SHIFT |
	       (unsigned long long)copy << COOKIE_COPY_SHIFT;
}

static inline unsigned int cookie_row(unsigned long long cookie)
{
	return cookie & (COOKIE_ROWS - 1);
}

static inline unsigned int cookie_kind(unsigned long long cookie)
{
	return (cookie >> COOKIE_KIND_SHIFT) & 15;
}

static inline unsigned int cookie_copy(unsigned long long cookie)
{
	return cookie >> COOKIE_COPY_SHIFT;
}

/* in bytes */
static inline long long cookie_adjust(unsigned long long cookie)
{
	unsigned long long top = cookie << (64 - COOKIE_KIND_SHIFT);

	return ((long long)top >> (64 - COOKIE_ADJUST_BITS)) * 8;
}

#endif
