/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of programs for Prometheus: under the names that its own collectors for Go and for
 * processes have, gostat_... where these have none. */
#ifndef STATS_METRICS_H
#define STATS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "gostat/stats.h"

struct stats_published { /* of one process */
	int pid;
	int release;   /* N of Go 1.N; -1: not known */
	char comm[64]; /* of any bytes */
	struct stats now;
};

/* Families of all of them. What is not known of a process has no sample. */
void stats_metrics_write(FILE *out, bool openmetrics, const struct stats_published *all,
			 size_t count);

#endif
