/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures in Go syntax, as users type them: "(w io.Writer, a ...any) (n int, err error)".
 * Grammar: Go's language specification, "Function types". */
#ifndef SIGNATURE_H
#define SIGNATURE_H

#include <stddef.h>

#include "golang/gofunc.h"

struct errmsg;

struct signature_names { /* where types are looked up that Go does not predeclare */
	/* "main.Opts" or "net/http.Request" or "http.Request"; NULL: unknown */
	const struct gotype *(*find)(void *ctx, const char *name);
	void *ctx;
	int release; /* of the program: how its maps are made */
};

/* Parses `text`: all parameters, a method's receiver first (but out->receiver is left to the
 * caller). Of a type that `names` does not find only its size matters: *T, []T, map[K]T and chan T
 * of it are fine; a plain T is an error. Returns 0; -1 with *err, and *pos (may be NULL) the offset
 * in text that it is about. */
int signature_parse(struct gotypes *types, const struct signature_names *names, const char *text,
		    struct gofunc *out, size_t *pos, struct errmsg *err);

#endif
