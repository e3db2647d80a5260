/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and types of Go's standard library, of which programs do not tell once they are
 * stripped: two tables, common/golang/stdlib_*.txt, made from Go's sources by tests/stdlib/table.
 * They tell of Go 1.`release`; what is returned is memory of `memory`. */
#ifndef STDLIB_H
#define STDLIB_H

#include <stdbool.h>

#include "golang/signature.h"

struct gotypes;

/* "(name string) (*os.File, error)" of "os.Open", a method's receiver first; "uint32" of
 * "os.FileMode". NULL: not known. */
const char *stdlib_text(struct gotypes *memory, const char *name, int release);

/* A function that makes one call, to which it passes parameters as they are. */
struct stdlib_forwarder {
	const char *signature; /* a method's receiver first */
	const char *callee_signature;
	/* For each parameter the callee's that it is passed as, '0' and up; '-': none, or another
	 * value. Then '=': the callee's results are returned as they are. */
	const char *passes;
};

/* The function's, where it calls this callee. false: it is not known to. */
bool stdlib_forwarder(struct gotypes *memory, const char *name, const char *callee, int release,
		      struct stdlib_forwarder *out);

/* For signatures to be parsed: types by name, for programs that do not tell what they are. */
struct stdlib_types {
	const struct signature_names *program; /* asked first; may be NULL */
	struct gotypes *memory;
	int release;
};

/* For struct signature_names; ctx is a struct stdlib_types. */
const struct gotype *stdlib_type(void *ctx, const char *name);

#endif
