/* SPDX-License-Identifier: Apache-2.0 */
/* What gofuncs says of a function's parameters and results:
 *       args     name string (rax, rbx), n int (rcx)
 *       results  ~r0 int (rax), ~r1 error (rbx, rcx)
 *       types    debug information
 */
#ifndef FUNCLIST_TYPES_INTERNAL_H
#define FUNCLIST_TYPES_INTERNAL_H

#include <stdio.h>

#include "abi/abi.h"

struct funclist_types;
struct json;
struct functab_func;
struct program;
struct site_finder;

/* Reads nothing yet. The program and its finder outlive it. */
struct funclist_types *funclist_types_new(const struct program *prog, struct site_finder *finder);
void funclist_types_free(struct funclist_types *types); /* NULL is all right */
const struct program *funclist_types_program(const struct funclist_types *types);

/* funcinfo_type_names() */
uint64_t funclist_types_names(struct funclist_types *types);

/* sig->source GOFUNC_NONE: nothing is known. Places that are guesses are left out. Caller frees the
 * layout in any case. */
void funclist_types_find(struct funclist_types *types, const struct functab_func *fn,
			 struct gofunc *sig, struct abi_layout *layout);

struct copyinfo;
struct inlining_copy;

/* The same for an inlined copy, with the site where its arguments are in these places. */
void funclist_types_copy(struct funclist_types *types, const struct inlining_copy *copy,
			 struct copyinfo *out);

void funclist_types_print(FILE *out, struct funclist_types *types, const struct functab_func *fn);
/* Writes members "args", "results", "types_from" of the open object. */
void funclist_types_json(struct json *json, struct funclist_types *types,
			 const struct functab_func *fn);
/* A copy's lines "args" and "types"; members "args" and "types_from". */
void funclist_types_print_copy(FILE *out, const struct funclist_types *types,
			       const struct copyinfo *known);
void funclist_types_json_copy(struct json *json, const struct funclist_types *types,
			      const struct copyinfo *known);

#endif
