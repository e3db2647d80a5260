// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "unit.h"

enum { GONE_ON = 77 };

/* What becomes of a child that does `what` on `number`, having been started with its action
 * `before` */
static int status_of(void (*what)(int number), int number, void (*before)(int))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		signal(number, before);
		close(STDERR_FILENO);
		what(number);
		_exit(GONE_ON);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void early(int number)
{
	signals_take("tool");
	raise(number);
}

static void early_blocked(int number)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_BLOCK, &set, NULL);
	early(number);
}

static void twice(int number)
{
	signals_take("tool");
	signals_hold();
	raise(number);
	raise(number); /* one with the first */
	if (!signals_came())
		_exit(1);
	usleep(150000);
	raise(number);
}

static void after_the_end(int number)
{
	signals_take("tool");
	signals_hold();
	signals_over();
	raise(number); /* one with the end */
	usleep(150000);
	raise(number);
}

static void by_default(int number)
{
	signals_default();
	raise(number);
}

static void in_child(int number)
{
	signals_take("tool");
	signals_before_fork();
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		raise(number); /* comes when it is given back */
		signals_after_fork(true);
		_exit(GONE_ON);
	}
	signals_after_fork(false);
	waitpid(pid, &status, 0);
	_exit(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBERS = 3 };

/* Nothing is gathered: the end, also where it was ignored or blocked; but nohup's SIGHUP */
static void test_early(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUMBERS; i++) {
		int n = numbers[i], ignored = n == SIGHUP ? GONE_ON : 0;

		assert_int_equal(status_of(early, n, SIG_DFL), 0);
		assert_int_equal(status_of(early_blocked, n, SIG_DFL), 0);
		assert_int_equal(WEXITSTATUS(status_of(early, n, SIG_IGN)), ignored);
	}
}

static void test_second(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUMBERS; i++) {
		int n = numbers[i];

		assert_int_equal(WEXITSTATUS(status_of(twice, n, SIG_DFL)), 128 + n);
		assert_int_equal(WEXITSTATUS(status_of(after_the_end, n, SIG_DFL)), 128 + n);
	}
}

static void test_default(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUMBERS; i++) {
		int n = numbers[i], status = status_of(by_default, n, SIG_IGN);

		assert_int_equal(WTERMSIG(status_of(by_default, n, SIG_DFL)), n);
		if (n == SIGHUP)
			assert_int_equal(WEXITSTATUS(status), GONE_ON);
		else
			assert_int_equal(WTERMSIG(status), n);
	}
}

/* A command gets what the tool was started with. */
static void test_child(void **state)
{
	(void)state;
	for (size_t i = 0; i < NUMBERS; i++) {
		assert_int_equal(WEXITSTATUS(status_of(in_child, numbers[i], SIG_DFL)), numbers[i]);
		assert_int_equal(WEXITSTATUS(status_of(in_child, numbers[i], SIG_IGN)), GONE_ON);
	}
}

static void test_descriptor(void **state)
{
	(void)state;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		signals_take("tool");
		struct pollfd fd = {.fd = signals_hold(), .events = POLLIN};

		if (fd.fd < 0 || poll(&fd, 1, 0) || signals_came())
			_exit(1);
		raise(SIGTERM);
		_exit(poll(&fd, 1, 0) == 1 && signals_came() ? 0 : 2);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_early),      cmocka_unit_test(test_second),
		cmocka_unit_test(test_default),    cmocka_unit_test(test_child),
		cmocka_unit_test(test_descriptor),
	};

	alarm(60); /* rather than hang */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
