/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `selection`: methods that the compiler makes of others. */
#ifndef SELECTION_WRAPPER_H
#define SELECTION_WRAPPER_H

#include <stddef.h>

struct selection;

/* Notes of items from `first` on that are wrappers made by the compiler where their calls go: who
 * probes one by its name may wait in vain. */
void selection_note_wrappers(struct selection *sel, size_t first);

#endif
