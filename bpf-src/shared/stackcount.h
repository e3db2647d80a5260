/* SPDX-License-Identifier: Apache-2.0 */
/* What gostackcount.bpf.c counts calls by. Fixed widths, the same on both sides. */
#ifndef STACKCOUNT_H
#define STACKCOUNT_H

struct stackcount_key {
	unsigned long long stack; /* its hash; 0: it could not be kept */
	unsigned int place;       /* the probed site: its index in map `places` */
	unsigned int pid;         /* in the tool's PID namespace */
};

enum stackcount_loss {
	STACKCOUNT_LOSS_STACKS, /* counted, without a stack */
	STACKCOUNT_LOSS_ROOM,   /* not counted */
	STACKCOUNT_LOSSES
};

#endif
