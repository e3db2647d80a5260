/* SPDX-License-Identifier: Apache-2.0 */
/* What a run publishes by --metrics: the functions that it traces. */
#ifndef TOOLRUN_METRICS_INTERNAL_H
#define TOOLRUN_METRICS_INTERNAL_H

#include <stddef.h>

struct errmsg;
struct publisher;
struct toolrun;
struct tracer;

struct toolrun_metrics {
	struct publisher *pub; /* NULL: nothing is published */
	struct toolrun_binary *binaries;
	size_t count, cap;
};

/* Before anything is traced. 0, also without --metrics, or -1 with *err. */
int toolrun_metrics_open(struct toolrun_metrics *metrics, const struct toolrun *run,
			 struct errmsg *err);
/* When counting has begun. */
int toolrun_metrics_begin(struct toolrun_metrics *metrics, const struct toolrun *run,
			  const struct tracer *tracer, struct errmsg *err);
void toolrun_metrics_close(struct toolrun_metrics *metrics);

#endif
