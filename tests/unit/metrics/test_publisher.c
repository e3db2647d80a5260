// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "metrics/publisher.h"
#include "unit.h"

static bool broken;

static int read_all(void *ctx, bool final, struct errmsg *err)
{
	(void)ctx;
	(void) final;
	return broken ? errmsg_set(err, "the numbers cannot be read") : 0;
}

static void add_row(void *ctx, size_t row, struct reading *sum)
{
	(void)ctx;
	(void)row;
	sum->calls++;
}

/* How many lines were said on stderr while the file was written `times` times */
static unsigned lines_of(struct publisher *pub, unsigned times)
{
	int saved = dup(STDERR_FILENO), file = memfd_create("said", 0);
	char text[4096] = "";
	unsigned lines = 0;

	dup2(file, STDERR_FILENO);
	for (unsigned i = 0; i < times; i++)
		publisher_tick(pub);
	dup2(saved, STDERR_FILENO);
	assert_true(pread(file, text, sizeof(text) - 1, 0) >= 0);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_true(!lines || !strncmp(text, "tool: ", 6));
	close(saved);
	close(file);
	return lines;
}

/* A failure is said once; the next one, after all was well again, is another. */
static void each_failure_once(void **state)
{
	static const struct publisher_source source = {.read = read_all, .add_row = add_row};
	char folder[] = "/tmp/test-publisher-XXXXXX", where[64];
	struct publisher_spec spec = {.tool = "tool", .where = where, .max_series = 10};
	struct errmsg err = {0};

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(where, sizeof(where), "%s/a.prom", folder);
	struct publisher *pub = publisher_open(&spec, &err);

	assert_non_null(pub);
	broken = false;
	assert_int_equal(publisher_begin(pub, &source, NULL, &err), 0);
	for (int outage = 0; outage < 3; outage++) {
		assert_int_equal(lines_of(pub, 3), 0);
		broken = true;
		assert_int_equal(lines_of(pub, 3), 1);
		broken = false;
	}
	publisher_close(pub);
	unlink(where);
	assert_int_equal(rmdir(folder), 0);
}

static void write_own(void *ctx, FILE *out, bool openmetrics)
{
	assert_ptr_equal(ctx, &broken);
	fprintf(out, "text %d\n", openmetrics);
}

/* A source that writes whole families: nothing is asked of rows. */
static void own_families(void **state)
{
	static const struct publisher_source source = {.read = read_all, .write = write_own};
	char folder[] = "/tmp/test-publisher-XXXXXX", where[64], text[64] = "";
	struct publisher_spec spec = {.tool = "tool", .where = where};
	struct errmsg err = {0};

	(void)state;
	broken = false;
	assert_non_null(mkdtemp(folder));
	snprintf(where, sizeof(where), "%s/a.prom", folder);
	struct publisher *pub = publisher_open(&spec, &err);

	assert_non_null(pub);
	assert_int_equal(publisher_begin(pub, &source, &broken, &err), 0);
	FILE *in = fopen(where, "r");

	assert_non_null(in);
	assert_non_null(fgets(text, sizeof(text), in));
	assert_string_equal(text, "text 0\n");
	fclose(in);
	broken = true;
	assert_int_equal(publisher_end(pub, &err), -1);
	assert_string_equal(err.text, "the numbers cannot be read");
	publisher_close(pub);
	unlink(where);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_failure_once),
		cmocka_unit_test(own_families),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
