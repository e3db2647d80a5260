/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and types of a program, from the first source that knows them: a signature that the
 * user typed, debug information, run-time type information. */
#ifndef FUNCINFO_H
#define FUNCINFO_H

#include "abi/abi.h"
#include "golang/gotype.h"

struct debuginfo_variable;
struct errmsg;
struct funcinfo;
struct functab_func;
struct program;
struct rtti;
struct signature_names;

/* Opens nothing yet. The program and `memory` outlive it. */
struct funcinfo *funcinfo_new(const struct program *prog, struct gotypes *memory);
void funcinfo_free(struct funcinfo *info); /* NULL is all right */

/* A function's signature; GOFUNC_NONE if nothing is known of it, or only something that its code
 * contradicts: its parameters are then raw words. */
void funcinfo_find(struct funcinfo *info, const struct functab_func *fn, struct gofunc *out);
/* The signature that the user gives for the function; `col` is the column where it begins, for
 * messages. 0, or -1 with *err ("col 12: ..."), also if the program shows that it is another
 * function's. Results may be left out. */
int funcinfo_signature(struct funcinfo *info, const struct functab_func *fn, const char *text,
		       unsigned col, struct gofunc *out, struct errmsg *err);
/* Finds the program's types by name. */
struct signature_names funcinfo_names(struct funcinfo *info);
/* The n-th of the types that signatures name and the program does not have, so that nothing but the
 * addresses of pointers to them is shown; NULL: there are no more. */
const char *funcinfo_missing(const struct funcinfo *info, size_t n);
/* Where the function passes the parameters and results of its signature, which is from one of the
 * above. Caller frees. Returns struct evidence's `restart`; 0: register arguments are intact after
 * the stack has grown. */
uint64_t funcinfo_layout(struct funcinfo *info, const struct functab_func *fn,
			 const struct gofunc *sig, struct abi_layout *out);
/* If nothing is known of the signature: sizes and places of the parameters, as argtable_read(). */
bool funcinfo_table(struct funcinfo *info, const struct functab_func *fn, struct gofunc *sig,
		    struct abi_layout *layout);
/* Parameters as words, where the compiler's argument tables are all that is known of a function: a
 * slice is {0x4a3f20, 0x3, 0x4}. What two words are is found out as they are read. False: there is
 * no table, or, with `whole`, one that does not tell the place of each parameter; then *sig is as
 * before, and there is nothing to free. */
bool funcinfo_words(struct funcinfo *info, const struct functab_func *fn, bool whole,
		    struct gofunc *sig, struct abi_layout *abi);
/* Gives the first of the parameters, which are words, the type that the function's name says: that
 * of a method's receiver, "(*client)". Where it is no word, or not known, nothing changes. */
void funcinfo_type_receiver(struct funcinfo *info, const struct functab_func *fn,
			    struct gofunc *sig);

/* gccgo: types that the program refers to are looked for in its library as well, which outlives it.
 */
void funcinfo_link(struct funcinfo *info, struct funcinfo *library);

/* By the address of its run-time descriptor; NULL: unknown. */
const struct gotype *funcinfo_rtype(struct funcinfo *info, uint64_t addr, bool *direct);
/* gccgo: rtti_key() of a descriptor; 0: of no other program */
uint64_t funcinfo_rtype_key(struct funcinfo *info, uint64_t addr);
/* The run-time type information itself, opened the first time; NULL: there is none. */
struct rtti *funcinfo_rtti(struct funcinfo *info);
/* Where names of types are: rtti_names(); 0: not known. */
uint64_t funcinfo_type_names(struct funcinfo *info);
/* All types with a run-time descriptor. */
void funcinfo_each_rtype(struct funcinfo *info,
			 bool (*fn)(const struct gotype *type, bool direct, void *ctx), void *ctx);

#endif
