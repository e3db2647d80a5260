// SPDX-License-Identifier: Apache-2.0
#include "faketool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "selection/runtime_func.h"
#include "tracing/options.h"
#include "printed.h"
#include "unit.h"

enum { ARGS = 40 };

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
	for (int i = 0; i < argc; i++)
		for (char *at = argv[i]; *argv[i] != '-' && (at = strchr(at, '_')); at++)
			*at = ' ';
	faketool.run = run;
	*faketool.defined = '\0';
	int status = tool(argc, argv);

	if (run != faketool_never)
		assert_int_equal(status, faketool.status);
	return status;
}

void faketool_help(int (*tool)(int argc, char **argv), const char *words, const char *want)
{
	char *text;

	printed_begin();
	int status = faketool_main(tool, words, faketool_never);

	text = printed_end();
	assert_int_equal(status, 0);
	if (strcmp(text, want) != 0) /* longer than what cmocka prints */
		fprintf(stderr, "it is\n%s", text);
	bool is_same = strcmp(text, want) == 0;

	free(text);
	if (!is_same)
		fail_msg("it is not\n%.200s...", want);
}

void faketool_never(struct toolrun *run)
{
	(void)run;
	fail_msg("it runs");
}

/* --- what is asked --- */

void faketool_note(const char *format, ...)
{
	size_t len = strlen(faketool.said);
	va_list args;

	va_start(args, format);
	vsnprintf(faketool.said + len, sizeof(faketool.said) - len, format, args);
	va_end(args);
}

void faketool_noted(const char *want)
{
	char got[sizeof(faketool.said)];

	strcpy(got, faketool.said);
	*faketool.said = '\0';
	assert_string_equal(got, want);
}

int faketool_result(const char *what)
{
	faketool_note("%s\n", what);
	errno = EPERM;
	return faketool.failing && !strcmp(faketool.failing, what) ? -1 : 0;
}

int faketool_answer(const char *what, struct errmsg *err)
{
	return faketool_result(what) ? errmsg_set(err, "%s fails", what) : 0;
}

struct named_flag {
	const char *name;
	bool is_set;
};

static void note_flags(const struct named_flag *flags)
{
	for (; flags->name; flags++)
		if (flags->is_set)
			faketool_note(" %s", flags->name);
}

static void note_selection(const struct tracer_config *config)
{
	const struct selection_want *want = &config->want;
	const struct named_flag flags[] = {{"regex", want->regex},
					   {"inlined", want->inlined},
					   {"fips", want->fips},
					   {"returns", want->returns},
					   {"args", want->args},
					   {"places", want->places},
					   {"may_miss", want->may_miss},
					   {"runtime", want->runtime},
					   {"tails", want->tails},
					   {"endless", want->endless},
					   {"goroutines", config->goroutines},
					   {"sleepable", config->sleepable},
					   {"force", config->force},
					   {"plan", config->plan},
					   {"loaded", config->loaded},
					   {0}};

	note_flags(flags);
	for (size_t i = 0; i < config->pattern_count; i++)
		faketool_note(" %s", config->patterns[i]);
	for (size_t i = 0; config->pattern_returns && i < config->pattern_count; i++)
		faketool_note("%s", config->pattern_returns[i] ? " timed" : " entered");
	for (size_t i = 0; i < config->runtime_func_count; i++)
		faketool_note(" %s", config->runtime_funcs[i].names[0]);
}

void faketool_expect_config(const struct toolrun *run, const char *want)
{
	const struct tracer_config *config = &run->config;
	const struct named_flag flags[] = {{"begin", run->begin},
					   {"show", run->show},
					   {"sweep", run->sweep},
					   {"lost", run->lost},
					   {"stop", run->stop},
					   {"events", run->events},
					   {"started", run->started},
					   {"metrics", run->metrics},
					   {"profile", run->profile_spec},
					   {"folded", run->folded},
					   {"quiet_end", run->quiet_end},
					   {"quiet_cost", run->quiet_cost},
					   {0}};

	*faketool.said = '\0';
	faketool_note("%s cpu %d", config->bpf_file ? config->bpf_file : "-", config->cpu);
	if (config->pid)
		faketool_note(" pid %d", config->pid);
	note_selection(config);
	faketool_note("\n");
	for (size_t i = 0; i < config->def_count; i++)
		faketool_note("%s%s=%" PRIu64, i ? " " : "", config->defs[i].name,
			      (uint64_t)config->defs[i].value);
	faketool_note("\n%s:", run->tool->name);
	note_flags(flags);
	faketool_note("\n");
	faketool_noted(want);
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
