// SPDX-License-Identifier: Apache-2.0
/* What is said of a selection: its copies' places, what is left out and why. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/functab.h"
#include "program/program.h"
#include "selection/selection.h"
#include "selection/selection_print_internal.h"
#include "steps.h"
#include "unit.h"

enum { FUNCS = 8, ITEMS_MAX = 80 };

static const struct program prog = {.path = "/bin/app"};
static struct selection_row rows[] = {
	{.name = "main.a", .prog = &prog, .copies = 1, .announce = true},
	{.name = "main.b\x1b", .prog = &prog, .copies = 9, .announce = true},
	{.name = "main.c", .prog = &prog, .copies = 2},
	{.name = "main.d", .prog = &prog, .funcs = 1, .announce = true},
	{.name = "main.d", .prog = &prog, .funcs = 1, .group = 1},
	{.name = "main.hidden", .prog = &prog, .funcs = 1, .hidden = true},
	{.name = "main.none", .prog = &prog},
};
static struct selection_item items[ITEMS_MAX];
static struct selection sel;

/* one that is not there is the last but one */
bool functab_func(const struct functab *tab, size_t index, struct functab_func *out)
{
	static const char *const names[FUNCS] = {"main.f", "main.g", "main.h\x1b", "main.i",
						 "main.j", "main.k", "main.l",     "main.m"};

	(void)tab;
	if (index >= FUNCS || index == FUNCS - 2)
		return false;
	*out = (struct functab_func){.name = names[index]};
	return true;
}

static int setup(void **state)
{
	(void)state;
	memset(items, 0, sizeof(items));
	sel = (struct selection){
		.rows = rows, .row_count = sizeof(rows) / sizeof(*rows), .items = items};
	return 0;
}

static void add(uint32_t row, uint32_t func, const char *skipped)
{
	items[sel.item_count++] = (struct selection_item){.prog = &prog,
							  .row = row,
							  .func = func,
							  .is_copy = true,
							  .skipped = skipped,
							  .copy.addr = 0x401000 + func};
}

static void say(void (*print)(FILE *out))
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print(out);
	fclose(out);
	steps_are("%s", text);
	free(text);
}

static void print_notes(FILE *out)
{
	selection_print_notes(out, &sel);
}

/* Of a row's copies, each function that they stand in is named once, and four in all. */
static void test_places(void **state)
{
	static char *notes[] = {(char *)"first", (char *)"second\x1b"};

	(void)state;
	add(0, 1, NULL);
	add(1, 0, NULL);
	add(1, 0, NULL);
	add(1, 2, "no place");
	add(1, 2, NULL);
	add(2, 2, NULL);
	add(1, FUNCS - 2, NULL);
	add(1, 3, NULL);
	say(print_notes);
	add(1, 4, NULL);
	say(print_notes);
	add(1, 5, NULL);
	say(print_notes);
	add(1, 7, NULL);
	add(1, 7, NULL);
	sel.want.may_miss = true;
	sel.notes = notes;
	sel.note_count = 2;
	say(print_notes);
	steps_expect(
		"main.a is inlined: tracing 1 copy, in main.g\n"
		"main.b\\x1b is inlined: tracing 9 copies, in main.f, main.h\\x1b, main.i\n"
		"; main.a is inlined: tracing 1 copy, in main.g\n"
		"main.b\\x1b is inlined: tracing 9 copies, in main.f, main.h\\x1b, main.i, main.j\n"
		"; main.a is inlined: tracing 1 copy, in main.g\n"
		"main.b\\x1b is inlined: tracing 9 copies, in main.f, main.h\\x1b, main.i, main.j "
		"and 1 more\n"
		"; first\n"
		"second\\x1b\n"
		"main.a is inlined: 1 copy, in main.g\n"
		"main.b\\x1b is inlined: 9 copies, in main.f, main.h\\x1b, main.i, main.j and 2 "
		"more\n"
		"; ");
}

static void print_each(FILE *out)
{
	selection_print_skipped(out, &sel, "tool", true);
}

static void print_reasons(FILE *out)
{
	selection_print_skipped(out, &sel, "tool", false);
}

static void test_skipped(void **state)
{
	(void)state;
	say(print_each);
	for (uint32_t i = 0; i < 3; i++)
		add(i, i, i == 1 ? NULL : "no place");
	add(1, FUNCS - 2, "it loops");
	items[2].is_copy = false;
	say(print_each);
	say(print_reasons);
	add(1, 1, "it loops");
	add(2, 3, "no place");
	say(print_reasons);
	say(print_each);
	steps_are("%zu of %zu", selection_skipped(&sel), selection_traced(&sel));
	steps_expect("; tool: main.a (its copy in main.f at 0x401000) is left out: no place\n"
		     "tool: main.c is left out: no place\n"
		     "tool: main.b\\x1b is left out: it loops\n"
		     "; tool: main.a (its copy in main.f at 0x401000) is left out: no place\n"
		     "tool: main.c is left out: no place\n"
		     "tool: main.b\\x1b is left out: it loops\n"
		     "; tool: 3 left out: no place\n"
		     "tool: 2 left out: it loops (-v names them)\n"
		     "; tool: main.a (its copy in main.f at 0x401000) is left out: no place\n"
		     "tool: main.c is left out: no place\n"
		     "tool: main.b\\x1b is left out: it loops\n"
		     "tool: main.b\\x1b (its copy in main.g at 0x401001) is left out: it loops\n"
		     "tool: main.c (its copy in main.i at 0x401003) is left out: no place\n"
		     "; 5 of 4; ");
}

/* The most frequent reasons come first, in lines of their own up to four. */
static void test_reasons(void **state)
{
	static const char *const reasons[] = {"one", "two", "three", "four", "five", "six"};

	(void)state;
	for (uint32_t n = 0; n < 6; n++) {
		for (uint32_t i = 0; i <= n; i++)
			add(0, 0, reasons[n]);
		say(print_reasons);
	}
	steps_expect("tool: main.a (its copy in main.f at 0x401000) is left out: one\n"
		     "; tool: main.a (its copy in main.f at 0x401000) is left out: one\n"
		     "tool: main.a (its copy in main.f at 0x401000) is left out: two\n"
		     "tool: main.a (its copy in main.f at 0x401000) is left out: two\n"
		     "; tool: 3 left out: three\n"
		     "tool: 2 left out: two\n"
		     "tool: 1 left out: one (-v names them)\n"
		     "; tool: 4 left out: four\n"
		     "tool: 3 left out: three\n"
		     "tool: 2 left out: two\n"
		     "tool: 1 left out: one (-v names them)\n"
		     "; tool: 5 left out: five\n"
		     "tool: 4 left out: four\n"
		     "tool: 3 left out: three\n"
		     "tool: 2 left out: two\n"
		     "tool: 1 more, for other reasons (-v names them)\n"
		     "; tool: 6 left out: six\n"
		     "tool: 5 left out: five\n"
		     "tool: 4 left out: four\n"
		     "tool: 3 left out: three\n"
		     "tool: 3 more, for other reasons (-v names them)\n"
		     "; ");
}

static char many[ITEMS_MAX][4];

/* Of more than 64 reasons, the first are told. */
static void test_many_reasons(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 66; n++) {
		snprintf(many[n], sizeof(many[n]), "r%u", n);
		add(0, 0, many[n]);
	}
	for (unsigned n = 0; n < 5; n++)
		add(0, 0, many[60]);
	for (unsigned n = 0; n < 3; n++)
		add(0, 0, many[62]);
	add(0, 0, many[63]);
	add(0, 0, many[63]);
	add(0, 0, many[61]);
	add(0, 0, many[65]);
	say(print_reasons);
	steps_expect("tool: 6 left out: r60\n"
		     "tool: 4 left out: r62\n"
		     "tool: 3 left out: r63\n"
		     "tool: 2 left out: r61\n"
		     "tool: 63 more, for other reasons (-v names them)\n"
		     "; ");
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		char *text = selection_row_text(&sel, i);

		steps_are("%s", text);
		free(text);
	}
	assert_null(selection_row_binary(&sel, 0));
	steps_are("%zu", selection_traced(&sel));
	rows[4].prog = NULL; /* another program's */
	steps_are("%zu", selection_traced(&sel));
	rows[4].prog = &prog;
	steps_expect("main.a; main.b\x1b; 4; 5; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_places, setup),
		cmocka_unit_test_setup(test_skipped, setup),
		cmocka_unit_test_setup(test_reasons, setup),
		cmocka_unit_test_setup(test_many_reasons, setup),
		cmocka_unit_test_setup(test_names, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
