/* SPDX-License-Identifier: Apache-2.0 */
/* What differs in gccgo's programs. */
#ifndef FUNCINFO_GCCGO_INTERNAL_H
#define FUNCINFO_GCCGO_INTERNAL_H

#include "abi/abi.h"

struct debuginfo;
struct functab_func;

/* Puts the receiver before the parameters. */
void funcinfo_add_receiver(struct gotypes *memory, const struct goparam *receiver,
			   struct gofunc *out);
/* The same for a signature that a user typed for the function `name`. The receiver is taken from
 * `known`, what debug information says of the function, as symbols do not tell whether it is a
 * pointer; else it is a word without a type. If the user left the results out, they are taken from
 * there, too: in C's convention large results move the parameters. */
void funcinfo_gccgo_typed(struct gotypes *memory, const char *name, const struct gofunc *known,
			  struct gofunc *out);
/* Clones that GCC makes of a function follow no calling convention: only debug information may tell
 * which arguments are passed, and where (`dbg` NULL: there is none). Caller frees *out; what is not
 * known has no pieces. */
void funcinfo_clone_layout(struct debuginfo *dbg, const struct functab_func *fn,
			   const struct gofunc *sig, struct abi_layout *out);

#endif
