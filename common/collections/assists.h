/* SPDX-License-Identifier: Apache-2.0 */
/* Who had to mark for the collector because it allocated: by stack, as gogc.bpf.c has added it up.
 */
#ifndef ASSISTS_H
#define ASSISTS_H

#include <stdint.h>

struct collections_view;
struct errmsg;

/* Prints those of the map, most time first; `entry`: the address of the probe with load bias 0.
 * 0; -1 with *err. */
int assists_print(const struct collections_view *view, int map, uint64_t entry, struct errmsg *err);
/* The same, a JSON object for each stack. */
int assists_json(const struct collections_view *view, int map, uint64_t entry, struct errmsg *err);

#endif
