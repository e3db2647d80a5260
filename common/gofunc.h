/* SPDX-License-Identifier: Apache-2.0 */
/* The signature of a function, wherever it is known from. */
#ifndef GOFUNC_H
#define GOFUNC_H

#include <stdbool.h>
#include <stddef.h>

#include "gotype.h"

struct goparam {
	const char *name; /* "" or "_": it has none; results of debug information: "~r0" */
	const struct gotype *type;
	bool is_guess;   /* its place in the order of parameters is; all else of it is certain */
	bool by_address; /* of gccgo's methods: the receiver is no pointer, but passed as one */
};

enum gofunc_source {
	GOFUNC_NONE,
	GOFUNC_SIGNATURE, /* the user's */
	GOFUNC_DEBUGINFO,
	GOFUNC_RTTI,
	GOFUNC_ARGINFO,
	GOFUNC_LIBRARY, /* known of Go's standard library, from its sources */
};

struct gofunc {                 /* a signature; memory of a struct gotypes */
	struct goparam *params; /* in source order, the receiver first */
	size_t param_count;
	struct goparam *results;
	size_t result_count;
	bool receiver;  /* params[0] is one */
	int dictionary; /* the hidden dictionary of a generic function comes before this parameter;
			 * -1: there is none */
	enum gofunc_source source;
};

#endif
