// SPDX-License-Identifier: Apache-2.0
/* Warnings about PROBEs, kept once, even if several functions cause them; and how plans are served.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "base/progress.h"
#include "gotrace/traceplan_internal.h"
#include "gotrace/traceplan_tables_internal.h"
#include "gotrace/traceplan_text_internal.h"

enum { WARNINGS_MAX = 16, MANY_COMPILED = 150 };

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

void traceplan_say_warnings(const struct traceplan *plan)
{
	for (size_t i = 0; i < plan->warning_count; i++) {
		fprintf(stderr, "%s: warning: ", plan->config->tool);
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

void traceplan_say_compiling(const struct traceplan *plan)
{
	size_t compiled = traceplan_text_compiled(plan->text);

	progress_signatures(compiled);
	if (compiled <= MANY_COMPILED || plan->config->histograms)
		return;
	progress_pause();
	fprintf(stderr,
		"%s: compiling for %zu different signatures, which takes a while\n"
		"hint: name fewer functions, or print less, as in '* \"%%d\", $goid'\n",
		plan->config->tool, compiled);
	progress_resume();
}

void traceplan_say_served(const struct traceplan *plan)
{
	size_t compiled = traceplan_text_compiled(plan->text);
	size_t tables = traceplan_text_count(plan->text) - compiled;

	fprintf(stderr, "%s: arguments are read by ", plan->config->tool);
	if (tables)
		fprintf(stderr, "%zu table%s%s", tables, tables == 1 ? "" : "s",
			compiled ? ", and by " : "");
	if (compiled || !tables)
		fprintf(stderr, "code for %zu signature%s", compiled, compiled == 1 ? "" : "s");
	fprintf(stderr, plan->why_no_tables ? ": %s\n" : "\n", plan->why_no_tables);
}
