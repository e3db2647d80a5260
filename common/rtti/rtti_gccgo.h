/* SPDX-License-Identifier: Apache-2.0 */
/* gccgo's descriptors. They have addresses where gc's have offsets, and strings for names. Format:
 * libgo/go/runtime/type.go. */
#ifndef RTTI_GCCGO_H
#define RTTI_GCCGO_H

#include "rtti/rtti_desc.h"

struct rtti_link { /* of a program with its library */
	uint64_t addr, to;
	uint64_t copied; /* bytes from `to` on are copied there; 0: it is a word filled with `to` */
};

struct rtti_library {
	const struct image *img;
	struct rtti_link *links; /* by addr; NULL: none */
	size_t link_count;
};

/* The addresses of the library begin here, for one module to refer to both. */
#define RTTI_LIBRARY (UINT64_C(1) << 46)

/* As those of rtti_desc. */
bool rtti_gccgo_read(const struct rtti_module *mod, uint64_t addr, struct rtti_desc *out);
bool rtti_gccgo_field(const struct rtti_module *mod, const struct rtti_desc *desc, size_t index,
		      struct rtti_field *out);
bool rtti_gccgo_package(const struct rtti_module *mod, const struct rtti_desc *desc,
			struct rtti_text *out);
/* What tells a type, as bpf-src/shared/type_key.h has it; 0: not a descriptor. */
uint64_t rtti_gccgo_key(const struct rtti_module *mod, uint64_t addr);
/* Is this the symbol of a descriptor: main.T..d, main.T..p, type..map_6string_7int? */
bool rtti_gccgo_is_symbol(const char *name);
/* A type's name as Go prints it: packages' paths, in tabs, are taken out. Returns its length,
 * which is at most `len`. */
size_t rtti_gccgo_plain(const char *name, size_t len, char *out);

#endif
