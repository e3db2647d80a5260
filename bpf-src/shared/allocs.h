/* SPDX-License-Identifier: Apache-2.0 */
/* What goallocs.bpf.c counts allocations by. Fixed widths, the same on both sides. */
#ifndef ALLOCS_H
#define ALLOCS_H

struct alloc_key {
	unsigned long long stack; /* its hash; 0: not kept, or not asked for */
	unsigned long long type;  /* address of the descriptor in the program's file; 0: none */
	unsigned int place;       /* the probed site: its index in map `places` */
	unsigned int pid;         /* in the tool's PID namespace */
	unsigned int many;        /* elements of the type, not one value of it */
	unsigned int zero;
};

enum alloc_plan { ALLOC_HANDS_ON = 1 }; /* small sizes go on to another probed function */

enum alloc_loss {
	ALLOC_LOSS_STACKS,     /* counted, without a stack */
	ALLOC_LOSS_ROOM,       /* not counted */
	ALLOC_LOSS_UNREADABLE, /* not counted: the arguments could not be read */
	ALLOC_LOSSES
};

/* Sums are kept in these parts of one object or byte, as samples stand for fractions. */
#define ALLOC_PARTS_SHIFT 8

#endif
