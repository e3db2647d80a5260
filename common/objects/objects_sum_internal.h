/* SPDX-License-Identifier: Apache-2.0 */
/* Of the kinds that were found, how many objects and bytes each has. */
#ifndef OBJECTS_SUM_INTERNAL_H
#define OBJECTS_SUM_INTERNAL_H

#include <stdio.h>

#include "objects/object_walk_internal.h"
#include "objects/objects_print_internal.h"

/* *table: to be freed; its names are the walk's. */
void objects_add_up(struct objects_table *table, const struct object_walk *walk);
/* Lines for stderr, where there is more to say of it. */
void objects_say(FILE *err, const struct object_walk *walk, const struct objects_table *table);

#endif
