/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room sites uses of site_finder. */
#ifndef SITE_FINDER_INTERNAL_H
#define SITE_FINDER_INTERNAL_H

#include "sites/site_finder.h"

/* why there is no site in what is no function, where calls begin elsewhere than at the first byte,
 * or where FIPS mode would end the program for it; NULL: it may have some */
const char *site_finder_never(const struct site_finder *finder, const struct functab_func *fn);
/* Why no probe may stand at the instruction, and by whom it is refused; NULL: it may. */
const char *site_refusal(const struct insn *in, enum site_place place);
int site_finder_refuse(const char **reason, const char *why); /* -1 */
/* Fills finder->flow with the function. 0, or -1 with *reason. */
int site_finder_flow(struct site_finder *finder, const struct functab_func *fn,
		     const char **reason);
struct graph_source site_finder_source(struct site_finder *finder);
/* The lowest address from the body's start on that is jumped to from inside: up to there each
 * instruction of the body runs once a call. Needs finder->flow. */
uint64_t site_split_limit(const struct site_finder *finder, const struct splitstack *split);
/* as site_entry, of a function that checks its stack as GCC's -fsplit-stack does */
int site_split_entry(struct site_finder *finder, const struct functab_func *fn,
		     const struct insn_code *code, const struct splitstack *split, bool want_args,
		     struct site *out, const char **reason);
/* Of a function of gccgo's, with finder->flow filled: appends its returns. NULL, or why they are
 * not all known. */
const char *site_split_returns(const struct site_finder *finder, const struct functab_func *fn,
			       struct site_list *out);

#endif
