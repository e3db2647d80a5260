// SPDX-License-Identifier: Apache-2.0
#include "selection/unmatched.h"

#include <stddef.h>

#include "base/budget.h"
#include "base/errmsg.h"
#include "golang/pattern.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/nearest_internal.h"
#include "sites/inlining.h"

struct sought {
	struct pattern *pat;
	bool found;
};

static bool on_copy(const struct inlining_copy *copy, void *ctx)
{
	struct sought *sought = ctx;

	sought->found = pattern_match(sought->pat, copy->name);
	return !sought->found;
}

bool unmatched_by_all(const struct program *prog, struct pattern *pat, struct errmsg *err)
{
	struct budget names = budget_new(functab_file_size(prog->tab), BUDGET_NAMES);
	struct sought sought = {.pat = pat};
	struct functab_func fn;

	for (size_t i = 0; i < functab_count(prog->tab) && !sought.found; i++)
		sought.found = functab_func(prog->tab, i, &fn) &&
			       (!budget_take_name(&names, fn.name) || pattern_match(pat, fn.name));
	if (sought.found || functab_left_out(prog->tab) ||
	    inlining_each(prog->tab, on_copy, &sought) || sought.found)
		return false;
	errmsg_set(err, "no function matches \"%s\"", pattern_text(pat));
	nearest_hint_of(prog, pattern_text(pat), err);
	return true;
}
