// SPDX-License-Identifier: Apache-2.0
/* --perfetto: one file of all trees, written when they are all there. What a tree's events are, and
 * how a file is written, are others' tests. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/outfile.h"
#include "faketool.h"
#include "gotree/calltree_print_internal.h"
#include "gotree/tracefile.h"
#include "steps.h"

enum { MAX = 256 << 20 };

static const char *event = "{}"; /* what a tree has */
static off_t len_so_far;

/* Of the text that is to be written */
off_t ftello(FILE *__stream)
{
	(void)__stream;
	return len_so_far;
}

void calltree_trace(FILE *out, const struct calltree *tree, bool more)
{
	assert_ptr_equal(tree, &event);
	fprintf(out, "%s%s\n", more ? "," : "", event);
}

struct outfile *outfile_open(const char *path, const struct outfile_spec *spec, struct errmsg *err)
{
	return steps_answer(err, "open %s of %s%s%s", path, spec->option, spec->folder,
			    spec->shared ? " shared" : "")
		       ? NULL
		       : (struct outfile *)&event;
}

void outfile_close(struct outfile *file)
{
	assert_ptr_equal(file, &event);
	steps_are("close");
}

int outfile_write(struct outfile *file, const void *bytes, size_t len, struct errmsg *err)
{
	assert_ptr_equal(file, &event);
	return steps_answer(err, "write %.*s", (int)len, (const char *)bytes);
}

static const struct calltree *tree(void)
{
	return (const struct calltree *)(const void *)&event;
}

static void expect_left_out(const struct tracefile *file, const char *want)
{
	faketool_errors_begin();
	tracefile_say_left_out(file, "gotree");
	faketool_errors_expect(want);
}

static void test_file(void **state)
{
	struct errmsg err;
	struct tracefile *file = tracefile_open("out", &err);

	(void)state;
	for (int i = 0; i < 3; i++)
		tracefile_add(file, tree());
	assert_int_equal(tracefile_write(file, &err), 0);
	expect_left_out(file, "");
	tracefile_close(file);
	steps_expect("open out of --perfetto; write {\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		     "{}\n,{}\n,{}\n]}\n; close; ");
	tracefile_close(NULL);
	steps_expect("");
}

static void test_failures(void **state)
{
	struct errmsg err;

	(void)state;
	steps.fails = "open";
	assert_null(tracefile_open("out", &err));
	assert_string_equal(err.text, "no open");
	steps.fails = "write";
	steps.times = 0;
	struct tracefile *file = tracefile_open("out", &err);

	assert_int_equal(tracefile_write(file, &err), -1);
	assert_string_equal(err.text, "no write");
	tracefile_close(file);
	steps_expect("open out of --perfetto; open out of --perfetto; write {\"displayTimeUnit\":"
		     "\"ns\",\"traceEvents\":[\n]}\n; close; ");
}

/* Trees that come when it has 256 MB are left out, and counted. */
static void test_too_much(void **state)
{
	struct errmsg err;
	struct tracefile *file = tracefile_open("out", &err);

	(void)state;
	len_so_far = MAX;
	tracefile_add(file, tree());
	expect_left_out(file, "");
	len_so_far++;
	tracefile_add(file, tree());
	tracefile_add(file, tree());
	expect_left_out(file,
			"gotree: --perfetto: 2 trees left out: the file has 256 MB already\n");
	assert_int_equal(tracefile_write(file, &err), 0);
	tracefile_close(file);
	steps_expect("open out of --perfetto; write {\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
		     "{}\n]}\n; close; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
