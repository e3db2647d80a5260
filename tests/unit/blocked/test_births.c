// SPDX-License-Identifier: Apache-2.0
/* Births and ends of goroutines by go statement, since they were read last; and what is traced for
 * them. The maps and the tracer are the test's. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "blocked/births.h"
#include "bpf-src/shared/births.h"
#include "gostacks/leaks.h"
#include "kernel/bpfmap.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "sites/goruntime.h"
#include "tracing/toolrun.h"

enum { BIRTHS = 3, LOSSES = 4, MOST = 4 };

static struct program prog;
static struct goruntime runtime_of;
static char told[256];
static struct {
	struct birth_key key;
	struct birth_sum sum;
} all[MOST];
static size_t all_count;
static uint64_t lost[BIRTH_LOSSES];
static bool fails;

/* --- in place of the tracer and of its maps --- */

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &prog;
}

const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &runtime_of;
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	(void)tracer;
	sprintf(told + strlen(told), "%s=%d ", name, (int)value);
}

int tracer_map(const struct tracer *tracer, const char *name)
{
	(void)tracer;
	return !strcmp(name, "births") ? BIRTHS : !strcmp(name, "losses") ? LOSSES : -1;
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_int_equal(fd, BIRTHS);
	assert_int_equal(key_size, sizeof(all[0].key));
	assert_int_equal(value_size, sizeof(all[0].sum));
	for (size_t i = 0; i < all_count; i++)
		assert_int_equal(fn(&all[i].key, &all[i].sum, arg), 0);
	errno = EPERM;
	return fails ? -1 : 0;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_int_equal(fd, LOSSES);
	assert_int_equal(entries * words, BIRTH_LOSSES);
	memcpy(out, lost, sizeof(lost));
	return 0;
}

uint32_t bpfmap_room(uint32_t room)
{
	return room;
}

/* --- what is traced --- */

static struct toolrun run;
static struct births *births;
static struct errmsg err;

static int begin(void **state)
{
	(void)state;
	prog = (struct program){.path = "/app", .release = 27, .release_told = true};
	runtime_of = (struct goruntime){.g_gopc = 288};
	all_count = 0;
	fails = false;
	run = (struct toolrun){0};
	births = births_new(&run);
	births_begin(births, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	births_free(births);
	births_free(NULL);
	return 0;
}

static void test_run(void **state)
{
	const struct tracer_config *config = &run.config;

	(void)state;
	assert_int_equal(config->cpu, -1);
	assert_string_equal(config->bpf_file, "goleaks.bpf.c");
	assert_true(config->goroutines && config->sleepable);
	assert_int_equal(config->def_count, 1);
	assert_string_equal(config->defs[0].name, "BIRTHS");
	assert_int_equal(config->defs[0].value, 1 << 17);
	assert_int_equal(config->runtime_func_count, 2);
	assert_string_equal(config->runtime_funcs[BIRTH_BEGIN].names[0], "runtime.newproc1");
	assert_string_equal(config->runtime_funcs[BIRTH_END].names[0], "runtime.gdestroy");
	assert_string_equal(config->runtime_funcs[BIRTH_END].names[1], "runtime.goexit0");
}

static void expect_plan(const char *want, const char *why)
{
	*told = err.text[0] = '\0';
	assert_int_equal(run.config.plan(NULL, NULL, &err), why ? -1 : 0);
	assert_string_equal(told, want);
	assert_string_equal(err.text, why ? why : "");
}

static void test_plan(void **state)
{
	static const char why[] = "\"/app\": where its runtime notes who creates goroutines is not "
				  "known";

	(void)state;
	expect_plan("CALLER_THIRD=1 G_GOPC=288 ", NULL);
	prog.release = 18;
	expect_plan("CALLER_THIRD=1 G_GOPC=288 ", NULL);
	prog.release = 17;
	expect_plan("G_GOPC=288 ", NULL);
	prog.release_told = false;
	expect_plan("", why);
	prog.release_told = true;
	runtime_of.g_gopc = 0;
	expect_plan("", why);
}

/* --- what was counted --- */

static void set(size_t i, uint64_t created_by, uint64_t start, uint64_t born, uint64_t ended)
{
	all[i].key = (struct birth_key){created_by, start};
	all[i].sum = (struct birth_sum){born, ended};
	all_count = all_count > i ? all_count : i + 1;
}

static void expect(const char *want)
{
	struct leak_births *found;
	size_t count;
	char got[256] = "";

	assert_int_equal(births_read(births, &found, &count, &err), 0);
	assert_non_null(found);
	for (size_t i = 0; i < count; i++)
		sprintf(got + strlen(got), "%d>%d+%d-%d ", (int)found[i].created_by,
			(int)found[i].start, (int)found[i].born, (int)found[i].ended);
	assert_string_equal(got, want);
	free(found);
}

static void test_read(void **state)
{
	struct leak_births *found;
	size_t count;

	(void)state;
	expect("");
	set(0, 100, 7, 5, 2);
	set(1, 100, 8, 9, 0);
	set(2, 101, 7, 1, 1);
	expect("100>7+5-2 100>8+9-0 101>7+1-1 ");
	expect("100>7+0-0 100>8+0-0 101>7+0-0 ");
	set(0, 101, 7, 4, 3); /* in another order */
	set(2, 100, 7, 6, 5);
	expect("101>7+3-2 100>8+0-0 100>7+1-3 ");
	fails = true;
	assert_int_equal(births_read(births, &found, &count, &err), -1);
	assert_string_equal(err.text, "cannot read the counts: Operation not permitted");
}

static void test_lost(void **state)
{
	char *text;
	size_t len;
	FILE *was = stderr;

	(void)state;
	lost[BIRTH_LOSS_ROOM] = 3;
	lost[BIRTH_LOSS_UNREADABLE] = 4;
	stderr = open_memstream(&text, &len);
	births_say_lost(births, "goleaks");
	fclose(stderr);
	stderr = was;
	assert_string_equal(text, "goleaks: 3 births and ends were not counted: more go statements "
				  "than there is room for\ngoleaks: 4 births and ends were not "
				  "counted: the goroutine could not be read\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_run, begin, end),
		cmocka_unit_test_setup_teardown(test_plan, begin, end),
		cmocka_unit_test_setup_teardown(test_read, begin, end),
		cmocka_unit_test_setup_teardown(test_lost, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
