/* SPDX-License-Identifier: Apache-2.0 */
/* What differs in gccgo's programs. */
#ifndef FUNCINFO_GCCGO_H
#define FUNCINFO_GCCGO_H

#include "abi/abi.h"

struct debuginfo;
struct functab_func;

/* Puts the receiver before the parameters. */
void funcinfo_add_receiver(struct gotypes *memory, const struct goparam *receiver,
			   struct gofunc *out);
/* The same for a signature that a user typed of the function `name`, of which `known` is known:
 * from that, as symbols do not tell whether a receiver is a pointer; otherwise it is a word without
 * a type. By C's rules large results move the parameters: those that are known are added, too,
 * where the user left them out. */
void funcinfo_gccgo_typed(struct gotypes *memory, const char *name, const struct gofunc *known,
			  struct gofunc *out);
/* GCC passes to its clones what it likes, where it likes, and only debug information may know it
 * (`dbg` NULL: there is none). Caller frees *out; what is not known has no pieces. */
void funcinfo_clone_layout(struct debuginfo *dbg, const struct functab_func *fn,
			   const struct gofunc *sig, struct abi_layout *out);

#endif
