/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that stacks.bpf.c keeps and common/blocked/stacks.h reads. Fixed widths, the same on both
 * sides. */
#ifndef STACK_H
#define STACK_H

#define STACK_FRAMES_MAX 512
#ifndef STACK_FRAMES
#define STACK_FRAMES 64 /* a power of two, and no more than the above: each program has its own */
#endif

struct stack {                                   /* by its hash */
	unsigned long long count;                /* STACK_FRAMES: there may be more */
	unsigned long long frames[STACK_FRAMES]; /* addresses in the process, innermost first */
};

#endif
