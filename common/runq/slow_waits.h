/* SPDX-License-Identifier: Apache-2.0 */
/* gorunqlat --slower: each long wait for a processor, as it ends, and who ran there meanwhile. */
#ifndef SLOW_WAITS_H
#define SLOW_WAITS_H

#include <stdint.h>

struct options;
struct options_tool;

/* Runs to the end, and returns the exit status. `min_ns`: the shortest wait that is printed. */
int slow_waits_run(const struct options_tool *tool, const struct options *opts, uint64_t min_ns);

#endif
