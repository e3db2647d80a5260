/* SPDX-License-Identifier: Apache-2.0 */
/* A whole tool of tools/ in a unit test: its main() up to the run, which is the test's: it calls
 * what a run calls. The tracer has programs and a selection of the test's own; what is defined for
 * the kernel side is kept as text. The test includes this, then the tool. */
#ifndef FAKETOOL_H
#define FAKETOOL_H

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "kernel/bpfprog.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

#define main tool_main
int tool_main(int argc, char **argv);

enum { FAKETOOL_MAPS = 8, FAKETOOL_STATUS = 7, FAKETOOL_ARGS = 24 };

static struct program faketool_program;
static struct goruntime faketool_runtime;
static struct selection faketool_selection;
static char faketool_defined[2048];              /* "NAME=1 ..." */
static const char *faketool_maps[FAKETOOL_MAPS]; /* in the order in which they were asked for */
static bool faketool_at_once;                    /* all probes begin at one instant */
static void (*faketool_run)(struct toolrun *run);

struct selection *tracer_selection(const struct tracer *tracer)
{
	(void)tracer;
	return &faketool_selection;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &faketool_program;
}

const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &faketool_runtime;
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	(void)tracer;
	sprintf(faketool_defined + strlen(faketool_defined), "%s=%lld ", name, (long long)value);
}

struct bpfprog *tracer_bpf(const struct tracer *tracer)
{
	(void)tracer;
	return NULL;
}

/* Its number, from 1 on */
int tracer_map(const struct tracer *tracer, const char *name)
{
	int n = 0;

	(void)tracer;
	while (faketool_maps[n] && strcmp(faketool_maps[n], name) != 0)
		n++;
	assert_true(n < FAKETOOL_MAPS);
	faketool_maps[n] = name;
	return n + 1;
}

bool tracer_begins_at_once(const struct tracer *tracer)
{
	(void)tracer;
	return faketool_at_once;
}

int toolrun(struct toolrun *run)
{
	faketool_run(run);
	return FAKETOOL_STATUS;
}

int toolrun_main(struct toolrun *run, struct options *opts, int argc, char **argv)
{
	int status;

	run->opts = opts;
	return options_main(run->tool, argc, argv, opts, &status) ? toolrun(run) : status;
}

void toolrun_print_time(const struct options *opts)
{
	puts(opts->timestamp ? "\n12:00:00" : "");
}

void toolrun_json_time(struct json *json)
{
	json_member_string(json, "time", "12:00:00");
}

/* Runs the tool; `args` are words, with a blank between them. Returns its exit status. */
static inline int faketool(const char *args, void (*run)(struct toolrun *run))
{
	char text[512], *argv[FAKETOOL_ARGS + 1], *rest = text;
	int argc = 0;

	snprintf(text, sizeof(text), "tool %s", args);
	for (char *word; (word = strtok_r(argc ? NULL : text, " ", &rest)) && argc < FAKETOOL_ARGS;)
		argv[argc++] = word;
	argv[argc] = NULL;
	faketool_run = run;
	*faketool_defined = '\0';
	return tool_main(argc, argv);
}

/* --- stderr --- */

static char *faketool_text;
static size_t faketool_text_len;
static FILE *faketool_stderr;

static inline void faketool_errors_begin(void)
{
	faketool_stderr = stderr;
	stderr = open_memstream(&faketool_text, &faketool_text_len);
}

/* What was said on stderr: `want`, or it begins so if that ends with "...". */
static inline void faketool_errors_expect(const char *want)
{
	size_t len = strlen(want);

	fclose(stderr);
	stderr = faketool_stderr;
	if (len >= 3 && !strcmp(want + len - 3, "...") && strlen(faketool_text) > len - 3)
		strcpy(faketool_text + len - 3, "...");
	assert_string_equal(faketool_text, want);
	free(faketool_text);
}

static inline void faketool_never(struct toolrun *run)
{
	(void)run;
	fail_msg("it runs");
}

#endif
