// SPDX-License-Identifier: Apache-2.0
#include "roots/starts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "bpf-src/shared/starts.h"
#include "golang/release.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "selection/selection.h"
#include "tracing/tracer.h"

static int add_func(struct tracer *tracer, enum starts_func what, bool returns,
		    const struct runtime_func *func, struct errmsg *err)
{
	struct selection *sel = tracer_selection(tracer);
	int ret = 0;

	selection_group(sel, sel->group + 1, returns);
	sel->runtime = what;
	for (size_t i = 0; !ret && i < tracer_program_count(tracer); i++)
		ret = runtime_func_add(sel, tracer_program(tracer, i), func, err);
	sel->runtime = 0;
	return ret;
}

static bool has_args(const struct program *prog)
{
	return prog->release < RELEASE_GO_WITHOUT_ARGS;
}

/* One kernel side serves all programs. */
static int check_releases(const struct tracer *tracer, const char *asked, struct errmsg *err)
{
	const struct program *first = tracer_program(tracer, 0);

	for (size_t i = 0; i < tracer_program_count(tracer); i++) {
		const struct program *prog = tracer_program(tracer, i);

		if (!prog->release_told)
			return errmsg_set(
				err, "\"%s\": %s needs to know the release of Go that built it",
				prog->path, asked);
		if (has_args(prog) == has_args(first))
			continue;
		errmsg_set(err,
			   "\"%s\" and \"%s\" cannot be traced together with %s: their Go versions "
			   "differ too much",
			   first->path, prog->path, asked);
		errmsg_hint(err, "trace them in two commands");
		return -1;
	}
	return 0;
}

int starts_plan(struct tracer *tracer, const char *asked, struct errmsg *err)
{
	static const struct runtime_func starts = {.names = {"runtime.newproc1"}};
	static const struct runtime_func ends = {.names = {"runtime.gdestroy", "runtime.goexit0"}};

	if (check_releases(tracer, asked, err) ||
	    add_func(tracer, FOLLOW_START, true, &starts, err) ||
	    add_func(tracer, FOLLOW_END, false, &ends, err))
		return -1;
	if (!has_args(tracer_program(tracer, 0)))
		tracer_define(tracer, "CALLER_SECOND", 1);
	return 0;
}

int starts_check(const struct tracer *tracer, const char *asked, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tracer);

	for (size_t i = 0; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (item->runtime && item->skipped)
			return errmsg_set(err, "%s: %s cannot be traced: %s", asked,
					  sel->rows[item->row].name, item->skipped);
	}
	return 0;
}
