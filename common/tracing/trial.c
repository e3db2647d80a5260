// SPDX-License-Identifier: Apache-2.0
#include "tracing/trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/bpfmap.h"
#include "selection/selection.h"
#include "tracing/tracer_internal.h"

enum { SECOND_NS = 1000 * 1000 * 1000 };

static void sleep_ns(uint64_t ns)
{
	struct timespec left = {ns / SECOND_NS, ns % SECOND_NS};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static int count_calls(struct tracer *tracer, uint64_t ns, trial_fn *fn, void *ctx,
		       struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tracer);
	uint64_t *counts, begin_ns = clock_ns();

	sleep_ns(ns);
	uint64_t took_ns = clock_ns() - begin_ns;

	counts = mem_zalloc(sel->row_count, sizeof(*counts));
	int ret = bpfmap_sum_percpu(tracer_map(tracer, "counts"), sel->row_count, 1, counts);

	if (ret)
		errmsg_set(err, "cannot read the counts: %s", strerror(errno));
	else
		fn(ctx, sel, counts, took_ns);
	free(counts);
	return ret;
}

int trial_run(const struct tracer_config *config, uint64_t ns, trial_fn *fn, void *ctx,
	      struct errmsg *err)
{
	struct tracer *tracer = tracer_new(config, err);

	if (!tracer)
		return -1;
	int ret = tracer_attach(tracer, err) ? -1 : count_calls(tracer, ns, fn, ctx, err);

	tracer_free(tracer);
	return ret;
}
