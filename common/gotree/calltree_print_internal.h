/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room gotree prints. */
#ifndef CALLTREE_PRINT_INTERNAL_H
#define CALLTREE_PRINT_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

struct calltree;

/* As events of Chrome's trace event format (docs.google.com, "Trace Event Format"), which Perfetto
 * reads: a complete event ("X") for each call, one a line, and the process's and the goroutine's
 * names; the goroutine is the thread. `more`: others stand before it. */
void calltree_trace(FILE *out, const struct calltree *tree, bool more);

#endif
