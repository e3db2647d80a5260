/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's argument tables for tracebacks (FUNCDATA_ArgInfo, from Go 1.17 on, in stripped
 * programs too): size, place and nesting of each component of a function's parameters. Format:
 * Go's src/cmd/compile/internal/ssagen/pgen.go (emitArgInfo) and src/runtime/traceback.go
 * (printArgs). The tables have no results, and, for functions with "[" in their name, not the
 * first parameter, even if that is not the hidden dictionary. */
#ifndef ARGINFO_H
#define ARGINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "golang/gotype.h"

struct image;
struct functab;
struct functab_func;

enum arginfo_kind {
	ARGINFO_VALUE,
	ARGINFO_OPEN,  /* a string, slice, interface, complex number, array or struct begins */
	ARGINFO_CLOSE, /* and ends */
	ARGINFO_MORE,  /* there is more than is told */
};

struct arginfo_item {
	uint8_t kind;
	uint8_t size; /* of a VALUE, bytes */
	int16_t off;  /* of a VALUE: bytes from the first stack argument: its place, or for one in a
		       * register the place it is spilled to; -1: too far to be told */
};

enum { ARGINFO_ITEMS = 256 };

struct arginfo {
	struct arginfo_item items[ARGINFO_ITEMS];
	size_t count;
	bool truncated; /* parameters at the end are missing */
};

/* false: there is none (a function without parameters, assembly, Go before 1.17), or it is
 * malformed. Then *out has no items. */
bool arginfo_read(const struct image *img, const struct functab *tab, const struct functab_func *fn,
		  struct arginfo *out);
/* The item after the parameter that begins with item `at`. */
size_t arginfo_next(const struct arginfo *info, size_t at);
/* Could the parameter that begins with item `at` be of this type? */
bool arginfo_fits(const struct arginfo *info, size_t at, const struct gotype *type);

#endif
