/* SPDX-License-Identifier: Apache-2.0 */
/* What debuginfo's parts share of a function's parameters. */
#ifndef DEBUGINFO_PARAMS_INTERNAL_H
#define DEBUGINFO_PARAMS_INTERNAL_H

#include "abi/abi.h"
#include "abi/arginfo.h"
#include "abi/spill.h"
#include "dwarf/debuginfo_internal.h"
#include "dwarf/dietree_place_internal.h"

struct debuginfo_param {
	const char *name, *full; /* the latter: of its type, in full; memory of the tree */
	uint64_t hash;           /* of the name, among those that are listed */
	const struct gotype *type;
	bool is_blank;  /* not listed, of a type that is not known */
	bool is_placed; /* DWARF says where it is at the function's first instruction, */
	bool is_exact;  /* where it begins even: of unused parts it tells nothing */
	struct die_place place;
	unsigned listed; /* its number among those that DWARF lists, from 1; 0: it is not */
	bool is_guess;   /* as in struct goparam */
};

struct debuginfo_params {
	struct debuginfo_param *items;
	size_t count, cap;
};

struct debuginfo_list { /* what DWARF lists of a function */
	struct debuginfo_params params, results;
	bool receiver; /* params has it first */
	bool generic;  /* it has type arguments */
	bool has_dictionary;
	int dictionary; /* as in struct gofunc */
};

enum { DEBUGINFO_ENTRIES = 12 /* ArgInfo has 10 at the most */ };

struct debuginfo_check { /* what else is known of a function's parameters */
	const struct image *img;
	enum abi_convention convention;
	bool has_args, has_info;
	bool wants_info;      /* Go's version is one that has ArgInfo */
	bool wants_places;    /* parameters without a name may be missing */
	int64_t args;         /* bytes, as functab_args_size() */
	struct spills spills; /* count 0: none are known */
	struct arginfo info;
	size_t starts[DEBUGINFO_ENTRIES]; /* where in `info` each parameter begins */
	size_t entries;
};

/* -1: it is not certain where the function's parameters are. */
int debuginfo_signature(struct debuginfo *dbg, const struct die *func, uint64_t addr,
			const char *functab_name, struct gofunc *out);
/* What DWARF lists of a function that `func` is the abstract instance of. Where parameters without
 * a name may be missing, the places of the others are a guess. */
void debuginfo_abstract(struct debuginfo *dbg, const struct die *func, const char *functab_name,
			struct gofunc *out);
void debuginfo_insert(struct debuginfo_params *params, size_t at,
		      const struct debuginfo_param *param);
struct goparam *debuginfo_take(const struct debuginfo_params *params); /* the caller frees them */
struct debuginfo_list
debuginfo_copy(const struct debuginfo_list *list); /* with params of its own */
bool debuginfo_has_blanks(const struct debuginfo_params *params);
bool debuginfo_agrees(const struct debuginfo_check *check, const struct debuginfo_list *list);
/* Puts parameters without a name into the list where some are missing. false: it does not agree
 * with what else is known of the function. */
bool debuginfo_complete(struct debuginfo *dbg, uint64_t addr, struct debuginfo_list *list);
/* The same for a list that is not in source order, which it sorts. */
bool debuginfo_order(struct debuginfo *dbg, uint64_t addr, struct debuginfo_list *list);

#endif
