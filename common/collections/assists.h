/* SPDX-License-Identifier: Apache-2.0 */
/* Who had to mark or to sweep for the collector because it allocated: by stack, as gogc.bpf.c has
 * added it up. */
#ifndef ASSISTS_H
#define ASSISTS_H

#include <stdint.h>

struct collections_view;
struct errmsg;

/* Prints those of the map, most time first: a table of who marked, one of who swept. `entries`:
 * addresses of the probes with load bias 0, by enum gc_func. 0; -1 with *err. */
int assists_print(const struct collections_view *view, int map, const uint64_t *entries,
		  struct errmsg *err);
/* The same, a JSON object for each stack. */
int assists_json(const struct collections_view *view, int map, const uint64_t *entries,
		 struct errmsg *err);

#endif
