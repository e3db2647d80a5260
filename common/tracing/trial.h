/* SPDX-License-Identifier: Apache-2.0 */
/* A look before tracing: how often are functions called, of which each call will cost much more
 * than this count? */
#ifndef TRIAL_H
#define TRIAL_H

#include <stdint.h>

struct errmsg;
struct selection;
struct tracer_config;

/* What was seen: counts[row] calls of each row of the selection, in `took_ns`. */
typedef void trial_fn(void *ctx, const struct selection *sel, const uint64_t *counts,
		      uint64_t took_ns);

/* Counts calls of what this config asks for, for `ns`, with the kernel side of gofunccount, which
 * the config names; then calls fn. A signal ends the tool meanwhile. -1 with *err: nothing was
 * counted, for instance without privileges. */
int trial_run(const struct tracer_config *config, uint64_t ns, trial_fn *fn, void *ctx,
	      struct errmsg *err);

#endif
