/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the sites to probe. Only this module knows prologues, returns, and what the kernel does
 * with a probed instruction; all others see sites. */
#ifndef SITE_H
#define SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/arch.h"

struct insn_code;
struct functab_func;
struct program;

enum site_kind {
	SITE_FIRST,        /* first instruction of a function without a stack check */
	SITE_ENTRY_BLOCK,  /* a cheaper instruction of the entry block, executed once a call */
	SITE_AFTER_CHECK,  /* the instruction after the stack check */
	SITE_CHECK_BRANCH, /* the check's own jbe: only hits with CF and ZF clear are calls */
	SITE_RET,
	SITE_TAIL_JUMP,    /* a jump to another function, which returns for this one */
	SITE_INLINED,      /* a place in an inlined copy that each run passes once */
	SITE_INLINED_CALL, /* the one call of an inlined forwarder */
	SITE_INLINED_EXIT, /* first instruction after an inlined copy */
	SITE_CALL,         /* a call instruction inside a function, about to be made */
	SITE_BEHIND_CALL,  /* what is executed next when a call has returned */
	SITE_LINE,         /* a place that each execution of a source line passes once */
};

struct site {
	uint64_t addr;    /* virtual address */
	uint8_t kind;     /* enum site_kind */
	bool emulated;    /* by the kernel: about ten times cheaper than single-stepped */
	bool args_intact; /* argument registers still hold the arguments */
	bool plain_ret; /* the instruction is a RET that pops the return address and nothing else */
	/* What to add to the stack pointer at this site to get the value that the call is known by:
	 * for functions SP at entry, for inlined copies SP at their entry site. Bytes, a multiple
	 * of 8. */
	int32_t sp_adjust;
	uint64_t target; /* of a tail jump: the address; 0: known only when it is made */
};

const char *site_kind_name(enum site_kind kind); /* "after-check", "ret", ... */

struct site_finder; /* a decoder and scratch memory, for one image; not shared between threads */

/* The program's table may be NULL: then functions are taken as frameless. Its release, if it is
 * told, says where arguments are. */
struct site_finder *site_finder_new(const struct program *prog);
void site_finder_free(struct site_finder *finder);

/* A program in FIPS mode hashes the code of some functions when it starts, and ends if a probe has
 * changed it. So these functions have no sites, unless `take`. */
void site_finder_fips(struct site_finder *finder, bool take);
/* Functions that never return are functions without a return: calls that only a panic or Goexit
 * ends are wanted as well. */
void site_finder_endless(struct site_finder *finder, bool take);
/* Is this one of the functions that FIPS mode checks? */
bool site_is_fips(const struct site_finder *finder, const struct functab_func *fn);

/* The entry site, which is executed exactly once for each call. It is at an instruction that the
 * kernel emulates, if there is one (with want_args: one at which the arguments are intact).
 * Returns 0; -1 with *reason if there is none (a static text, for "cannot be probed: REASON"). */
int site_entry(struct site_finder *finder, const struct functab_func *fn, bool want_args,
	       struct site *out, const char **reason);

struct site_list {
	struct site *items;
	size_t count, cap; /* cap is mem_grow's */
};

/* Appends every return and tail jump of the function. Returns 0; -1 with *reason and nothing
 * appended if the function cannot be decoded completely, never returns, or leaves in a way that
 * cannot be probed. */
int site_returns(struct site_finder *finder, const struct functab_func *fn, struct site_list *out,
		 const char **reason);

/* The first call that `fn` makes of a function named `callee`. 0, or -1: there is none. */
int site_call(struct site_finder *finder, const struct functab_func *fn, const char *callee,
	      struct site *out);

/* The same call, when it has returned: its result is where it was left. */
int site_behind_call(struct site_finder *finder, const struct functab_func *fn, const char *callee,
		     struct site *out);

/* Which of the calls of `callee`: the one that it makes next after one of `after`, or the one after
 * which it makes none of `not_before` next. The other one is NULL. */
struct site_callee {
	const char *callee, *after, *not_before;
};

/* 0, or -1: there is none, or more than one. */
int site_one_call(struct site_finder *finder, const struct functab_func *fn,
		  const struct site_callee *want, struct site *out);

#endif
