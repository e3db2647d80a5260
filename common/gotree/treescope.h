/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions' calls make up a tree: those that were asked for, or of ROOT's own module. */
#ifndef TREESCOPE_H
#define TREESCOPE_H

#include <stdbool.h>
#include <stddef.h>

struct errmsg;
struct selection;

/* Adds functions of ROOT's own module, as far as the program tells it, to the selection, whose
 * first `roots` rows are ROOT's; or of its package, if the program has too many of the module. If
 * there are several programs with a ROOT, of each. *taken: "module go.etcd.io/etcd", malloc'd, of
 * the first. -1 with *err and a remedy: too many. */
int treescope_add_module(struct selection *sel, size_t roots, char **taken, struct errmsg *err);

/* Adds what these PATTERNs match in ROOT's programs. `binary`: ROOT's, which they may have too;
 * NULL: none. One that matches nothing is told by a note. -1 with *err. */
int treescope_add_patterns(struct selection *sel, size_t roots, char *const *patterns, size_t count,
			   const char *binary, struct errmsg *err);

/* Is this the first of the rows that is of its program? */
bool treescope_is_first(const struct selection *sel, size_t row);

#endif
