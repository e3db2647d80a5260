/* SPDX-License-Identifier: Apache-2.0 */
/* What every tracing tool does between its options and its output: privileges, tracer, messages,
 * the run, and the words about what was lost at the end. */
#ifndef TOOLRUN_H
#define TOOLRUN_H

#include <stdbool.h>

#include "session.h"
#include "tracer.h"

struct json;
struct options;
struct options_tool;

struct toolrun {
	const struct options_tool *tool;
	const struct options *opts;
	struct tracer_config config;
	/* Called by toolrun(), with `ctx`: */
	int (*begin)(void *ctx, struct tracer *tracer, struct errmsg *err); /* attached */
	int (*show)(void *ctx, bool final, struct errmsg *err);             /* at each interval */
	void (*lost)(void *ctx); /* at the end: what was lost, on stderr; NULL: nothing can be */
	int (*stop)(void *ctx);  /* before detaching: make the kernel side idle; NULL: none */
	void *ctx;
};

/* Before each summary: an empty line (it ends the line of the user's ^C), and under -T the time. */
void toolrun_print_time(const struct options *opts);
/* "time":"2026-11-21T04:20:05.123456Z", in UTC */
void toolrun_json_time(struct json *json);

/* Runs to the end and returns the exit status. */
int toolrun(struct toolrun *run);

#endif
