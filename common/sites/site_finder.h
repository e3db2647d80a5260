/* SPDX-License-Identifier: Apache-2.0 */
/* What all modules that find sites share: the decoded code of a function, and its stack pointer. */
#ifndef SITE_FINDER_H
#define SITE_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/flow.h"
#include "machine/graph.h"
#include "machine/insn.h"
#include "program/inltree.h"
#include "sites/splitstack.h"

struct image;
struct functab;
struct functab_func;

struct budget;
struct site;
struct site_list;

struct site_finder {
	const struct image *img;
	const struct functab *tab;
	struct insn_code fixed;      /* instead of img */
	uint64_t fips_from, fips_to; /* code that FIPS mode checks; and is it taken all the same? */
	bool takes_fips, takes_endless;
	enum arch arch;
	bool stack_args;   /* no argument is in a register */
	bool split_stacks; /* as toolchain.h says */
	struct insn_decoder *dec;
	struct flow flow;    /* of the function last looked at; its memory is used again */
	struct graph graph;  /* of the same, or empty */
	struct inltree tree; /* of the same, or empty */
	struct budget *steps;
};

bool site_finder_code(const struct site_finder *finder, const struct functab_func *fn,
		      struct insn_code *out);
/* how far SP stands below its value at entry; false: not known */
bool site_finder_sp(const struct site_finder *finder, const struct functab_func *fn, uint64_t addr,
		    int32_t *bytes);
/* Where in a function or copy a probe was to stand. */
enum site_place {
	SITE_AT_START,
	SITE_BEHIND_CHECK,
	SITE_AT_RETURN,
	SITE_RUN_BEGINS,
	SITE_RUN_ENDS,
};

/* Takes steps of what looking at all of the program's code may cost: about as many as instructions
 * or blocks are looked at. -1 with *reason: there are too few left. */
int site_finder_take(const struct site_finder *finder, uint64_t steps, const char **reason);

/* Fills finder->flow and finder->graph with the function. 0, or -1 with *reason. */
int site_finder_graph(struct site_finder *finder, const struct functab_func *fn,
		      const char **reason);

#endif
