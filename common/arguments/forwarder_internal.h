/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of inlined copies of Go's own functions that do nothing but pass them on, as
 * fmt.Println does to fmt.Fprintln: at the call that a copy makes, they are where the callee
 * expects them. Code alone does not show which parameter is passed on as which: for the standard
 * library a table made from its sources does (golang/stdlib_forwarders.txt). Works in stripped
 * programs. */
#ifndef FORWARDER_INTERNAL_H
#define FORWARDER_INTERNAL_H

#include <stdbool.h>

#include "abi/abi.h"
#include "sites/site.h"

struct gotypes;
struct inlining_copy;
struct signature_names;

struct forwarder_call {
	struct site site;   /* the call instruction: each run of the copy executes it once */
	const char *callee; /* "fmt.Fprintln" */
	struct gofunc sig;  /* of the copy's function; no results if they are not the callee's */
	/* Where its parameters are at the call instruction; without pieces: optimised out. And its
	 * results, at the instruction after the call. */
	struct abi_layout layout;
};

/* `release`: of the program; the finder is of it. `names` looks up the program's types (may be
 * NULL). `typed` is the signature of the copy's function as the user or debug information tells it,
 * for its names and types; NULL: as Go's sources have it. false: nothing is known for certain, or
 * `typed` does not fit the function. Caller frees out->layout. */
bool forwarder_find(struct site_finder *finder, int release, const struct inlining_copy *copy,
		    struct gotypes *memory, const struct signature_names *names,
		    const struct gofunc *typed, struct forwarder_call *out);

#endif
