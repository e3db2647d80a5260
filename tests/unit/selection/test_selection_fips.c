// SPDX-License-Identifier: Apache-2.0
/* What is left out of a selection, above all what FIPS mode checks, and what is said of it. */
#include <string.h>

#include "selection_open.h"

#include "selection/selection_print.h"

/* main.a and main.c become the linker's marks around what FIPS mode checks: main.b, and the copies
 * in it */
static void mark_fips(const struct gofile *g)
{
	static const char start[] = "go:textfipsstart", end[] = "go:textfipsend";
	enum { FREE = 0x30 }; /* behind the names */

	elffile_bytes(g->f, GOFILE_TAB + GOFILE_NAMES + FREE, start, sizeof(start));
	elffile_bytes(g->f, GOFILE_TAB + GOFILE_NAMES + FREE + sizeof(start), end, sizeof(end));
	elffile_u32(g->f, gofile_record(g, 0) + 4, FREE);
	elffile_u32(g->f, gofile_record(g, 2) + 4, FREE + sizeof(start));
}

static void open_fips(struct subject *s, const struct selection_want *want)
{
	subject_write(s);
	mark_fips(&s->o.g);
	subject_open(s, want);
}

#define FIPS_REASON                                                                                \
	"FIPS mode checks the code when a program starts, and a probe would end the program "      \
	"(--fips includes it)"

struct fips_case {
	const char *pattern;
	bool inlined, returns, fips;
	const char *text, *hint; /* of the error; NULL: there is none */
	const char *notes;
};

static const struct fips_case fips_cases[] = {
	{"main.b", false, false, false, "main.b cannot be probed: " FIPS_REASON,
	 "--fips includes functions that FIPS mode checks: only for processes that already run",
	 NULL},
	{"main.b", false, true, false, "main.b cannot be timed: " FIPS_REASON,
	 "--fips includes functions that FIPS mode checks: only for processes that already run",
	 NULL},
	{"main.inl1", false, true, false, "main.inl1 cannot be timed: " FIPS_REASON,
	 "--fips includes functions that FIPS mode checks: only for processes that already run",
	 NULL},
	{"*", true, false, false, "none of 5 functions and copies can be probed",
	 "--fips includes functions that FIPS mode checks: only for processes that already run",
	 NULL},
	{"main.b", false, true, true, NULL, NULL,
	 "--fips: a program that starts in FIPS mode during tracing ends with \"fips140: "
	 "verification mismatch\"\n"},
	{"main.inl2", false, false, true, NULL, NULL,
	 "--fips: a program that starts in FIPS mode during tracing ends with \"fips140: "
	 "verification mismatch\"\nmain.inl2 is inlined: tracing 1 copy, in main.b\n"},
	/* the marks are no functions: they are not taken in any case */
	{"go:*", false, false, true, "none of 2 functions and copies can be probed",
	 "2 of them, such as go:textfipsend: a mark of the linker, not a function", NULL},
};

static void check_fips(const struct fips_case *c)
{
	const struct selection_want want = {
		.inlined = c->inlined, .returns = c->returns, .fips = c->fips};
	struct subject s;

	open_fips(&s, &want);
	subject_add(&s, c->pattern);
	assert_int_equal(selection_find_sites(s.sel, &s.err), c->text ? -1 : 0);
	assert_string_equal(s.err.text, c->text ? c->text : "");
	assert_string_equal(s.err.hint, c->hint ? c->hint : "");
	if (!c->text)
		subject_notes(&s, c->notes);
	subject_drop(&s);
}

static void test_fips(void **state)
{
	const struct selection_want want = {.may_miss = true};
	struct subject s;

	(void)state;
	for (size_t i = 0; i < sizeof(fips_cases) / sizeof(*fips_cases); i++)
		check_fips(&fips_cases[i]);
	/* where only some are left out, how many */
	open_fips(&s, &want);
	subject_add(&s, "*");
	assert_int_equal(selection_find_sites(s.sel, &s.err), 0);
	assert_string_equal(s.sel->items[1].skipped, FIPS_REASON);
	subject_notes(&s, "1 of the functions left out, because FIPS mode checks their code when a "
			  "program starts: --fips includes it\n");
	subject_drop(&s);
}

/* those that leave out most are said */
static void test_reasons(void **state)
{
	const struct selection_want want = {.inlined = true};
	static const char *const reasons[] = {"six", "five", "four", "three", "two"};
	char *text = NULL;
	struct subject s;
	size_t len;

	(void)state;
	subject_make(&s, &want);
	for (int group = 0; group < 4; group++) {
		selection_group(s.sel, group, false);
		subject_add(&s, "main.*");
	}
	assert_int_equal(s.sel->item_count, 20);
	for (size_t i = 0, why = 4, left = 2; i < 20; i++) {
		selection_skip(s.sel, &s.sel->items[i], reasons[why]);
		left = left > 1 ? left - 1 : why-- ? 6 - why : 0;
	}
	FILE *out = open_memstream(&text, &len);

	selection_print_skipped(out, s.sel, "tool", false);
	fclose(out);
	assert_string_equal(text, "tool: 6 left out: six\ntool: 5 left out: five\n"
				  "tool: 4 left out: four\ntool: 3 left out: three\n"
				  "tool: 2 more, for other reasons (-v names them)\n");
	free(text);
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fips),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
