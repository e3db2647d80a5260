// SPDX-License-Identifier: Apache-2.0
/* Warnings about PROBEs: kept once, even if several functions cause them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "gotrace/traceplan_internal.h"

enum { WARNINGS_MAX = 16 };

void traceplan_warn(void *ctx, const char *warning)
{
	struct traceplan *plan = ctx;

	for (size_t i = 0; i < plan->warning_count; i++)
		if (!strcmp(plan->warnings[i], warning))
			return;
	if (plan->warning_count == WARNINGS_MAX)
		return;
	plan->warnings = mem_grow(plan->warnings, plan->warning_count, &plan->warning_cap,
				  sizeof(*plan->warnings));
	plan->warnings[plan->warning_count++] = mem_strdup(warning);
}

void traceplan_say_warnings(const struct traceplan *plan, const char *tool)
{
	for (size_t i = 0; i < plan->warning_count; i++) {
		fprintf(stderr, "%s: warning: ", tool);
		escape_print(stderr, plan->warnings[i]);
		fputc('\n', stderr);
	}
}

void traceplan_free_warnings(struct traceplan *plan)
{
	for (size_t i = 0; i < plan->warning_count; i++)
		free(plan->warnings[i]);
	free(plan->warnings);
}
