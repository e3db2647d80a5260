/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and results, down to what bpftrace can print, as its expressions:
 *   n    "%lld"         (int64)reg("ax")
 *   s    "\"%s\"(%lld)" str(reg("bx"), reg("cx")), (int64)reg("cx")
 */
#ifndef EMIT_LEAF_H
#define EMIT_LEAF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"

struct emit_leaf {
	char *name;       /* n, opts.Loud */
	const char *type; /* as Go prints it; may hold anything */
	char *format;     /* for printf */
	char *args;       /* what goes with it, separated by commas */
	char *setup;      /* lines to be run before; "": none */
	unsigned stack;   /* bytes of bpftrace's stack that this takes */
	const char *lost; /* why it cannot be read: static text; NULL: it can */
	bool is_guess;    /* which parameter stands there is */
};

struct emit_leaves {
	struct emit_leaf *items;
	size_t count, cap;
};

struct emit_leaf_site { /* where they are read */
	enum arch arch;
	int32_t sp_adjust;   /* as in struct site */
	uint64_t addr;       /* virtual address of the probe */
	bool is_pie;         /* ... and it is known by the instruction pointer alone */
	uint64_t type_names; /* rtti_names() */
	const struct abi_value *value;
	const char *prefix; /* of the names of those that have none: "arg" */
};

/* Appends what parameter number `n`, from 1, is made of. */
void emit_leaf_param(struct emit_leaves *to, const struct emit_leaf_site *site,
		     const struct goparam *param, size_t n);
void emit_leaves_free(struct emit_leaves *leaves);

/* The bytes of the value at `off` as a number of bpftrace's type `cast`; NULL: *lost says why.
 * Caller frees. */
char *emit_access(const struct emit_leaf_site *site, uint64_t off, uint64_t size, const char *cast,
		  const char **lost);

#endif
