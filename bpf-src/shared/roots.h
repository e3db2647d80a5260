/* SPDX-License-Identifier: Apache-2.0 */
/* What parts/roots.bpf.c keeps. Fixed widths, the same on both sides. */
#ifndef ROOTS_SHARED_H
#define ROOTS_SHARED_H

/* Of a goroutine that makes a call of ROOT, or was started below one: map `root_members`, by struct
 * goroutine_key. It is below that call as long as the goroutine that makes the call is there with
 * the same number. */
struct root_member {
	unsigned long long number; /* of the call, from 1 on */
	unsigned long long root;   /* the goid of who makes it */
	unsigned long long depth;  /* of the call as in struct call, if that is this goroutine */
	unsigned int copy;
	unsigned int zero;
};

/* Of a goroutine that has received a value which one below the call had sent: beside its goid, in
 * the same map. `depth` and `copy` say nothing then. */
#define ROOT_GIVEN (1ULL << 61)

enum root_loss {                       /* of map `root_losses` */
		 ROOT_LOSS_CALLS,      /* calls of ROOT: no room */
		 ROOT_LOSS_UNREADABLE, /* calls of ROOT: the goroutine could not be read, */
		 ROOT_LOSS_SYSTEM,     /* or they were on a system stack */
		 ROOT_LOSS_STARTED,    /* goroutines started below: no room, */
		 ROOT_LOSS_NEWBORN,    /* or they could not be read */
		 ROOT_LOSS_VALUES,     /* values that were sent below: no room, */
		 ROOT_LOSS_CHANNELS,   /* or who sends or receives could not be read */
		 ROOT_LOSSES,
};

#endif
