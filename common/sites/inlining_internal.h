/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room sites uses of inlining. */
#ifndef INLINING_INTERNAL_H
#define INLINING_INTERNAL_H

#include "sites/inlining.h"

/* The site that every run of the copy passes exactly once. 0, or -1 with *reason. */
int inlining_entry(struct site_finder *finder, const struct inlining_copy *copy, struct site *out,
		   const char **reason);
/* For timing: the copy's start and its ends. A copy that only forwards to another function is
 * timed over its one call: *entry is then SITE_INLINED_CALL. Returns 0, or -1 with *reason if runs
 * cannot be told apart, or if their time would include code of the caller. */
int inlining_span(struct site_finder *finder, const struct inlining_copy *copy, struct site *entry,
		  struct site_list *exits, const char **reason);

#endif
