/* SPDX-License-Identifier: Apache-2.0 */
/* Says what was lost, as bpf-src/parts/losses.bpf.c counts it. */
#ifndef LOSSES_H
#define LOSSES_H

#include <stddef.h>
#include <stdint.h>

/* Reads all kinds from the map into `counts`, and prints on stderr, of each that there is any of
 * and that `said` has words for, "TOOL: N WORDS". That they cannot be read is said as well: then
 * all are 0. */
void losses_say(int map, const char *tool, const char *const *said, uint64_t *counts, size_t kinds);

#endif
