/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are called so often that a tree is better without them: each of their calls would
 * cost the program more than it tells. */
#ifndef HOTCALLS_H
#define HOTCALLS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct hotcalls;
struct selection;

/* Finds those among the rows from `first` on: the ones that are called most, so that the others and
 * the rows before have at most `budget` calls a second together, if that can be. Caller frees. */
struct hotcalls *hotcalls_new(const struct selection *sel, size_t first, const uint64_t *counts,
			      uint64_t took_ns, uint64_t budget);
void hotcalls_free(struct hotcalls *hot); /* NULL is all right */
/* Those of this name are not traced; of the rows from `first` on. */
void hotcalls_skip(const struct hotcalls *hot, struct selection *sel, size_t first);
/* "TOOL: 2 functions are called too often, and left out: main.a (91000 calls a second), ...", with
 * a hint; nothing if there are none. */
void hotcalls_say(FILE *out, const struct hotcalls *hot, const char *tool);

#endif
