/* SPDX-License-Identifier: Apache-2.0 */
/* Limits on the work of reading one file. Readers of files from strangers take their steps from a
 * budget that grows with the file, so that a small file made to be slow or large to read ends in
 * an error message. Real programs need at most a tenth of each limit, as measured on Debian's
 * dockerd (75 MB) and on Go's own compiler. */
#ifndef BUDGET_H
#define BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BUDGET_LEAST = 1 << 20, /* bytes: smaller files count as that large, */
	BUDGET_MOST = 1 << 30,  /* and larger ones as this */
};

/* steps for each byte of the file */
enum {
	BUDGET_PC_RUNS = 1,    /* runs of PC-value tables, of a byte of these tables */
	BUDGET_TREE_NODES = 1, /* nodes of inline trees, in one search for copies */
	BUDGET_NAMES = 1,      /* bytes of names, in one search for functions or for copies */
	/* bytes of names of symbols: linkers let names share their ends, and many a symbol is
	 * another's namesake */
	BUDGET_SYMBOL_NAMES = 4,
	BUDGET_CODE = 200, /* instructions and blocks looked at, again and again */
	BUDGET_TEXT = 16,  /* bytes of a list of functions with all that is known of them */
};

enum {
	BUDGET_NAME_MAX = 1 << 16, /* bytes; names of several hundred were seen */
	BUDGET_COPIES = 1 << 20,   /* inlined copies that one pattern may match */
};

struct budget {
	uint64_t left;
};

struct budget budget_new(uint64_t file_bytes, unsigned steps_a_byte);
/* false: the budget is spent, and stays so */
bool budget_take(struct budget *budget, uint64_t steps);
/* Takes a step for each byte of the name. false: too few steps are left, or the name is longer
 * than names are; the budget is then unchanged. */
bool budget_take_name(struct budget *budget, const char *name);

#endif
