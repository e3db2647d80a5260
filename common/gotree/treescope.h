/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions' calls make up a tree: those that were asked for, or of ROOT's own module. */
#ifndef TREESCOPE_H
#define TREESCOPE_H

#include <stddef.h>

struct errmsg;
struct selection;

/* Adds functions of ROOT's own module, as far as the program tells it, to the selection, which has
 * ROOT alone; or of its package, if the program has too many of the module. *taken: "module
 * go.etcd.io/etcd", malloc'd. -1 with *err and a remedy: too many. */
int treescope_add_module(struct selection *sel, char **taken, struct errmsg *err);

/* Adds what these PATTERNs match in ROOT's program. `binary`: ROOT's, which they may have too;
 * NULL: none. One that matches nothing is told by a note. -1 with *err. */
int treescope_add_patterns(struct selection *sel, char *const *patterns, size_t count,
			   const char *binary, struct errmsg *err);

#endif
