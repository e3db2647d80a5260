// SPDX-License-Identifier: Apache-2.0
/* Plans of the same text are one; too much for one program is divided. With it: the text that plans
 * are written in, and what -A counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctext.h"
#include "base/mem.h"
#include "base/tally.h"
#include "bpf-src/shared/trace_step.h"
#include "gotrace/tracegen_internal.h"
#include "gotrace/tracegen_uses_internal.h"
#include "gotrace/traceplan_tables_internal.h"
#include "gotrace/traceplan_text_internal.h"
#include "unit.h"

static void test_same(void **state)
{
	struct traceplan_text *text = traceplan_text_new();
	struct tracegen_plan plan = {
		.save = "\ta;\n", .wanted = "\tb;\n", .fill = "\tc;\n", .record_size = 8};

	(void)state;
	assert_int_equal(traceplan_text_parts(text), 1);
	assert_int_equal(traceplan_text_add(text, &plan, true), 0);
	assert_int_equal(traceplan_text_add(text, &plan, true), 0);
	assert_int_equal(traceplan_text_add(text, &plan, false), 1);
	plan.record_size = 16;
	assert_int_equal(traceplan_text_add(text, &plan, true), 2);
	plan.saved_size = 8;
	assert_int_equal(traceplan_text_add(text, &plan, true), 3);
	plan.wants_at_entry = true;
	assert_int_equal(traceplan_text_add(text, &plan, true), 4);
	/* where one text ends and the next begins counts */
	plan.save = "\ta;\n\tb;\n";
	plan.wanted = "";
	assert_int_equal(traceplan_text_add(text, &plan, true), 5);
	assert_int_equal(traceplan_text_count(text), 6);
	assert_false(traceplan_text_uses_types(text));
	plan.fill = "\thit->later[0] = later_dynamic(0, 16, true, 6);\n";
	plan.uses = TRACEGEN_TYPES;
	assert_int_equal(traceplan_text_add(text, &plan, true), 6);
	assert_true(traceplan_text_uses_types(text));
	traceplan_text_free(text);
}

/* Plans whose code steps can do share a part, and what code their predicates need. */
static void test_tables(void **state)
{
	struct traceplan_text *text = traceplan_text_new();
	struct trace_step step = {.what = TRACE_STEP_STATE};
	struct tracegen_plan plan = {.save = "", .wanted = "", .fill = "\ta;\n"};
	char *fills[] = {"\tb;\n", "\tc;\n", "\td;\n"};
	struct traceplan_table_parts parts;

	(void)state;
	traceplan_text_add(text, &plan, false);
	plan.tabular = true;
	plan.steps = &step;
	plan.step_count = 1;
	for (int i = 0; i < 3; i++) {
		plan.fill = fills[i];
		plan.wanted = i < 2 ? "" : "\twant = 0;\n";
		traceplan_text_add(text, &plan, false);
	}
	assert_int_equal(traceplan_text_tabular(text), 3);
	traceplan_text_serve(text, true);
	const struct traceplan_tables *tables = traceplan_text_tables(text, &parts);

	assert_int_equal(traceplan_tables_count(tables), 3);
	assert_int_equal(traceplan_tables_steps(tables), 3);
	assert_int_equal(parts.entries, 1);
	assert_int_equal(parts.begins, TRACEPLAN_NO_PART);
	assert_int_equal(parts.ends, TRACEPLAN_NO_PART);
	assert_int_equal(traceplan_text_parts(text), 2);
	assert_int_equal(traceplan_text_compiled(text), 1);
	assert_int_equal(traceplan_text_served(text, 0).part, 0);
	assert_int_equal(traceplan_text_served(text, 2).number, 1);
	assert_int_equal(traceplan_text_served(text, 2).table, 1);
	assert_int_equal(traceplan_text_served(text, 2).part, 1);
	assert_int_equal(traceplan_text_served(text, 3).number, 3);
	traceplan_text_serve(text, false);
	assert_null(traceplan_text_tables(text, &parts));
	assert_int_equal(traceplan_text_compiled(text), 4);
	assert_int_equal(traceplan_text_served(text, 2).number, 2);
	assert_int_equal(traceplan_text_served(text, 2).part, 0);
	traceplan_text_free(text);
}

/* Calls that are waited for: their beginnings are served by one part, their ends by the part
 * before. */
static void test_tables_at_return(void **state)
{
	struct traceplan_text *text = traceplan_text_new();
	struct trace_step step = {.what = TRACE_STEP_STATE};
	struct tracegen_plan plan = {.save = "\ta;\n",
				     .wanted = "\twant = 1;\n",
				     .fill = "",
				     .tabular = true,
				     .steps = &step,
				     .step_count = 1,
				     .save_step_count = 1};
	struct traceplan_table_parts parts;

	(void)state;
	traceplan_text_add(text, &plan, true);
	plan.wants_at_entry = true;
	traceplan_text_add(text, &plan, true);
	plan.fill = "\tb;\n";
	traceplan_text_add(text, &plan, true);
	traceplan_text_serve(text, true);
	assert_non_null(traceplan_text_tables(text, &parts));
	assert_int_equal(parts.ends, 0);
	assert_int_equal(parts.begins, 1);
	assert_int_equal(parts.entries, TRACEPLAN_NO_PART);
	assert_int_equal(traceplan_text_parts(text), 2);
	assert_int_equal(traceplan_text_served(text, 0).part, 1);
	assert_true(traceplan_text_served(text, 0).ends_apart);
	assert_int_equal(traceplan_text_served(text, 0).number, 0);
	/* one that tests at entry is not like one that tests at return */
	assert_int_equal(traceplan_text_served(text, 1).number, 1);
	assert_int_equal(traceplan_text_served(text, 2).number, 1);
	char *plans = traceplan_text_plans(text);

	assert_non_null(strstr(plans, "want = holds_0(ctx, hit, saved);"));
	assert_null(strstr(plans, "holds_1("));
	assert_non_null(strstr(plans, "return wants_1(ctx, hit);"));
	assert_null(strstr(plans, "save_0("));
	free(plans);
	plan.tabular = false;
	plan.fill = "\tc;\n";
	traceplan_text_add(text, &plan, true);
	plan.tabular = true;
	plan.fill = "\td;\n";
	traceplan_text_add(text, &plan, false);
	traceplan_text_serve(text, true);
	traceplan_text_tables(text, &parts);
	assert_int_equal(parts.ends, 1);
	assert_int_equal(parts.begins, 2);
	assert_int_equal(parts.entries, 3);
	assert_int_equal(traceplan_text_served(text, 3).part, 0);
	assert_false(traceplan_text_served(text, 3).ends_apart);
	assert_int_equal(traceplan_text_served(text, 4).part, 3);
	assert_false(traceplan_text_served(text, 4).ends_apart);
	traceplan_text_free(text);
}

/* Predicates have room in one part only: plans with more of them are served by code. */
static void test_predicates(void **state)
{
	struct traceplan_text *text = traceplan_text_new();
	struct trace_step step = {.what = TRACE_STEP_STATE};
	struct traceplan_table_parts parts;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		char *wanted = mem_printf("\twant = %1000u;\n", i);
		struct tracegen_plan plan = {.save = "",
					     .wanted = wanted,
					     .fill = "\ta;\n",
					     .tabular = true,
					     .steps = &step,
					     .step_count = 1};

		traceplan_text_add(text, &plan, false);
		free(wanted);
	}
	traceplan_text_serve(text, true);
	assert_non_null(traceplan_text_tables(text, &parts));
	assert_int_equal(parts.entries, traceplan_text_parts(text) - 1);
	assert_in_range(traceplan_text_compiled(text), 55, 65);
	assert_int_equal(traceplan_text_served(text, 0).part, parts.entries);
	assert_int_equal(traceplan_text_served(text, 99).part, parts.entries - 1);
	assert_int_equal(traceplan_text_served(text, 99).number, 99);
	traceplan_text_free(text);
}

static void test_parts(void **state)
{
	struct traceplan_text *text = traceplan_text_new();
	uint32_t last = 0;

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		char *fill = mem_printf("\tfill(%1000u);\n", i);
		struct tracegen_plan plan = {.save = "", .wanted = "", .fill = fill};

		assert_int_equal(traceplan_text_add(text, &plan, false), i);
		free(fill);
	}
	traceplan_text_serve(text, false);
	for (uint32_t i = 0; i < 100; i++) {
		assert_true(traceplan_text_served(text, i).part - last <= 1);
		last = traceplan_text_served(text, i).part;
	}
	assert_true(last > 1 && last < 20);
	assert_int_equal(traceplan_text_parts(text), last + 1);
	/* one that is there already stays in its part */
	char *first = mem_printf("\tfill(%1000u);\n", 0);
	struct tracegen_plan again = {.save = "", .wanted = "", .fill = first};

	assert_int_equal(traceplan_text_add(text, &again, false), 0);
	assert_int_equal(traceplan_text_served(text, 0).part, 0);
	char *programs = traceplan_text_programs(text);
	char *name = mem_printf("int on_probe_%u(", last);

	assert_non_null(strstr(programs, "int on_probe("));
	assert_non_null(strstr(programs, name));
	free(first);
	free(name);
	free(programs);
	traceplan_text_free(text);
}

/* many of them: each is found again */
static void test_many(void **state)
{
	struct traceplan_text *text = traceplan_text_new();

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		char *fill = mem_printf("\tfill(%u);\n", i % 1000);
		struct tracegen_plan plan = {.save = "", .wanted = "", .fill = fill};

		assert_int_equal(traceplan_text_add(text, &plan, false), i % 1000);
		free(fill);
	}
	assert_int_equal(traceplan_text_count(text), 1000);
	traceplan_text_free(text);
}

/* entry probes wait for nothing; each plan has its functions */
static void test_functions(void **state)
{
	struct traceplan_text *text = traceplan_text_new();
	struct tracegen_plan plan = {
		.save = "", .wanted = "", .fill = "\tfill();\n", .wants_at_entry = true};

	(void)state;
	traceplan_text_add(text, &plan, false);
	traceplan_text_add(text, &plan, true);
	traceplan_text_serve(text, false);
	char *plans = traceplan_text_plans(text);

	assert_non_null(strstr(plans, "report_0("));
	assert_non_null(strstr(plans, "report_1("));
	assert_null(strstr(plans, "save_0("));
	assert_non_null(strstr(plans, "save_1("));
	free(plans);
	traceplan_text_free(text);
}

static void test_ctext(void **state)
{
	struct ctext out = {0};

	(void)state;
	char *text = ctext_take(&out);

	assert_string_equal(text, "");
	free(text);
	ctext_open(&out, "if (%d)", 1);
	ctext_line(&out, "%s", "a;");
	ctext_line(&out, "%s", "");
	ctext_else(&out);
	ctext_line(&out, "%0300d;", 7);
	ctext_close(&out);
	text = ctext_take(&out);
	assert_int_equal(strncmp(text, "if (1) {\n\ta;\n\n} else {\n\t000", 27), 0);
	assert_string_equal(text + strlen(text) - 6, "07;\n}\n");
	assert_null(out.text);
	assert_int_equal(out.depth, 0);
	free(text);
	ctext_free(&out);
}

static void add_entry(const char *text, uint64_t count, void *ctx)
{
	char *said = ctx;
	size_t len = strlen(said);

	snprintf(said + len, 100 - len, "%s %d, ", text, (int)count);
}

static void test_tally(void **state)
{
	static const char *const seen[] = {"b", "a", "c", "b", "c", "b", "d"};
	struct tally *tally = tally_new();
	char said[100] = "";

	(void)state;
	tally_each(tally, add_entry, said);
	assert_string_equal(said, "");
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		tally_add(tally, seen[i]);
	tally_each(tally, add_entry, said);
	assert_string_equal(said, "a 1, d 1, c 2, b 3, ");
	tally_free(tally);
	tally_free(NULL);
}

/* The loops are as long as the longest table. */
static void test_most_steps(void **state)
{
	static struct trace_step steps[9] = {[1] = {.what = TRACE_STEP_DYNAMIC},
					     [5] = {.what = TRACE_STEP_DYNAMIC},
					     [8] = {.what = TRACE_STEP_DYNAMIC}};
	static const size_t counts[][2] = {{3, 0}, {9, 5}, {8, 1}}; /* all, and those of entries */
	struct traceplan_tables *tables = traceplan_tables_new();

	(void)state;
	assert_int_equal(traceplan_tables_most(tables).others, 0);
	for (size_t i = 0; i < 3; i++) {
		struct tracegen_plan plan = {.steps = steps,
					     .step_count = counts[i][0],
					     .save_step_count = counts[i][1]};

		assert_int_equal(traceplan_tables_add(tables, &plan), i);
	}
	assert_int_equal(traceplan_tables_most(tables).others, 7);
	assert_int_equal(traceplan_tables_most(tables).saved, 5);
	assert_int_equal(traceplan_tables_most(tables).dynamics, 3);
	assert_int_equal(traceplan_tables_steps(tables), 20);
	traceplan_tables_free(tables);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_tables_at_return),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_most_steps),
		cmocka_unit_test(test_predicates),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_ctext),
		cmocka_unit_test(test_tally),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
