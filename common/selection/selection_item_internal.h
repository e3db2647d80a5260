/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SELECTION_ITEM_INTERNAL_H
#define SELECTION_ITEM_INTERNAL_H

struct program;
struct selection;
struct selection_item;

/* Adds an item of the current group to the row of this name, which lives as long as the program;
 * the caller fills in the rest, and counts it in its row. Valid until the next is added. */
struct selection_item *selection_add_item(struct selection *sel, const struct program *prog,
					  const char *name);

#endif
