// SPDX-License-Identifier: Apache-2.0
/* A sanitizer's build does not watch, so that these say nothing there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/budget_watch.h"
#include "unit.h"

enum { GONE_ON = 77 };
enum { LIMIT_MS = 200, MB = 1 << 20, LARGE = 448 * MB };

static void burn(unsigned ms)
{
	uint64_t end = clock() + (uint64_t)ms * CLOCKS_PER_SEC / 1000;

	while ((uint64_t)clock() < end)
		;
}

/* The exit status of a child that does this, and what it says. */
static int status_of(void (*work)(void), char said[256])
{
	int fds[2], status;
	size_t len = 0;
	ssize_t n;

	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	pid_t pid = fork();

	if (!pid) {
		dup2(fds[1], STDERR_FILENO);
		setenv("GOTOOLS_SECONDS", "0.2", 1);
		work();
		_exit(GONE_ON);
	}
	close(fds[1]);
	while ((n = read(fds[0], said + len, 255 - len)) > 0)
		len += n;
	said[len] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect_end(void (*work)(void), const char *words)
{
#ifdef __SANITIZE_ADDRESS__
	(void)work;
	(void)words;
	skip();
#else
	char said[256];

	assert_int_equal(status_of(work, said), 1);
	assert_non_null(strstr(said, words));
#endif
}

static void expect_no_end(void (*work)(void))
{
	char said[256];

	assert_int_equal(status_of(work, said), GONE_ON);
	assert_string_equal(said, "");
}

/* 64 times the limit is what the slowest machine may take */
static void reads_long(void)
{
	budget_watch_begin("/file", 1);
	burn(64 * LIMIT_MS + 1000);
}

static void reads_one_after_another(void)
{
	for (int i = 0; i < 6; i++) {
		budget_watch_begin("/file", 1);
		burn(64 * LIMIT_MS / 6 + 200);
	}
}

static void pauses(void)
{
	budget_watch_begin("/file", 1);
	budget_watch_pause();
	burn(3 * LIMIT_MS);
}

static void has_long_task(void)
{
	budget_watch_task("process 1", "a look");
	burn(64 * LIMIT_MS + 1000);
}

static void has_many_tasks(void)
{
	budget_watch_begin("/file", 1);
	for (int i = 0; i < 8; i++) {
		budget_watch_task("process 1", "a look");
		burn(LIMIT_MS / 2);
	}
}

static void may_take_longer(void)
{
	budget_watch_task("process 1", "a look");
	budget_watch_allow(UINT64_C(5000000) * LIMIT_MS, 0);
	burn(3 * LIMIT_MS);
}

/* What one task was allowed, another is not. */
static void may_take_no_longer(void)
{
	budget_watch_task("process 1", "a look");
	budget_watch_allow(UINT64_C(100000000000), 0);
	has_long_task();
}

static void touch_much(void)
{
	char *bytes = malloc(LARGE);

	for (size_t i = 0; bytes && i < LARGE; i += 4096)
		((volatile char *)bytes)[i] = 1;
	burn(50);
	free(bytes);
}

static void takes_memory(void)
{
	budget_watch_begin("/file", 1);
	budget_watch_allow(UINT64_C(100000000000), 0);
	touch_much();
}

static void may_take_memory(void)
{
	budget_watch_task("process 1", "a look");
	budget_watch_allow(UINT64_C(100000000000), 256 * MB);
	touch_much();
}

static void test_time(void **state)
{
	(void)state;
	expect_end(reads_long,
		   ": \"/file\": gave up: reading it takes more time than a file of its "
		   "size should\n");
	expect_end(reads_one_after_another, "more time");
	expect_no_end(pauses);
}

static void test_tasks(void **state)
{
	(void)state;
	expect_end(has_long_task,
		   ": process 1: gave up: a look takes more time than so many should\n");
	expect_no_end(has_many_tasks);
	expect_no_end(may_take_longer);
	expect_end(may_take_no_longer, "more time");
}

static void test_memory(void **state)
{
	(void)state;
	expect_end(takes_memory, "more memory");
	expect_no_end(may_take_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
