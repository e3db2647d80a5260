/* SPDX-License-Identifier: Apache-2.0 */
/* The signature of a function, whatever it is known from. */
#ifndef GOFUNC_H
#define GOFUNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "golang/gotype.h"

/* How it was found out where a parameter of a GOFUNC_ARGINFO is passed; the surest last */
enum goparam_place {
	GOPARAM_UNPLACED, /* it was not */
	GOPARAM_GUESSED,  /* the likeliest of several ways */
	GOPARAM_READ,     /* the only way that what its code reads leaves */
	GOPARAM_SAVED,    /* by what the function saves of its registers */
	GOPARAM_ON_STACK, /* all of the function's are on the stack */
};

struct goparam {
	const char *name; /* "" or "_": it has none; results of debug information: "~r0" */
	const struct gotype *type;
	bool is_guess;   /* its place in the order of parameters is; all else of it is certain */
	uint8_t place;   /* enum goparam_place */
	bool by_address; /* of gccgo's methods: the receiver is no pointer, but passed as one */
};

/* Is its name one that its source has? */
static inline bool goparam_has_name(const struct goparam *param)
{
	return param->name && *param->name && *param->name != '_' && *param->name != '~';
}

enum gofunc_source {
	GOFUNC_NONE,
	GOFUNC_SIGNATURE, /* the user's */
	GOFUNC_DEBUGINFO,
	GOFUNC_RTTI,
	GOFUNC_ARGINFO,
	GOFUNC_STDLIB, /* known of Go's standard library, from its sources */
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
