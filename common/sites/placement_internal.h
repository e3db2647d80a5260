/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler may move code that only computes down into a branch, if only that needs the result
 * (cmd/compile's tighten), but never into a loop. Such a branch comes after the code in the source.
 * So if an inlined copy has no instruction that must stay, its place is used only if every branch
 * that decides whether it runs comes before its call in the source, or is the exit of a loop that
 * it is in. */
#ifndef PLACEMENT_INTERNAL_H
#define PLACEMENT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct functab_func;
struct site_finder;

/* Is block `b` of the finder's graph where the call of inline tree node `node` stands in the
 * source? The finder's flow, graph and tree are of `fn`. False when the source lines do not say. */
bool placement_agrees(const struct site_finder *finder, const struct functab_func *fn, int32_t node,
		      uint32_t b);

#endif
