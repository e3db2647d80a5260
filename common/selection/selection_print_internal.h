/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room selection uses of selection_print. */
#ifndef SELECTION_PRINT_INTERNAL_H
#define SELECTION_PRINT_INTERNAL_H

#include "selection/selection_print.h"

size_t selection_skipped(const struct selection *sel); /* how many items are not */

#endif
