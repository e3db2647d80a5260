// SPDX-License-Identifier: Apache-2.0
/* Of which packages functions are taken where nobody says it: programs are lists of names, and a
 * path that they say was built. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "gotree/treescope.h"
#include "program/buildsettings.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/selection.h"
#include "steps.h"

enum { MOST = 10000 };

static const char *const names[] = {
	"main.main",        "a.io/app.Run",       "a.io/app.(*T).f", "a.io/app/store.Get",
	"a.io/app/store.f", "a.io/application.f", "a.io.f",          "a.io/app/cmd/tool.f",
	"runtime.main",
};
enum { NAMES = sizeof(names) / sizeof(*names) };

static const char *built;               /* its module; NULL: it does not say */
static size_t more_of_module, more_own; /* functions */
static const char *own;                 /* such a one */
static int answer;                      /* of adding */
static struct program programs[2];
static struct selection_row rows[3];
static struct selection selected;

char *buildsettings_module(const struct image *img)
{
	(void)img;
	return built ? strdup(built) : NULL;
}

size_t functab_count(const struct functab *tab)
{
	(void)tab;
	return NAMES + 1 + more_of_module + more_own;
}

bool functab_func(const struct functab *tab, size_t index, struct functab_func *out)
{
	(void)tab;
	out->name = index < NAMES                     ? names[index]
		    : index <= NAMES + more_of_module ? "a.io/app/more.f"
						      : own;
	return index != NAMES; /* one is malformed */
}

int selection_add(struct selection *sel, const struct program *prog, const char *pattern,
		  struct errmsg *err)
{
	assert_true(sel == &selected && !sel->want.regex && sel->want.may_miss);
	steps_are("%s of %d", pattern, (int)(prog - programs));
	if (answer == -1)
		errmsg_set(err, "no room");
	return answer;
}

void selection_note(struct selection *sel, char *text)
{
	assert_ptr_equal(sel, &selected);
	steps_are("note %s", text);
	free(text);
}

static int setup(void **state)
{
	(void)state;
	selected = (struct selection){.rows = rows, .row_count = 3, .want = {.regex = true}};
	built = NULL;
	more_of_module = more_own = 0;
	answer = 0;
	return 0;
}

static void say(const char *root)
{
	struct errmsg err = {0};
	char *taken = NULL;

	rows[0] = rows[1] = (struct selection_row){.prog = &programs[0], .name = root};
	if (treescope_add_module(&selected, 2, &taken, &err))
		steps_are("error %s%s%s", err.text, *err.hint ? " hint " : "", err.hint);
	assert_true(selected.want.regex && !selected.want.may_miss);
	steps_are("%s", taken ? taken : "-");
	free(taken);
}

static void test_modules(void **state)
{
	(void)state;
	say("a.io/app.Run");
	built = "a.io/app";
	say("a.io/app.Run");
	say("a.io/app/store.Get"); /* ROOT is of a package below */
	say("main.main");
	say("runtime.main"); /* of another module */
	say("a.io/application.f");
	built = "a.io/app/cmd/tool"; /* without modules */
	say("a.io/app.Run");
	built = "command-line-arguments"; /* one file */
	say("main.main");
	steps_expect("a.io/app.* of 0; package a.io/app; a.io/app.* of 0; a.io/app.* of 0; "
		     "a.io/app/* of 0; module a.io/app; a.io/app/store.* of 0; a.io/app.* "
		     "of 0; a.io/app/* of 0; module a.io/app; main.* of 0; a.io/app.* of 0; "
		     "a.io/app/* of 0; module a.io/app; runtime.* of 0; package runtime; "
		     "a.io/application.* of 0; package a.io/application; a.io/app.* of 0; "
		     "a.io/app.* of 0; a.io/app/* of 0; module a.io/app; main.* of 0; "
		     "package main; ");
}

static void test_too_many(void **state)
{
	(void)state;
	built = "a.io/app";
	more_of_module = MOST - 5;
	say("a.io/app.Run"); /* so many are taken */
	more_of_module++;
	say("a.io/app.Run");
	own = "a.io/app.g";
	more_own = MOST - 2;
	say("a.io/app.Run");
	more_own++;
	say("a.io/app.Run");
	built = NULL;
	say("a.io/app.Run");
	steps_expect("a.io/app.* of 0; a.io/app.* of 0; a.io/app/* of 0; module a.io/app; "
		     "note module a.io/app has 10001 functions: only those of package "
		     "a.io/app are traced; name others after ROOT; a.io/app.* of 0; package "
		     "a.io/app; note module a.io/app has 19999 functions: only those of "
		     "package a.io/app are traced; name others after ROOT; a.io/app.* of 0; "
		     "package a.io/app; note module a.io/app has 20000 functions: only "
		     "those of package a.io/app are traced; name others after ROOT; error "
		     "package a.io/app has 10001 functions: too many to trace them all "
		     "unasked hint name those that matter after ROOT, as in "
		     "'a.io/app.(*T).*'; package a.io/app; error package a.io/app has 10001 "
		     "functions: too many to trace them all unasked hint name those that "
		     "matter after ROOT, as in 'a.io/app.(*T).*'; package a.io/app; ");
}

static void test_programs(void **state)
{
	struct errmsg err = {0};
	char *taken = NULL;

	(void)state;
	built = "a.io/app";
	for (size_t i = 0; i < 3; i++)
		rows[i] = (struct selection_row){.prog = &programs[i == 1],
						 .name = i == 1 ? "main.main" : "a.io.f"};
	assert_int_equal(treescope_add_module(&selected, 3, &taken, &err), 0);
	assert_true(treescope_is_first(&selected, 0) && treescope_is_first(&selected, 1) &&
		    !treescope_is_first(&selected, 2));
	steps_are("%s", taken); /* of the first */
	free(taken);
	steps_expect("a.* of 0; main.* of 1; a.io/app.* of 1; a.io/app/* of 1; package a; ");
}

static void test_failures(void **state)
{
	(void)state;
	built = "a.io/app";
	answer = SELECTION_NONE; /* that is none */
	say("a.io/app.Run");
	answer = -1;
	say("a.io/app.Run");
	steps_expect("a.io/app.* of 0; a.io/app.* of 0; a.io/app/* of 0; module a.io/app; "
		     "a.io/app.* of 0; error no room; module a.io/app; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_modules, setup),
		cmocka_unit_test_setup(test_too_many, setup),
		cmocka_unit_test_setup(test_programs, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
