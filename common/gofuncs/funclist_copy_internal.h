/* SPDX-License-Identifier: Apache-2.0 */
/* What gofuncs says of an inlined copy: the calls that it stands for, and its arguments.
 *       caller   main.twice, /src/x.go:55
 *                main.main, /src/x.go:80
 *       args     a int (rax), b int (optimised out)
 *       types    debug information
 *       args at  0x47b1c6 file offset 0x7b1c6, inlined, single-stepped
 * The last line only if that site is not the entry site. */
#ifndef FUNCLIST_COPY_INTERNAL_H
#define FUNCLIST_COPY_INTERNAL_H

#include <stdio.h>

#include "program/gostack_symbols.h"

struct funclist_types;
struct json;
struct selection_item;
struct site;

/* The lines from the copy's own outward; valid until syms is asked again. */
struct gostack_place funclist_copy_place(struct gostack_symbols *syms,
					 const struct selection_item *item);

/* `place`: from funclist_copy_place(). Fills *at with the site where the arguments are; addr 0:
 * nowhere. */
void funclist_copy_print(FILE *out, struct funclist_types *types, const struct gostack_place *place,
			 const struct selection_item *item, struct site *at);
/* Writes members "callers", "args", "types_from" of the open object. *at as above. */
void funclist_copy_json(struct json *json, struct funclist_types *types,
			const struct gostack_place *place, const struct selection_item *item,
			struct site *at);

#endif
