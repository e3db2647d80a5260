/* SPDX-License-Identifier: Apache-2.0 */
/* gccgo's descriptors. They have addresses where gc's have offsets, and strings for names. Format:
 * libgo/go/runtime/type.go. */
#ifndef TYPEDESC_GCCGO_H
#define TYPEDESC_GCCGO_H

#include "program/typedesc.h"

extern const struct typedesc_dialect typedesc_gccgo;

struct typedesc_link { /* of a program with its library */
	uint64_t addr, to;
	uint64_t copied; /* bytes from `to` on are copied there; 0: it is a word filled with `to` */
};

struct typedesc_library {
	const struct image *img;
	struct typedesc_link *links; /* by addr; NULL: none */
	size_t link_count;
};

/* The addresses of the library begin here, for one module to refer to both. */
#define TYPEDESC_LIBRARY (UINT64_C(1) << 46)

/* What tells a type, as bpf-src/shared/type_key.h has it; 0: not a descriptor. */
uint64_t typedesc_gccgo_key(const struct typedesc_module *mod, uint64_t addr);
/* Is this the symbol of a descriptor: main.T..d, main.T..p, type..map_6string_7int? */
bool typedesc_gccgo_is_symbol(const char *name);

#endif
