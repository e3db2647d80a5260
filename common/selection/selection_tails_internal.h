/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `selection`: where calls end that leave their function by a jump. */
#ifndef SELECTION_TAILS_H
#define SELECTION_TAILS_H

struct selection;

/* When the sites of all items are known: follows the jumps, from function to function, to where
 * they return. Fills sel->tails, and marks the items whose ends these are. Of jumps that cannot be
 * followed it adds a note. */
void selection_find_tails(struct selection *sel);

#endif
