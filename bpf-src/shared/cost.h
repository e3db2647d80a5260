/* SPDX-License-Identifier: Apache-2.0 */
/* What hits cost, for both sides: see tracing/spending_internal.h. All times in ns. */
#ifndef COST_H
#define COST_H

#define COST_BATCH_NS 50000 /* a CPU tells the others what it has spent in pieces of this size */

struct cost_cpu { /* one for each CPU */
	unsigned long long hits, spent, told;
};

struct cost_limit {               /* the tool writes it */
	unsigned long long spent; /* no hit is handled any more beyond this; 0: no limit */
	/* what a hit costs: at an entry that the kernel emulates, at another, at an end */
	unsigned int entry, stepped, end;
};

struct cost_sum { /* the kernel side writes it */
	unsigned long long spent;
	unsigned long long over; /* the limit was passed */
};

struct cost_row {                   /* of a cookie's row */
	unsigned long long stepped; /* its entry is single-stepped; the tool writes it */
	unsigned long long spent;   /* by the batch: which functions take most */
};

#endif
