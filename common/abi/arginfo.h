/* SPDX-License-Identifier: Apache-2.0 */
/* What Go's tracebacks know of a function's parameters (FUNCDATA_ArgInfo, from Go 1.17, in stripped
 * programs too): size and place of each component, and how they are nested. Format: Go's
 * src/cmd/compile/internal/ssagen/pgen.go (emitArgInfo), src/runtime/traceback.go (printArgs).
 * What it leaves out: results, and of a function with "[" in its name the first parameter, be that
 * the hidden dictionary or not. */
#ifndef ARGINFO_H
#define ARGINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "golang/gotype.h"

struct image;
struct pclntab;
struct pclntab_func;

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
bool arginfo_read(const struct image *img, const struct pclntab *tab, const struct pclntab_func *fn,
		  struct arginfo *out);
/* The item after the parameter that begins with item `at`. */
size_t arginfo_next(const struct arginfo *info, size_t at);
/* Could the parameter that begins with item `at` be of this type? */
bool arginfo_fits(const struct arginfo *info, size_t at, const struct gotype *type);

#endif
