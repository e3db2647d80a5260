// SPDX-License-Identifier: Apache-2.0
/* Functions that hand out the error within another one, and do not fail when they return it. */
#include <string.h>

#include "gotrace/traceplan_internal.h"
#include "probespec/probespec.h"

/* as methods, and as functions of packages such as errors and context, which ask the methods */
static const char *const names[] = {".Unwrap", ".Cause"};

static bool uses_error(const struct expr *expr)
{
	return expr && (expr->kind == EXPR_ERROR || uses_error(expr->a) || uses_error(expr->b) ||
			uses_error(expr->c));
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

bool traceplan_unwraps(const struct probespec *spec, const char *name, const struct gofunc *sig)
{
	if (!uses_error(spec->predicate) || sig->result_count != 1 || sig->param_count > 1)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (ends_with(name, names[i]) && !ends_with(spec->target, names[i]))
			return true;
	return false;
}
