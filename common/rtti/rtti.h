/* SPDX-License-Identifier: Apache-2.0 */
/* Run-time type information: the type descriptors that every Go program carries, stripped or not.
 * Formats: Go's src/internal/abi/type.go and src/runtime/type.go of each version. */
#ifndef RTTI_H
#define RTTI_H

#include <stdbool.h>
#include <stdint.h>

#include "golang/gofunc.h"

struct errmsg;
struct image;
struct functab;
struct rtti;

/* NULL with *err if the program's moduledata was not found or
 * has no types. */
struct rtti *rtti_open(const struct image *img, const struct functab *tab, int release,
		       struct gotypes *types, struct errmsg *err);
void rtti_close(struct rtti *rtti); /* NULL is all right */
/* gccgo: searches the library, too, for what the program's descriptors refer to. Call this before
 * types are asked for; the library outlives it. */
void rtti_link(struct rtti *rtti, const struct image *img);
/* gccgo: what tells the type with a descriptor at `addr` in all files that have one of it, in 48
 * bits; 0: no descriptor. */
uint64_t rtti_key(const struct rtti *rtti, uint64_t addr);

/* The type whose descriptor is at virtual address `addr`; NULL: there is none, or it is malformed.
 * Its `rtype` is addr. */
const struct gotype *rtti_type(struct rtti *rtti, uint64_t addr);
/* By Go's name: "net/http.Request", or "http.Request" if that is unique; NULL: none. */
const struct gotype *rtti_named(struct rtti *rtti, const char *name);

/* gccgo: the name, as Go prints it, of the types whose last part is `last`, of one kind and size
 * (UINT64_MAX: any). NULL: there is none, or *several, of different names. */
const char *rtti_last(struct rtti *rtti, const char *last, enum gotype_kind kind, uint64_t size,
		      bool *several);

/* The address that the name offsets in descriptors count from; 0: names are not written as from Go
 * 1.17 on, with their length as a varint. */
uint64_t rtti_names(const struct rtti *rtti);

/* Does an interface hold a value of this type in its data word itself, and not behind it? */
bool rtti_is_direct(const struct rtti *rtti, uint64_t addr);

/* The signature of the method whose code begins at virtual address `addr`, receiver first, from
 * the method tables of types; parameters have no names. 0; -1: no table has it. */
int rtti_func(struct rtti *rtti, uint64_t addr, struct gofunc *out);

/* Did the compiler make the type's method Error, from that of an embedded field? */
bool rtti_promotes_error(struct rtti *rtti, uint64_t addr);

/* Calls fn once for every descriptor that can be found. Stops when fn returns false. */
void rtti_each(struct rtti *rtti, bool (*fn)(const struct gotype *type, void *ctx), void *ctx);

#endif
