/* SPDX-License-Identifier: Apache-2.0 */
/* The 64 bits that tell the kernel side which probe it runs for. Used by both sides.
 *
 *   bits  0-23  row: index of the function or name that is counted
 *   bits 24-43  stack adjustment in words of 8 bytes, signed: SP at the probe plus this is the
 *               stack pointer that identifies the call (struct site's sp_adjust)
 *   bits 44-46  enum cookie_kind
 *   bit     47  the site is a RET that may be carried out (common/kernel/emulator.h): then bits
 *               24-35 are the lowest ones of its address, and the adjustment has only bits 36-43
 *   bits 48-63  copy: 0 for functions; for inlined copies the ordinal within the physical function
 *               that holds them, so that two copies nested in one frame differ; COOKIE_TAIL for
 *               functions whose calls go on in another function, by a jump, and for such a function
 */
#ifndef COOKIE_H
#define COOKIE_H

#define COOKIE_ROW_BITS 24
#define COOKIE_ADJUST_BITS 20
#define COOKIE_KIND_SHIFT 44
#define COOKIE_RET_SHIFT 47
#define COOKIE_COPY_SHIFT 48
#define COOKIE_PAGE 4096 /* what the lowest 12 bits of an address tell apart */
#define COOKIE_ROWS (1U << COOKIE_ROW_BITS)
#define COOKIE_COPIES (1U << 16)
/* Such calls share their depth. They are told apart by where they return to: at an end all of them
 * end that return there, one for each probe. */
#define COOKIE_TAIL (COOKIE_COPIES - 1)
/* limits of the adjustment, in bytes */
#define COOKIE_ADJUST_MAX (((1L << (COOKIE_ADJUST_BITS - 1)) - 1) * 8)
#define COOKIE_ADJUST_MIN (-(1L << (COOKIE_ADJUST_BITS - 1)) * 8)
#define COOKIE_RET_ADJUST_MAX 1016 /* the same of a RET, either way */

enum cookie_kind {
	COOKIE_CALL,            /* every hit is a call */
	COOKIE_CALL_IF_CHECKED, /* at the stack check's branch: a call unless the branch is taken */
	COOKIE_JUMP, /* the call goes on in another function, whose end is not seen: no results */
	COOKIE_RETURN,
	COOKIE_RECOVERED, /* runtime.recovery on g0: the frames below m.curg's sched.sp are gone */
	COOKIE_GOEXIT,    /* on the goroutine: all its frames end by runtime.Goexit */
	COOKIE_FATAL,     /* on the goroutine: all its frames end by a panic that nobody recovers */
	COOKIE_NONE,      /* no probe of ours */
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
	return (cookie >> COOKIE_KIND_SHIFT) & 7;
}

static inline unsigned int cookie_is_ret(unsigned long long cookie)
{
	return (cookie >> COOKIE_RET_SHIFT) & 1;
}

/* the lowest bits of a RET's address */
static inline unsigned int cookie_low(unsigned long long cookie)
{
	return (cookie >> COOKIE_ROW_BITS) & (COOKIE_PAGE - 1);
}

static inline unsigned int cookie_copy(unsigned long long cookie)
{
	return cookie >> COOKIE_COPY_SHIFT;
}

/* in bytes; without a branch, which the verifier would follow both ways */
static inline long long cookie_adjust(unsigned long long cookie)
{
	unsigned long long top = cookie << (64 - COOKIE_KIND_SHIFT);

	return ((long long)top >> (64 - COOKIE_ADJUST_BITS + 12 * cookie_is_ret(cookie))) * 8;
}

/* The same cookie, of a RET at address `addr`; unchanged where the adjustment is too large. */
static inline unsigned long long cookie_of_ret(unsigned long long cookie, unsigned long long addr)
{
	unsigned long long fields = ((1ULL << COOKIE_ADJUST_BITS) - 1) << COOKIE_ROW_BITS;
	long long adjust = cookie_adjust(cookie);

	if (adjust > COOKIE_RET_ADJUST_MAX || adjust < -COOKIE_RET_ADJUST_MAX)
		return cookie;
	return (cookie & ~fields) | 1ULL << COOKIE_RET_SHIFT |
	       (addr & (COOKIE_PAGE - 1)) << COOKIE_ROW_BITS |
	       ((unsigned long long)(adjust / 8) & 255) << (COOKIE_ROW_BITS + 12);
}

#endif
