// SPDX-License-Identifier: Apache-2.0
/* What another tool prints, as lines. The tools are scripts that stand in a folder which is reached
 * from this test's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "gotop/toptext.h"
#include "unit.h"

static char folder[] = "/tmp/test-toptext-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

/* The text of such a script */
static struct toptext run(const char *script, const char *const args[])
{
	char *path = mem_printf("%s/tool", folder);
	char *tool = mem_printf("../../../../../../../../../..%s", path);
	FILE *f = fopen(path, "we");
	struct toptext text;

	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	chmod(path, 0755);
	toptext_run(tool, args, &text);
	remove(path);
	free(path);
	free(tool);
	return text;
}

static void expect(struct toptext text, const char *const *lines, size_t count)
{
	assert_int_equal(text.count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(text.lines[i], lines[i]);
	toptext_free(&text);
	assert_null(text.text);
	assert_null(text.lines);
	assert_int_equal(text.count, 0);
}

static void test_lines(void **state)
{
	const char *const args[] = {"-p", "a b", "", NULL};
	const char *const none[] = {NULL};

	(void)state;
	expect(run("echo one; echo; echo \"$# $1,$2,$3\"", args),
	       (const char *const[]){"one", "", "3 -p,a b,"}, 3);
	expect(run("printf 'no end'", none), (const char *const[]){"no end"}, 1);
	expect(run("echo out; echo err >&2; cat", none), (const char *const[]){"out", "err"}, 2);
}

/* Of a tool that prints nothing, or cannot be run, a line tells. */
static void test_nothing(void **state)
{
	const char *const none[] = {NULL};
	struct toptext text = run("exit 1", none);

	(void)state;
	assert_int_equal(text.count, 1);
	assert_non_null(strstr(text.lines[0], "/tool has printed nothing"));
	toptext_free(&text);
	toptext_run("no such tool", none, &text);
	assert_int_equal(text.count, 1);
	assert_int_equal(strncmp(text.lines[0], "cannot run /", strlen("cannot run /")), 0);
	assert_non_null(strstr(text.lines[0], "no such tool: No such file or directory"));
	toptext_free(&text);
}

/* It stands beside this one. */
static void test_place(void **state)
{
	const char *const none[] = {NULL};
	char own[4096];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	struct toptext text;

	(void)state;
	assert_true(n > 0);
	own[n] = '\0';
	*strrchr(own, '/') = '\0';
	toptext_run("nosuch", none, &text);
	char *wanted = mem_printf("cannot run %s/nosuch: No such file or directory", own);

	assert_string_equal(text.lines[0], wanted);
	free(wanted);
	toptext_free(&text);
}

static void test_much(void **state)
{
	const char *const none[] = {NULL};
	struct toptext text = run("yes 0123456789 | head -c 300000", none);

	(void)state;
	assert_int_equal(text.count, (300000 + 10) / 11);
	for (size_t i = 0; i + 1 < text.count; i++)
		assert_string_equal(text.lines[i], "0123456789");
	toptext_free(&text);
	/* it never ends */
	text = run("exec yes 0123456789abcdef", none);
	assert_true(text.count > (4 << 20) / 17);
	assert_true(text.count < (5 << 20) / 17);
	assert_string_equal(text.lines[text.count - 2], "the rest was cut off:");
	assert_string_equal(text.lines[text.count - 1], "it printed more than 4 MiB");
	toptext_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_much),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
