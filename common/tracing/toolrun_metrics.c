// SPDX-License-Identifier: Apache-2.0
#include "tracing/toolrun_metrics_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "files/process.h"
#include "metrics/publisher.h"
#include "program/program.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"
#include "tracing/tracer_state_internal.h"

struct toolrun_binary { /* what a program is called in metrics */
	const struct program *prog;
	char *path;
};

int toolrun_metrics_open(struct toolrun_metrics *metrics, const struct toolrun *run,
			 struct errmsg *err)
{
	struct publisher_spec spec = {.tool = run->tool->name,
				      .where = run->opts->metrics,
				      .max_series = run->opts->max_series,
				      .interval_ns = run->opts->interval_ns};

	if (!run->opts->metrics)
		return 0;
	metrics->pub = publisher_open(&spec, err);
	return metrics->pub ? 0 : -1;
}

void toolrun_metrics_close(struct toolrun_metrics *metrics)
{
	publisher_close(metrics->pub);
	for (size_t i = 0; i < metrics->count; i++)
		free(metrics->binaries[i].path);
	free(metrics->binaries);
}

/* It shall not change when a process or the tool is started again: no PID, and no path that depends
 * on the folder that the tool was started in. */
static char *path_of(const struct tracer *tracer, const struct program *prog)
{
	char *path = NULL;

	if (tracer->process && !strncmp(prog->path, "/proc/", 6))
		path = process_exe_path(tracer->process);
	else if (*prog->path != '/')
		path = realpath(prog->path, NULL);
	return path ? path : mem_strdup(prog->path);
}

static const char *binary_of(struct toolrun_metrics *metrics, const struct tracer *tracer,
			     const struct program *prog)
{
	for (size_t i = 0; i < metrics->count; i++)
		if (metrics->binaries[i].prog == prog)
			return metrics->binaries[i].path;
	metrics->binaries = mem_grow(metrics->binaries, metrics->count, &metrics->cap,
				     sizeof(*metrics->binaries));
	struct toolrun_binary *added = &metrics->binaries[metrics->count++];

	*added = (struct toolrun_binary){prog, path_of(tracer, prog)};
	return added->path;
}

int toolrun_metrics_begin(struct toolrun_metrics *metrics, const struct toolrun *run,
			  const struct tracer *tracer, struct errmsg *err)
{
	const struct selection *sel = tracer->sel;

	if (!metrics->pub)
		return 0;
	for (size_t i = 0; i < sel->row_count; i++) {
		const struct selection_row *row = &sel->rows[i];

		/* one that cannot be traced has no number, not even 0 */
		if (!row->hidden && (row->funcs || row->copies))
			publisher_add_row(metrics->pub, i, row->name,
					  binary_of(metrics, tracer, row->prog));
	}
	return publisher_begin(metrics->pub, run->metrics, run->ctx, err);
}
