/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the module `selection`: methods that the compiler makes of others. */
#ifndef SELECTION_WRAPPER_INTERNAL_H
#define SELECTION_WRAPPER_INTERNAL_H

#include <stddef.h>

struct selection;

/* Adds a note for each item from `first` on that is a wrapper made by the compiler, with the method
 * that most calls go to: probes on a wrapper may never be hit. */
void selection_note_wrappers(struct selection *sel, size_t first);

#endif
