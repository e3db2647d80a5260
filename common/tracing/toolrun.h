/* SPDX-License-Identifier: Apache-2.0 */
/* What every tracing tool does between its options and its output: checks privileges, makes the
 * tracer, prints messages, waits, and reports losses at the end. */
#ifndef TOOLRUN_H
#define TOOLRUN_H

#include <stdbool.h>

#include "tracing/session.h"
#include "tracing/tracer.h"

struct events;
struct json;
struct options;
struct options_tool;
struct profile;
struct profile_spec;
struct publisher_source;

struct toolrun {
	const struct options_tool *tool;
	const struct options *opts;
	struct tracer_config config;
	/* Called by toolrun(), with `ctx`: */
	int (*begin)(void *ctx, struct tracer *tracer, struct errmsg *err); /* attached */
	/* at each interval, and at the end; NULL: nothing to show then */
	int (*show)(void *ctx, bool final, struct errmsg *err);
	/* some times a second, to keep the maps from filling up; NULL: nothing to do */
	void (*sweep)(void *ctx);
	void (*lost)(void *ctx); /* at the end: what was lost, on stderr; NULL: nothing can be */
	int (*stop)(void *ctx);  /* before detaching: make the kernel side idle; NULL: none */
	/* Where `begin` puts the events that come as it happens: they are read some times a
	 * second, when the kernel side wakes their reader, and to the last one at the end. The run
	 * ends where their function answers false. NULL: there are none. */
	struct events **events;
	/* in place of the line "Tracing N functions..."; NULL: that line */
	void (*started)(void *ctx);
	/* for --metrics, with `ctx`; NULL: the tool has no such option */
	const struct publisher_source *metrics;
	/* for --pprof; NULL: the tool has no such option */
	const struct profile_spec *profile_spec;
	/* With --pprof, from before `begin` on: `show` adds to it, and after the last time it is
	 * written. Else NULL. */
	struct profile *profile;
	bool folded;     /* stdout has folded stacks alone */
	bool quiet_end;  /* no line "Detaching..." */
	bool quiet_cost; /* what hits cost is told under -v only */
	void *ctx;
};

/* Before each summary: an empty line (it ends the line of the user's ^C), and under -T the time. */
void toolrun_print_time(const struct options *opts);
/* "time":"2026-11-21T04:20:05.123456Z", in UTC */
void toolrun_json_time(struct json *json);

/* Runs to the end and returns the exit status. */
int toolrun(struct toolrun *run);
/* The whole of main(): takes signals, reads the command line into `opts`, which is the run's, and
 * runs. Returns the exit status. */
int toolrun_main(struct toolrun *run, struct options *opts, int argc, char **argv);

#endif
