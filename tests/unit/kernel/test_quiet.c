// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/quiet_internal.h"
#include "unit.h"

/* stdout and stderr of this process, sent into a pipe */
struct terminal {
	int pipe[2], out, err;
};

static void take_terminal(struct terminal *t)
{
	fflush(stdout);
	fflush(stderr);
	assert_int_equal(pipe(t->pipe), 0);
	t->out = dup(STDOUT_FILENO);
	t->err = dup(STDERR_FILENO);
	dup2(t->pipe[1], STDOUT_FILENO);
	dup2(t->pipe[1], STDERR_FILENO);
}

/* what came through, as a string */
static void give_back(struct terminal *t, char *text, size_t size)
{
	fflush(stdout);
	fflush(stderr);
	dup2(t->out, STDOUT_FILENO);
	dup2(t->err, STDERR_FILENO);
	close(t->pipe[1]);
	ssize_t n = read(t->pipe[0], text, size - 1);

	text[n < 0 ? 0 : n] = '\0';
	close(t->pipe[0]);
	close(t->out);
	close(t->err);
}

static void say(const char *text)
{
	assert_int_equal(write(STDERR_FILENO, text, strlen(text)), strlen(text));
}

static void test_kept(void **state)
{
	struct terminal t;
	char seen[64];

	(void)state;
	take_terminal(&t);
	printf("before ");
	struct quiet *quiet = quiet_begin();

	printf("out ");
	fflush(stdout);
	say("err");
	char *kept = quiet_end(quiet);

	printf("after");
	give_back(&t, seen, sizeof(seen));
	assert_string_equal(kept, "out err");
	assert_string_equal(seen, "before after");
	free(kept);
}

/* a library that ends the process: why is not kept back */
static void test_exit(void **state)
{
	struct terminal t;
	char seen[64];

	(void)state;
	take_terminal(&t);
	pid_t pid = fork();

	if (!pid) {
		quiet_begin();
		say("the reason");
		exit(1);
	}
	waitpid(pid, NULL, 0);
	give_back(&t, seen, sizeof(seen));
	assert_int_equal(strncmp(seen, "the reason", 10), 0);
}

static void test_nothing_said(void **state)
{
	(void)state;
	char *kept = quiet_end(quiet_begin());

	assert_string_equal(kept, "");
	free(kept);
}

/* a stream that was closed is closed again afterwards */
static void test_closed_stderr(void **state)
{
	int saved = dup(STDERR_FILENO);

	(void)state;
	close(STDERR_FILENO);
	struct quiet *quiet = quiet_begin();

	say("x");
	char *kept = quiet_end(quiet);
	ssize_t written = write(STDERR_FILENO, "y", 1);

	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_string_equal(kept, "x");
	assert_int_equal(written, -1);
	free(kept);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_nothing_said),
		cmocka_unit_test(test_closed_stderr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
