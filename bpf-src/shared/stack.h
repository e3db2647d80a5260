/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that stacks.bpf.c keeps and common/tracing/stacks.h reads. Fixed widths, the same on both
 * sides. */
#ifndef STACK_H
#define STACK_H

#define STACK_FRAMES 64 /* a power of two */

struct stack {                                   /* by its hash */
	unsigned long long count;                /* STACK_FRAMES: there may be more */
	unsigned long long frames[STACK_FRAMES]; /* addresses in the process, innermost first */
};

#endif
