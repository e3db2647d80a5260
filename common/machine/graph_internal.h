/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room machine uses of graph. */
#ifndef GRAPH_INTERNAL_H
#define GRAPH_INTERNAL_H

#include "machine/graph.h"

void graph_find_dominators(struct graph *graph); /* a part of graph_build() */

#endif
