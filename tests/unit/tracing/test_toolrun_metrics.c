// SPDX-License-Identifier: Apache-2.0
/* What a run publishes: which functions have numbers, and what their programs are called. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/process.h"
#include "metrics/publisher.h"
#include "program/program.h"
#include "selection/selection.h"
#include "steps.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"
#include "tracing/toolrun_metrics_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

/* --- in place of the publisher, and of a process --- */

static int opened;

struct publisher *publisher_open(const struct publisher_spec *spec, struct errmsg *err)
{
	if (steps_answer(err, "open %s %s series %zu each %llu", spec->tool, spec->where,
			 spec->max_series, (unsigned long long)spec->interval_ns))
		return NULL;
	return (struct publisher *)&opened;
}

void publisher_close(struct publisher *pub)
{
	steps_are("close%s", pub ? "" : " none");
}

void publisher_add_row(struct publisher *pub, size_t row, const char *func, const char *binary)
{
	assert_ptr_equal(pub, &opened);
	steps_are("row %zu %s of %s", row, func, binary);
}

int publisher_begin(struct publisher *pub, const struct publisher_source *source, void *ctx,
		    struct errmsg *err)
{
	assert_ptr_equal(pub, &opened);
	return steps_answer(err, "begin %s %s", source ? "source" : "none", (const char *)ctx);
}

char *process_exe_path(const struct process *proc)
{
	return proc == (const struct process *)&opened ? mem_strdup("/usr/bin/etcd") : NULL;
}

/* --- tests --- */

static struct options opts;
static const struct options_tool tool = {.name = "gotool"};
static const struct publisher_source source;
static struct toolrun run = {.tool = &tool, .opts = &opts, .metrics = &source, .ctx = "ctx"};

static void expect_rows(const struct tracer *tracer, const char *want)
{
	struct toolrun_metrics metrics = {0};
	struct errmsg err = {0};

	assert_int_equal(toolrun_metrics_open(&metrics, &run, &err), 0);
	assert_int_equal(toolrun_metrics_begin(&metrics, &run, tracer, &err), 0);
	toolrun_metrics_close(&metrics);
	steps_expect(want);
}

static void test_rows(void **state)
{
	struct program progs[3] = {{.path = "/bin/a"}, {.path = "/proc/7/exe"}, {.path = "b"}};
	struct selection_row rows[] = {
		{.name = "main.a", .prog = &progs[0], .funcs = 1},
		{.name = "main.none", .prog = &progs[0]},
		{.name = "main.copy", .prog = &progs[1], .copies = 2},
		{.name = "main.hidden", .prog = &progs[1], .funcs = 1, .hidden = true},
		{.name = "main.c", .prog = &progs[2], .funcs = 1},
		{.name = "main.d", .prog = &progs[0], .funcs = 3},
	};
	struct selection sel = {.rows = rows, .row_count = 6};
	struct tracer tracer = {.sel = &sel};

	(void)state;
	opts = (struct options){.metrics = "9435", .max_series = 50, .interval_ns = 7};
	expect_rows(&tracer, "open gotool 9435 series 50 each 7; row 0 main.a of /bin/a; row 2 "
			     "main.copy of /proc/7/exe; row 4 main.c of b; row 5 main.d of /bin/a; "
			     "begin source ctx; close; ");
	tracer.process = (struct process *)&opened;
	expect_rows(&tracer, "open gotool 9435 series 50 each 7; row 0 main.a of /bin/a; row 2 "
			     "main.copy of /usr/bin/etcd; row 4 main.c of b; row 5 main.d of "
			     "/bin/a; begin source ctx; close; ");
}

/* A path does not depend on the folder that the tool was started in. */
static void test_folder(void **state)
{
	struct program prog = {.path = "etc/../etc"};
	struct selection_row row = {.name = "main.a", .prog = &prog, .funcs = 1};
	struct selection sel = {.rows = &row, .row_count = 1};
	const struct tracer tracer = {.sel = &sel};

	(void)state;
	assert_int_equal(chdir("/"), 0);
	expect_rows(&tracer,
		    "open gotool 9435 series 50 each 7; row 0 main.a of /etc; begin source "
		    "ctx; close; ");
}

static void test_none(void **state)
{
	struct toolrun_metrics metrics = {0};
	struct errmsg err = {0};
	const struct tracer tracer = {0};

	(void)state;
	opts = (struct options){0};
	assert_int_equal(toolrun_metrics_open(&metrics, &run, &err), 0);
	assert_int_equal(toolrun_metrics_begin(&metrics, &run, &tracer, &err), 0);
	toolrun_metrics_close(&metrics);
	steps_expect("close none; ");
}

static void test_errors(void **state)
{
	struct selection sel = {0};
	const struct tracer tracer = {.sel = &sel};
	struct toolrun_metrics metrics = {0};
	struct errmsg err = {0};

	(void)state;
	opts = (struct options){.metrics = "9435"};
	steps.fails = "open";
	steps.times = 0;
	assert_int_equal(toolrun_metrics_open(&metrics, &run, &err), -1);
	assert_string_equal(err.text, "no open");
	steps.fails = "begin";
	steps.times = 0;
	assert_int_equal(toolrun_metrics_open(&metrics, &run, &err), 0);
	assert_int_equal(toolrun_metrics_begin(&metrics, &run, &tracer, &err), -1);
	assert_string_equal(err.text, "no begin");
	toolrun_metrics_close(&metrics);
	steps.fails = NULL;
	steps_expect("open gotool 9435 series 0 each 0; open gotool 9435 series 0 each 0; "
		     "begin source ctx; close; ");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
