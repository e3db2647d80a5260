/* SPDX-License-Identifier: Apache-2.0 */
/* Turns patterns into what is traced: names (rows of the output), the functions and inlined copies
 * with each name, and the sites to probe in them. */
#ifndef SELECTION_H
#define SELECTION_H

#include <stdbool.h>

#include "base/index.h"
#include "sites/inlining.h"
#include "sites/site.h"

struct errmsg;
struct program;

struct selection_row { /* a name: one line of the output */
	const char *name;
	const struct program *prog;
	uint32_t group, funcs, copies; /* the latter two: how many are traced */
	/* asked for by name, and there are only copies: the user is told; the tool itself asks for
	 * it, beside what was asked for */
	bool announce, hidden;
};

struct selection_sites { /* where an item is probed */
	struct site entry;
	size_t first_exit, exits; /* its part of selection.exits */
	bool known;               /* they have been sought */
};

struct selection_item { /* a function, or an inlined copy of one */
	const struct program *prog;
	/* runtime: as in struct selection when it was added; func: pclntab index; of a copy: of the
	 * function that it stands in */
	uint32_t row, group, runtime, func, line;
	/* returns: calls are timed, its exits are sought too; tails: these exits are among
	 * selection.tails, as its calls go on in other functions by jumps, or others' in it */
	bool is_copy, returns, tails;
	struct inlining_copy copy;
	struct selection_sites sites;
	/* why it is not traced; NULL: it is. The file of the line that it is a place of, or NULL */
	const char *skipped, *file;
};

struct selection_want {
	/* patterns are regular expressions; match inlined copies too; take functions whose code
	 * FIPS mode checks, as site_finder_fips(); calls are timed: an item without an end is
	 * skipped */
	bool regex, inlined, fips, returns;
	/* entry sites must have the arguments in their registers; probes carry the number of
	 * their place, not of their row */
	bool args, places;
	/* gofuncs: what cannot be traced is wanted all the same; functions of runtime_func.h: as
	 * args, and probes carry their group; calls that leave by a jump end where what they jump
	 * to returns; functions that never return are timed as well: a panic or Goexit ends them */
	bool may_miss, runtime, tails, endless;
};

struct selection {
	struct selection_want want;
	/* of what is added now; runtime: 0, or it is a function of runtime_func.h that is traced
	 * beside the patterns', and this a number of the tool's own from 1 on, which its probe's
	 * cookie has as its copy */
	uint32_t group, runtime;
	/* ... and are its calls timed? Have several programs rows? */
	bool returns, several;
	struct selection_row *rows;
	struct selection_item *items;
	size_t row_count, row_cap, item_count, item_cap, note_count, note_cap;
	struct site_list exits;
	struct selection_tails *tails; /* see selection/tail.h; NULL: none are wanted */
	struct selection_finders *finders;
	char **notes;         /* other things to tell the user before tracing, a line each */
	struct index by_name; /* of rows */
};

struct selection *selection_new(const struct selection_want *want);
void selection_free(struct selection *sel);

/* Everything added from here on belongs to this group (groups come in order, from 0), and has its
 * own rows and items even if another group matches the same; `returns` replaces want.returns. */
void selection_group(struct selection *sel, uint32_t group, bool returns);

enum { SELECTION_NONE = 1 }; /* nothing matches */

/* Adds everything that the pattern matches in the program, once. Reads only names. The program
 * outlives the selection. Returns 0; SELECTION_NONE with *err, and similar names as its hint; -1
 * with *err. */
int selection_add(struct selection *sel, const struct program *prog, const char *pattern,
		  struct errmsg *err);

/* Finds the sites of every item. Prints nothing, because it may run beside the compiler, but adds
 * a note if FIPS mode prevents functions from being traced, or would end programs. Returns 0; -1
 * with *err if no item can be traced. */
int selection_find_sites(struct selection *sel, struct errmsg *err);

/* An item's sites were found before the others': what is known of a copy's arguments depends on the
 * place. `reason`: why it has none, or NULL. */
void selection_locate(struct selection *sel, struct selection_item *item, const struct site *entry,
		      const struct site_list *exits, const char *reason);
/* an array of sites.exits */
const struct site *selection_exits(const struct selection *sel, const struct selection_item *item);

/* Adds a line for selection_print_notes(), once. Takes over the malloc'd text. */
void selection_note(struct selection *sel, char *text);

/* The item is not traced, for this reason, which outlives the selection: its row has one less.
 * Where it was not traced before, the first reason stays. */
void selection_skip(struct selection *sel, struct selection_item *item, const char *why);

/* Does the item stand in code that FIPS mode checks? */
bool selection_is_fips(const struct selection *sel, const struct selection_item *item);
/* What finds sites in a program: one for each, made when it is first asked for; the selection's. */
struct site_finder *selection_finder(const struct selection *sel, const struct program *prog);

#endif
