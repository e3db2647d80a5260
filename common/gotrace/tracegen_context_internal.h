/* SPDX-License-Identifier: Apache-2.0 */
/* $traceid and $ctx("main.keyType"): what the context of a call carries. */
#ifndef TRACEGEN_CONTEXT_INTERNAL_H
#define TRACEGEN_CONTEXT_INTERNAL_H

#include <string.h>

#include "gotrace/tracegen_internal.h"

/* What is known of a program's contexts. */
struct program_contexts {
	uint64_t trace_key; /* descriptor of OpenTelemetry's key for spans; 0: there is none */
	const struct gotype *trace_id; /* of its spans; NULL: their layout is not known */
	const struct gotype *text;     /* string */
};

/* Is it context.Context? */
static inline bool gen_is_context(const struct gotype *type)
{
	return type->kind == GOTYPE_INTERFACE && !strcmp(type->name, "context.Context");
}

struct tracegen_contexts {
	/* NULL: no context of the program carries a value. */
	const struct program_contexts *(*find)(void *ctx);
	void *ctx;
};

/* A trace's ID, which has the state TRACE_NONE where there is none; or a value, as an `any`. */
int gen_context_place(struct gen *gen, const struct expr *expr, struct place *out);
/* The same of $ctx() where a string is wanted. */
int gen_context_string(struct gen *gen, const struct expr *expr, struct place *out);
/* $traceid == "4bf92f3577b34da6a3ce929d0e0e4736"; "" is no trace. */
int gen_trace_equal(struct gen *gen, const struct expr *expr, const struct expr *literal,
		    struct number *out);

#endif
