/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and results, down to what bpftrace can print, as its expressions:
 *   n    "%lld"         (int64)reg("ax")
 *   s    "\"%s\"(%lld)" str(reg("bx"), reg("cx")), (int64)reg("cx")
 */
#ifndef EMIT_LEAF_INTERNAL_H
#define EMIT_LEAF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"

struct emit_leaf {
	char *name;       /* n, opts.Loud */
	const char *type; /* as Go prints it; may hold anything */
	char *format;     /* for printf */
	char *args;       /* printf's arguments for it, separated by commas */
	char *setup;      /* lines to run before the printf; "": none */
	unsigned stack;   /* bytes of bpftrace's stack that this takes */
	const char *lost; /* why it cannot be read: static text; NULL: it can */
	bool is_guess;    /* it is not certain which parameter is in this place */
};

struct emit_leaves {
	struct emit_leaf *items;
	size_t count, cap;
};

struct emit_leaf_site { /* where they are read */
	enum arch arch;
	int32_t sp_adjust; /* as in struct site */
	uint64_t addr;     /* virtual address of the probe */
	bool is_pie; /* ... and its address at run time is known only by the instruction pointer */
	uint64_t type_names; /* rtti_names() */
	const struct abi_value *value;
	const char *prefix; /* for the names of those without one: "arg" */
};

/* Appends the parts of parameter number `n`, from 1, that can be printed. */
void emit_leaf_param(struct emit_leaves *to, const struct emit_leaf_site *site,
		     const struct goparam *param, size_t n);
void emit_leaves_free(struct emit_leaves *leaves);

/* The bytes of the value at `off` as a number of bpftrace's type `cast`; NULL: *lost says why.
 * Caller frees. */
char *emit_access(const struct emit_leaf_site *site, uint64_t off, uint64_t size, const char *cast,
		  const char **lost);

#endif
