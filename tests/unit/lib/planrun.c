// SPDX-License-Identifier: Apache-2.0
#include "planrun.h"

#include <stdio.h>

#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "faketool.h"
#include "gotrace/tracelosses.h"
#include "gotrace/traceplan.h"
#include "roots/roots.h"
#include "unit.h"

struct planrun planrun;

void planrun_begin(void)
{
	planrun = (struct planrun){0};
}

/* --- in place of gotrace/traceplan.h --- */

static void note_probes(const struct traceplan_config *config)
{
	for (size_t i = 0; i < config->probe_count; i++)
		faketool_note(" [%s]%s", config->probes[i],
			      !config->histograms     ? ""
			      : config->histograms[i] ? "H"
						      : "C");
}

struct traceplan *traceplan_new(const struct traceplan_config *config, struct errmsg *err)
{
	faketool_note("%s", config->tool);
	note_probes(config);
	faketool_note("%s%s%s%s%s", config->regex ? " regex" : "",
		      config->user_stack ? " user" : "", config->kernel_stack ? " kernel" : "",
		      config->typed ? " typed" : "", config->callers ? " callers" : "");
	faketool_note(" strings %u", config->string_max);
	if (config->only_tid)
		faketool_note(" tid %u", config->only_tid);
	if (config->only_goid)
		faketool_note(" goid %lld", (long long)config->only_goid);
	faketool_note("%s\n", config->roots ? " below" : "");
	return faketool_answer("plan", err) ? NULL : FAKETOOL_SOME(traceplan);
}

static void check_plan(const struct traceplan *plan)
{
	assert_ptr_equal(plan, FAKETOOL_SOME(traceplan));
}

void traceplan_free(struct traceplan *plan)
{
	check_plan(plan);
}

char *const *traceplan_patterns(const struct traceplan *plan)
{
	static char *const patterns[] = {(char *)"app:main.a", (char *)"app:main.b"};

	check_plan(plan);
	return patterns;
}

const bool *traceplan_returns(const struct traceplan *plan)
{
	static const bool returns[] = {false, true};

	check_plan(plan);
	return returns;
}

int traceplan_make(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	check_plan(ctx);
	assert_null(tracer);
	return faketool_answer("make", err);
}

int traceplan_loaded(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	check_plan(ctx);
	assert_null(tracer);
	return faketool_answer("loaded", err);
}

void traceplan_keep_time(const struct traceplan *plan, const struct tracer *tracer)
{
	check_plan(plan);
	assert_null(tracer);
	faketool_result("time");
}

int traceplan_attached(const struct traceplan *plan, const struct tracer *tracer,
		       struct errmsg *err)
{
	check_plan(plan);
	assert_null(tracer);
	return faketool_answer("attached", err);
}

const struct probespec *traceplan_spec(const struct traceplan *plan, size_t probe)
{
	check_plan(plan);
	assert_true(probe < 8);
	return &planrun.spec;
}

struct funcinfo *traceplan_funcinfo(const struct traceplan *plan, size_t program)
{
	check_plan(plan);
	assert_int_equal(program, 0);
	return FAKETOOL_SOME(funcinfo);
}

void traceplan_say_served(const struct traceplan *plan)
{
	check_plan(plan);
	faketool_result("served");
}

size_t traceplan_unknown(const struct traceplan *plan, const char **first)
{
	check_plan(plan);
	*first = "main.f\x1b";
	return planrun.unknown;
}

size_t traceplan_no_results(const struct traceplan *plan, const char **first)
{
	check_plan(plan);
	*first = "main.h\x1b";
	return planrun.no_results;
}

const char *traceplan_unknown_copy(const struct traceplan *plan)
{
	check_plan(plan);
	return planrun.unknown_copy;
}

const char *funcinfo_missing(const struct funcinfo *info, size_t n)
{
	assert_ptr_equal(info, FAKETOOL_SOME(funcinfo));
	return n ? NULL : planrun.missing;
}

size_t tracer_program_count(const struct tracer *tracer)
{
	assert_null(tracer);
	return 1;
}

/* --- in place of gotrace/tracelosses.h --- */

struct tracelosses *tracelosses_new(struct bpfprog *bpf, const struct selection *sel,
				    const struct tracelosses_words *words)
{
	assert_null(bpf);
	assert_ptr_equal(sel, &faketool.selection);
	faketool_note("losses: %s, %s, %s\n", words->tool, words->done, words->results);
	return FAKETOOL_SOME(tracelosses);
}

void tracelosses_free(struct tracelosses *losses)
{
	assert_true(!losses || losses == FAKETOOL_SOME(tracelosses));
}

void tracelosses_sweep(struct tracelosses *losses)
{
	assert_ptr_equal(losses, FAKETOOL_SOME(tracelosses));
	faketool_result("sweep");
}

void tracelosses_say(struct tracelosses *losses)
{
	assert_ptr_equal(losses, FAKETOOL_SOME(tracelosses));
	faketool_result("say losses");
}

void tracelosses_say_all(struct tracelosses *losses, const char *when)
{
	assert_ptr_equal(losses, FAKETOOL_SOME(tracelosses));
	faketool_note("say all losses \"%s\"\n", when);
}

/* --- in place of roots --- */

int roots_take(struct roots **roots, const char *root, struct errmsg *err)
{
	if (*roots)
		return errmsg_set(err, "two roots");
	faketool_note("below %s\n", root);
	*roots = FAKETOOL_SOME(roots);
	return 0;
}

void roots_take_channels(struct roots **roots)
{
	faketool_note("channels%s\n", *roots ? "" : " of none");
	*roots = FAKETOOL_SOME(roots);
}

int roots_check(const struct roots *roots, struct errmsg *err)
{
	return roots ? faketool_answer("check", err) : 0;
}

void roots_free(struct roots *roots)
{
	assert_true(!roots || roots == FAKETOOL_SOME(roots));
}

int roots_begin(struct roots *roots, const struct tracer *tracer, struct errmsg *err)
{
	assert_ptr_equal(roots, FAKETOOL_SOME(roots));
	assert_null(tracer);
	return faketool_answer("roots", err);
}

void roots_say_lost(const struct roots *roots, const char *tool)
{
	assert_ptr_equal(roots, FAKETOOL_SOME(roots));
	fprintf(stderr, "%s: roots lost\n", tool);
}
