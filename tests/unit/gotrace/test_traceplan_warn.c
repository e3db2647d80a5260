// SPDX-License-Identifier: Apache-2.0
/* What is said of PROBEs before they are traced: each warning once, and that compiling takes long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gotrace/tracegen_internal.h"
#include "gotrace/traceplan_internal.h"
#include "gotrace/traceplan_tables_internal.h"
#include "gotrace/traceplan_text_internal.h"
#include "quiet.h"
#include "unit.h"

static const struct traceplan_config config = {.tool = "gotrace"};

static void expect_warnings(struct traceplan *plan, const char *want)
{
	struct quiet *quiet = quiet_begin();

	traceplan_say_warnings(plan);
	char *said = quiet_end(quiet);

	assert_string_equal(said, want);
	free(said);
	traceplan_free_warnings(plan);
}

static void test_warnings(void **state)
{
	struct traceplan plan = {.config = &config};
	char want[1024] = "", text[] = "warning a";

	(void)state;
	expect_warnings(&plan, "");
	plan = (struct traceplan){.config = &config};
	traceplan_warn(&plan, "one");
	traceplan_warn(&plan, "two\x1b");
	traceplan_warn(&plan, "one");
	traceplan_warn(&plan, "two\x1b");
	expect_warnings(&plan, "gotrace: warning: one\n"
			       "gotrace: warning: two\\x1b\n");
	/* so many of them */
	plan = (struct traceplan){.config = &config};
	for (; text[8] < 'a' + 20; text[8]++) {
		traceplan_warn(&plan, text);
		if (text[8] < 'a' + 16)
			sprintf(want + strlen(want), "gotrace: warning: %s\n", text);
	}
	expect_warnings(&plan, want);
}

/* Of so many plans, each of them code */
static void expect_compiling(unsigned plans, bool histograms, const char *want)
{
	const struct traceplan_config how = {.tool = "gotrace",
					     .histograms = histograms ? &histograms : NULL};
	const struct traceplan plan = {.config = &how, .text = traceplan_text_new()};

	for (unsigned i = 0; i < plans; i++) {
		char fill[16];
		const struct tracegen_plan one = {.save = "", .wanted = "", .fill = fill};

		snprintf(fill, sizeof(fill), "\t%u;\n", i);
		traceplan_text_add(plan.text, &one, false);
	}
	struct quiet *quiet = quiet_begin();

	traceplan_say_compiling(&plan);
	char *said = quiet_end(quiet);

	assert_string_equal(said, want);
	free(said);
	traceplan_text_free(plan.text);
}

static void test_compiling(void **state)
{
	(void)state;
	expect_compiling(150, false, "");
	expect_compiling(151, true, "");
	expect_compiling(151, false,
			 "gotrace: compiling for 151 different signatures, which takes a while\n"
			 "hint: name fewer functions, or print less, as in '* \"%d\", $goid'\n");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_warnings),
		cmocka_unit_test(test_compiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
