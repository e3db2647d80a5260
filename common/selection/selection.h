/* SPDX-License-Identifier: Apache-2.0 */
/* From patterns to what is traced: names (rows of the output), the functions and inlined copies
 * that carry each name, and the sites to probe in them. */
#ifndef SELECTION_H
#define SELECTION_H

#include <stdbool.h>
#include <stdio.h>

#include "base/index.h"
#include "sites/inlining.h"
#include "sites/site.h"

struct errmsg;
struct program;

struct selection_row { /* a name: one line of the output */
	const char *name;
	const struct program *prog;
	uint32_t group, funcs, copies; /* the latter two: how many are traced */
	bool announce; /* asked for by name, and there are only copies: the user is told */
};

struct selection_item { /* a function, or an inlined copy of one */
	const struct program *prog;
	uint32_t row, group, plan, part; /* plan: the tool's own; part: which program of the kernel
					  * side serves it */
	uint32_t func;         /* pclntab index; of a copy: of the function that it stands in */
	bool returns;          /* calls are timed: its exits are sought too */
	bool is_copy, located; /* located: its sites are known already */
	uint64_t restart;      /* what funcinfo_layout() returned, or 0 */
	struct inlining_copy copy;
	struct site entry;
	size_t first_exit, exits; /* its part of selection.exits */
	/* Why it is not traced; NULL: it is. A tool may set it before the sites are sought. */
	const char *skipped;
};

struct selection_want {
	/* patterns are regular expressions; match inlined copies too; take functions whose code
	 * FIPS mode checks, as site_finder_fips() */
	bool regex, inlined, fips;
	bool returns; /* calls are timed: an item without an end is skipped */
	/* entry sites must have the arguments in their registers; probes carry the number of
	 * their place, not of their row */
	bool args, places;
	/* gofuncs: what cannot be traced is wanted all the same; functions of runtime_func.h: as
	 * args, and probes carry their group */
	bool may_miss, runtime;
};

struct selection {
	struct selection_want want;
	uint32_t group;       /* of what is added now */
	bool returns, missed; /* ... and are its calls timed? what was added last matched nothing */
	struct selection_row *rows;
	struct selection_item *items;
	size_t row_count, row_cap, item_count, item_cap, note_count, note_cap;
	struct site_list exits;
	char **notes;         /* other things to tell the user before tracing, a line each */
	struct index by_name; /* of rows */
};

struct selection *selection_new(const struct selection_want *want);
void selection_free(struct selection *sel);

/* What is added from here on belongs to this group (they come in order, from 0), and has rows and
 * items of its own even where another group matches the same; `returns` counts in place of
 * want.returns. */
void selection_group(struct selection *sel, uint32_t group, bool returns);

/* Adds what the pattern matches in the program, once. Reads names only. The program outlives the
 * selection. Returns 0; -1 with *err and near names as its hint when nothing matches. */
int selection_add(struct selection *sel, const struct program *prog, const char *pattern,
		  struct errmsg *err);

/* Finds the sites of every item; prints nothing, so that it may run beside the compiler, but adds a
 * note where FIPS mode keeps functions from being traced, or will end programs for it.
 * Returns 0; -1 with *err when not one item can be traced. */
int selection_find_sites(struct selection *sel, struct errmsg *err);

/* Finds those of one item, a copy, before the others: what is known of its arguments depends on the
 * place. Where it has none, that becomes its `skipped`. */
void selection_locate_copy(struct selection *sel, struct selection_item *item);

/* One more line for selection_print_notes, once; the malloc'd text is the selection's from here. */
void selection_note(struct selection *sel, char *text);

/* An item turned out to be untraceable: its row has one less. Its `skipped` is the caller's. */
void selection_uncount(struct selection *sel, const struct selection_item *item);

/* How many items, this one among them, are of returns of the same function. */
size_t selection_returns_like(const struct selection *sel, size_t item);

/* What the user should know before tracing, a line each:
 *   fmt.Println is inlined: tracing 3 copies, in main.main, main.run */
void selection_print_notes(FILE *out, const struct selection *sel);

/* How many rows are traced; and what was left out: a count, and with `each` a line per item. */
size_t selection_traced(const struct selection *sel);
size_t selection_skipped(const struct selection *sel);
/* Does the item stand in code that FIPS mode checks? */
bool selection_is_fips(const struct selection_item *item);
void selection_print_skipped(FILE *out, const struct selection *sel, const char *tool, bool each);

#endif
