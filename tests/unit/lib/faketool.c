// SPDX-License-Identifier: Apache-2.0
#include "faketool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tracing/options.h"
#include "unit.h"

enum { ARGS = 24 };

struct faketool faketool;

void faketool_begin(void)
{
	faketool = (struct faketool){.status = FAKETOOL_STATUS};
}

/* --- in place of tracing/ --- */

struct selection *tracer_selection(const struct tracer *tracer)
{
	(void)tracer;
	return &faketool.selection;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &faketool.program;
}

const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &faketool.runtime;
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	(void)tracer;
	sprintf(faketool.defined + strlen(faketool.defined), "%s=%lld ", name, (long long)value);
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
	while (n < FAKETOOL_MAPS && faketool.maps[n] && strcmp(faketool.maps[n], name) != 0)
		n++;
	assert_true(n < FAKETOOL_MAPS);
	faketool.maps[n] = name;
	return n + 1;
}

const char *faketool_map(int fd)
{
	assert_true(fd > 0 && fd <= FAKETOOL_MAPS && faketool.maps[fd - 1]);
	return faketool.maps[fd - 1];
}

bool tracer_begins_at_once(const struct tracer *tracer)
{
	(void)tracer;
	return faketool.at_once;
}

int toolrun(struct toolrun *run)
{
	faketool.run(run);
	return faketool.status;
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

/* --- a tool --- */

int faketool_main(int (*tool)(int argc, char **argv), const char *words,
		  void (*run)(struct toolrun *run))
{
	char text[512], *argv[ARGS + 1], *rest = NULL;
	int argc = 0;

	snprintf(text, sizeof(text), "tool %s", words);
	for (char *word = strtok_r(text, " ", &rest); word && argc < ARGS;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	argv[argc] = NULL;
	faketool.run = run;
	*faketool.defined = '\0';
	return tool(argc, argv);
}

void faketool_never(struct toolrun *run)
{
	(void)run;
	fail_msg("it runs");
}

/* --- stderr --- */

static char *said;
static size_t said_len;
static FILE *before;

void faketool_errors_begin(void)
{
	before = stderr;
	stderr = open_memstream(&said, &said_len);
}

void faketool_errors_expect(const char *want)
{
	size_t len = strlen(want);

	fclose(stderr);
	stderr = before;
	if (len >= 3 && !strcmp(want + len - 3, "...") && strlen(said) >= len)
		strcpy(said + len - 3, "...");
	assert_string_equal(said, want);
	free(said);
}
