/* SPDX-License-Identifier: Apache-2.0 */
/* Types and signatures from DWARF 4 and 5: in the program's file, compressed or not, or in the
 * separate file that its build ID or its debug link names. */
#ifndef DEBUGINFO_H
#define DEBUGINFO_H

#include <stdint.h>

#include "gofunc.h"

struct debuginfo;
struct errmsg;
struct image;

/* NULL with *err: why there is none ("stripped of debug information, and no separate file ...").
 * `minor`: Go 1.MINOR. Types go to `types`. */
struct debuginfo *debuginfo_open(const struct image *img, int minor, struct gotypes *types,
				 struct errmsg *err);
void debuginfo_close(struct debuginfo *dbg); /* NULL is all right */

/* The signature of the function that begins at virtual address `addr` and is called `name` in
 * pclntab (which tells a generic one). 0; -1: nothing is known of it. */
int debuginfo_func(struct debuginfo *dbg, uint64_t addr, const char *name, struct gofunc *out);

/* By Go's name, "net/http.Request" or, where that is unique, "http.Request"; NULL: none. */
const struct gotype *debuginfo_type(struct debuginfo *dbg, const char *name);

#endif
