/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room readers uses of readmetrics. */
#ifndef READMETRICS_INTERNAL_H
#define READMETRICS_INTERNAL_H

#include "readers/readmetrics.h"

struct goprocesses_wanted;
struct options;
struct options_tool;

struct readmetrics {
	const struct readmetrics_source *source;
	const struct options_tool *tool;
	const struct options *opts;
	const struct goprocesses_wanted *wanted;
	bool has_failed; /* one that was asked for by its PID could not be read */
};

/* Until a signal, the end of -d, or that of all that were given by PID. -1 with *err. */
int readmetrics_run(struct readmetrics *metrics, struct errmsg *err);

#endif
