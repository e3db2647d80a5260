/* SPDX-License-Identifier: Apache-2.0 */
/* How many goroutines were born and have ended, by go statement: what goleaks.bpf.c keeps and
 * common/blocked/births.c reads. Fixed widths, the same on both sides. */
#ifndef BIRTHS_SHARED_H
#define BIRTHS_SHARED_H

enum birth_row { /* what a call of the probed function means: the row of its cookie */
		 BIRTH_BEGIN,
		 BIRTH_END,
};

struct birth_key {
	unsigned long long created_by; /* the address after the go statement, in memory */
	unsigned long long start;      /* address of the function that it begins with */
};

struct birth_sum {
	unsigned long long born, ended;
};

enum birth_loss {
	BIRTH_LOSS_ROOM,       /* map `births` had no room, or the kernel no memory */
	BIRTH_LOSS_UNREADABLE, /* the goroutine could not be read */
	BIRTH_LOSSES,
};

#endif
