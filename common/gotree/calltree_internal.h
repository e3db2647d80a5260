/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room gotree asks of a tree. */
#ifndef CALLTREE_INTERNAL_H
#define CALLTREE_INTERNAL_H

#include <stdbool.h>

#include "gotree/calltree.h"

/* The name of a call's function; lives as long as the selection. */
const char *calltree_func(const struct calltree *tree, const struct tree_call *call);
/* "return", "panic", "exit", "running"; "jump", "unseen", "unfollowed": see enum tree_how */
const char *calltree_how(const struct tree_call *call);
/* Can what follows rely on the order of calls? False: the kernel side makes no such tree. */
bool calltree_is_whole(const struct tree *tree);
/* What was called below: 1; ROOT itself: 0. depths[n] of call n; malloc'd. */
uint32_t *calltree_depths(const struct calltree *tree);

#endif
