/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the function names of a program nearest to one that was typed. */
#ifndef NEAREST_INTERNAL_H
#define NEAREST_INTERNAL_H

struct errmsg;
struct functab;
struct program;

/* Sets err's hint to a few near names (inlined ones too), those of `module` first, or to where
 * names are listed. `module`: an import path; NULL: not known. */
void nearest_hint(const struct functab *tab, const char *module, const char *typed,
		  struct errmsg *err);
/* the same, those of the program's own module first */
void nearest_hint_of(const struct program *prog, const char *typed, struct errmsg *err);

#endif
