// SPDX-License-Identifier: Apache-2.0
/* --follow and --follow-channels: what is traced for them, by which part of the kernel side, and
 * what is said. The tracer and the selection are of this test's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "blocked/losses.h"
#include "roots/channels.h"
#include "roots/roots.h"
#include "roots/starts.h"
#include "selection/selection.h"
#include "selection/target.h"
#include "steps.h"
#include "tracing/tracer.h"
#include "unit.h"

enum { ITEMS = 12, ROWS = 12, PROGRAMS = 2 };

static int anything; /* its address stands for what only others look into */
#define SOME ((void *)&anything)

static struct program {
	const char *path;
} programs[PROGRAMS] = {{"/a"}, {"/b"}};

static struct selection_item items[ITEMS];
static struct selection_row rows[ROWS];
static struct selection chosen;
static const struct tracer_plan *served;
static const char *empty; /* the program in which nothing matches */
static char *made;        /* text for the kernel side */

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static void add(const char *name)
{
	rows[chosen.row_count].name = (char *)name;
	items[chosen.item_count++].row = chosen.row_count++;
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	return &chosen;
}

size_t tracer_program_count(const struct tracer *tracer)
{
	return PROGRAMS;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	return &programs[n];
}

const struct program *tracer_named(const struct tracer *tracer, const char *binary,
				   struct errmsg *err)
{
	return steps_answer(err, "tracer_named %s", binary) ? NULL : &programs[1];
}

const struct tracer_plan *tracer_plans(const struct tracer *tracer)
{
	return served;
}

uint32_t tracer_parts(const struct tracer *tracer)
{
	return 2;
}

void tracer_set_plans(struct tracer *tracer, const struct tracer_plan *plans)
{
	served = plans;
}

void tracer_set_parts(struct tracer *tracer, uint32_t count)
{
	steps_are("parts %u", count);
}

void tracer_lead(struct tracer *tracer)
{
	steps_are("lead");
}

void tracer_insert(struct tracer *tracer, const char *mark, char *text)
{
	steps_are("insert %s", mark);
	free(made);
	made = text;
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	steps_are("define %s %lu", name, value);
}

int tracer_map(const struct tracer *tracer, const char *name)
{
	steps_are("map %s", name);
	return 81;
}

int selection_add(struct selection *sel, const struct program *prog, const char *pattern,
		  struct errmsg *err)
{
	if (steps_answer(err, "selection_add %s %s", prog->path, pattern))
		return -1;
	if (empty && (!strcmp(prog->path, empty) || !strcmp(empty, "all"))) {
		errmsg_set(err, "nothing in %s", prog->path);
		errmsg_hint(err, "look for %s", pattern);
		return SELECTION_NONE;
	}
	add("main.root");
	return 0;
}

void selection_group(struct selection *sel, uint32_t group, bool returns)
{
	steps_are("group %u %d", group, returns);
}

int target_spec_parse(const char *arg, bool has_process, struct target_spec *out,
		      struct errmsg *err)
{
	const char *colon = strchr(arg, ':');

	*out = (struct target_spec){0};
	if (steps_answer(err, "target_spec_parse %s %d", arg, has_process))
		return -1;
	out->binary = colon ? mem_printf("%.*s", (int)(colon - arg), arg) : NULL;
	out->pattern = mem_strdup(colon ? colon + 1 : arg);
	return 0;
}

void target_spec_free(struct target_spec *spec)
{
	steps_are("target_spec_free");
	free(spec->binary);
	free(spec->pattern);
}

int starts_plan(struct tracer *tracer, const char *asked, struct errmsg *err)
{
	add("runtime.newproc1");
	return steps_answer(err, "starts_plan %s", asked);
}

int starts_check(const struct tracer *tracer, const char *asked, struct errmsg *err)
{
	return steps_answer(err, "starts_check %s", asked);
}

int channels_plan(struct tracer *tracer, struct errmsg *err)
{
	add("runtime.chansend");
	return steps_answer(err, "channels_plan");
}

uint32_t bpfmap_room(uint32_t room)
{
	return room / 2;
}

void losses_say(int map, const char *tool, const char *const *said, uint64_t *counts, size_t kinds)
{
	for (size_t i = 0; i < kinds; i++)
		steps_are("%d %s: %zu %s", map, tool, i, said[i] ? said[i] : "-");
}

/* NOLINTEND(misc-unused-parameters) */

static void begin(const char *fails)
{
	memset(&steps, 0, sizeof(steps));
	steps.fails = fails;
	memset(items, 0, sizeof(items));
	memset(rows, 0, sizeof(rows));
	chosen = (struct selection){.items = items, .rows = rows, .group = 4};
	empty = NULL;
	served = NULL;
	add("main.own");
	add("main.other");
}

static void say(int ret, const struct errmsg *err)
{
	steps_are("%d%s%s%s%s", ret, *err->text ? ": " : "", err->text, *err->hint ? "; " : "",
		  err->hint);
}

static void plan(struct roots *roots)
{
	struct errmsg err = {0};
	int ret = roots_plan(roots, SOME, &err);

	say(ret, &err);
}

static struct roots *with(const char *root, bool channels)
{
	struct roots *roots = NULL;
	struct errmsg err = {0};

	if (channels)
		roots_take_channels(&roots);
	if (root)
		assert_int_equal(roots_take(&roots, root, &err), 0);
	return roots;
}

static void test_options(void **state)
{
	struct errmsg err = {0};
	struct roots *roots = NULL;

	(void)state;
	begin(NULL);
	assert_int_equal(roots_check(NULL, &err), 0);
	roots_take_channels(&roots);
	say(roots_check(roots, &err), &err);
	err = (struct errmsg){0};
	say(roots_take(&roots, "main.a", &err), &err);
	roots_take_channels(&roots);
	say(roots_check(roots, &err), &err);
	say(roots_take(&roots, "main.b", &err), &err);
	roots_free(roots);
	roots_free(NULL);
	steps_expect("-1: --follow-channels needs --follow ROOT: whose calls are to be followed?; "
		     "0; 0; -1: --follow: \"main.b\" is a second ROOT; ");
}

static void test_plan(void **state)
{
	struct roots *roots = with("main.root", false);

	(void)state;
	begin(NULL);
	plan(roots);
	for (size_t i = 0; i < chosen.row_count; i++)
		steps_are("%s%s", rows[i].name, rows[i].hidden ? " is hidden" : "");
	steps_expect("starts_plan --follow; target_spec_parse main.root 1; group 5 1; "
		     "selection_add /a main.root; selection_add /b main.root; target_spec_free; "
		     "define ROOTS 524288; 0; main.own; main.other; runtime.newproc1; main.root is "
		     "hidden; main.root is hidden; ");
	roots_free(roots);
	roots = with("b:main.root", true);
	begin(NULL);
	plan(roots);
	steps_expect("starts_plan --follow; channels_plan; target_spec_parse b:main.root 1; group "
		     "5 1; tracer_named b; selection_add /b main.root; target_spec_free; define "
		     "ROOTS 524288; 0; ");
	begin(NULL);
	empty = "/a";
	plan(roots);
	steps_expect("starts_plan --follow; channels_plan; target_spec_parse b:main.root 1; group "
		     "5 1; tracer_named b; selection_add /b main.root; target_spec_free; define "
		     "ROOTS 524288; 0; ");
	roots_free(roots);
}

static void test_plan_refused(void **state)
{
	static const char *const fails[] = {"starts_plan",  "channels_plan",    "target_spec_parse",
					    "tracer_named", "selection_add /a", "selection_add /b"};
	struct roots *roots = with("main.root", true), *named = with("b:main.root", true);

	(void)state;
	for (size_t i = 0; i < sizeof(fails) / sizeof(*fails); i++) {
		begin(fails[i]);
		plan(i == 3 ? named : roots);
		char *end = strstr(steps.said, "-1: ");

		if (!end)
			fail_msg("%s does not fail", fails[i]);
		assert_non_null(strstr(end, ": no "));
	}
	begin(NULL);
	empty = "/a";
	plan(roots);
	steps_expect("starts_plan --follow; channels_plan; target_spec_parse main.root 1; group 5 "
		     "1; selection_add /a main.root; selection_add /b main.root; target_spec_free; "
		     "define ROOTS 524288; 0; ");
	begin(NULL);
	empty = "all";
	plan(roots);
	steps_expect("starts_plan --follow; channels_plan; target_spec_parse main.root 1; group 5 "
		     "1; selection_add /a main.root; selection_add /b main.root; target_spec_free; "
		     "-1: --follow: nothing in /a; look for main.root; ");
	roots_free(roots);
	roots_free(named);
}

static void serve(struct roots *roots)
{
	roots_serve(roots, SOME);
	for (size_t i = 0; i < chosen.item_count; i++)
		steps_are("%s: number %u part %u", rows[items[i].row].name, served[i].number,
			  served[i].part);
	steps_are("%s", made);
}

static void test_serve(void **state)
{
	static const struct tracer_plan before[ITEMS] = {
		{.number = 5, .part = 1}, {.number = 6}, {.number = 7}};
	struct roots *roots = with("main.root", false);

	(void)state;
	begin(NULL);
	plan(roots);
	serve(roots);
	steps_expect(
		"starts_plan --follow; target_spec_parse main.root 1; group 5 1; selection_add /a "
		"main.root; selection_add /b main.root; target_spec_free; define ROOTS 524288; 0; "
		"parts 4; lead; insert root_programs; main.own: number 0 part 0; main.other: "
		"number 0 part 0; runtime.newproc1: number 0 part 2; main.root: number 0 part 3; "
		"main.root: number 0 part 3; int on_probe_2(struct pt_regs *ctx)\n"
		"{\n"
		"\treturn on_root_start(ctx);\n"
		"}\n"
		"\n"
		"int on_probe_3(struct pt_regs *ctx)\n"
		"{\n"
		"\treturn on_root(ctx);\n"
		"}\n"
		"\n"
		"; ");
	roots_free(roots);
	roots = with("main.root", true);
	begin(NULL);
	served = before;
	plan(roots);
	serve(roots);
	steps_expect("starts_plan --follow; channels_plan; target_spec_parse main.root 1; group 5 "
		     "1; selection_add /a main.root; selection_add /b main.root; target_spec_free; "
		     "define ROOTS 524288; 0; parts 5; lead; insert root_programs; main.own: "
		     "number 5 part 1; main.other: number 6 part 0; runtime.newproc1: number 0 "
		     "part 2; runtime.chansend: number 0 part 3; main.root: number 0 part 4; "
		     "main.root: number 0 part 4; int on_probe_2(struct pt_regs *ctx)\n"
		     "{\n"
		     "\treturn on_root_start(ctx);\n"
		     "}\n"
		     "\n"
		     "int on_probe_3(struct pt_regs *ctx)\n"
		     "{\n"
		     "\treturn on_root_channel(ctx);\n"
		     "}\n"
		     "\n"
		     "int on_probe_4(struct pt_regs *ctx)\n"
		     "{\n"
		     "\treturn on_root(ctx);\n"
		     "}\n"
		     "\n"
		     "; ");
	roots_free(roots);
}

static void run(struct roots *roots)
{
	struct errmsg err = {0};
	char *text = NULL;
	size_t len;
	FILE *kept = stderr;

	stderr = open_memstream(&text, &len);

	int ret = roots_begin(roots, SOME, &err);

	fclose(stderr);
	stderr = kept;
	say(ret, &err);
	steps_are("said: %s", text);
	free(text);
}

static void test_begin(void **state)
{
	struct roots *roots = with("main.root", true);

	(void)state;
	begin(NULL);
	plan(roots);
	memset(&steps, 0, sizeof(steps));
	run(roots);
	roots_say_lost(roots, "tool");
	steps_expect("map root_losses; starts_check --follow; 0; said: ; 81 tool: 0 calls of ROOT "
		     "were not followed: there was no room for them; 81 tool: 1 calls of ROOT were "
		     "not followed: the goroutine could not be read; 81 tool: 2 calls of ROOT were "
		     "not followed: they were on a system stack; 81 tool: 3 goroutines were not "
		     "followed: more than there is room for; 81 tool: 4 goroutines were not "
		     "followed: they could not be read; 81 tool: 5 values in channels were not "
		     "followed: more than there is room for; 81 tool: 6 values in channels were "
		     "not followed: they could not be read; ");
	items[chosen.item_count - 1].skipped = "it is too short";
	run(roots);
	steps_expect("map root_losses; starts_check --follow; 0; said: --follow: 1 of 2 functions "
		     "are not seen: main.root cannot be traced: it is too short\n"
		     "; ");
	items[chosen.item_count - 2].skipped = "it is too long";
	run(roots);
	steps_expect("map root_losses; starts_check --follow; -1: --follow: main.root cannot be "
		     "traced: it is too short; said: ; ");
	steps.fails = "starts_check";
	run(roots);
	steps_expect("map root_losses; starts_check --follow; -1: no starts_check; said: ; ");
	roots_free(roots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options),      cmocka_unit_test(test_plan),
		cmocka_unit_test(test_plan_refused), cmocka_unit_test(test_serve),
		cmocka_unit_test(test_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
