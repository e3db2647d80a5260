/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room program uses of typedesc_gccgo. */
#ifndef TYPEDESC_GCCGO_INTERNAL_H
#define TYPEDESC_GCCGO_INTERNAL_H

#include "program/typedesc_gccgo.h"

/* Has the type whose descriptor stands at addr a method of this name with a receiver that is no
 * pointer, its own or promoted? */
bool typedesc_gccgo_has_method(const struct typedesc_module *mod, uint64_t addr, const char *name);

#endif
