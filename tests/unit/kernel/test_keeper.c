// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/keeper.h"
#include "unit.h"

/* Has the last of those that could write to it closed it? */
static bool is_closed(int end)
{
	struct pollfd readable = {.fd = end, .events = POLLIN};

	return poll(&readable, 1, 0) == 1 && (readable.revents & POLLHUP);
}

/* What was open is open until the keeper ends, though it is closed here. */
static void test_keeps(void **state)
{
	int ends[2], later[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	struct keeper keeper = keeper_start();

	assert_true(keeper.pid > 0);
	assert_int_equal(pipe(later), 0);
	close(ends[1]);
	close(later[1]);
	assert_false(is_closed(ends[0]));
	assert_true(is_closed(later[0])); /* was not open yet */
	assert_true(keeper_end(&keeper, 10000));
	assert_true(is_closed(ends[0]));
	assert_int_equal(keeper.pid, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(errno, ECHILD);
	assert_true(keeper_end(&keeper, 0)); /* again: nothing */
	close(ends[0]);
	close(later[0]);
}

/* Ctrl-C goes to all of a terminal's foreground; whoever waits for the output of a tool that has
 * ended is not kept waiting. */
static void test_is_apart(void **state)
{
	int out[2], own = dup(STDOUT_FILENO);

	(void)state;
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	dup2(out[1], STDOUT_FILENO);
	close(out[1]);
	struct keeper keeper = keeper_start();

	dup2(own, STDOUT_FILENO);
	close(own);
	for (int i = 0; i < 1000 && (getsid(keeper.pid) != keeper.pid || !is_closed(out[0])); i++)
		usleep(10000);
	assert_int_equal(getsid(keeper.pid), keeper.pid);
	assert_true(is_closed(out[0]));
	assert_true(keeper_end(&keeper, 10000));
	close(out[0]);
}

/* One that does not get to its end is not waited for. */
static void test_gives_up(void **state)
{
	struct keeper keeper = keeper_start();
	pid_t pid = keeper.pid;
	int status;

	(void)state;
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	assert_false(keeper_end(&keeper, 50));
	assert_int_equal(keeper.pid, 0);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

struct slow { /* what keeps a keeper from its end */
	pid_t pid;
	int let_go;
};

static void *lets_go_late(void *arg)
{
	const struct slow *slow = arg;

	for (int i = 0; i < 100; i++) { /* each takes a little of a processor */
		kill(slow->pid, SIGSTOP);
		kill(slow->pid, SIGCONT);
		usleep(10000);
	}
	close(slow->let_go);
	return NULL;
}

/* One that goes on is waited for, however long. */
static void test_takes_long(void **state)
{
	struct keeper keeper = keeper_start();
	struct slow slow = {keeper.pid, dup(keeper.let_go)};
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, lets_go_late, &slow), 0);
	assert_true(keeper_end(&keeper, 500));
	pthread_join(thread, NULL);
}

/* One that was killed is gone. */
static void test_killed(void **state)
{
	struct keeper keeper = keeper_start();

	(void)state;
	kill(keeper.pid, SIGKILL);
	assert_true(keeper_end(&keeper, 10000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps),    cmocka_unit_test(test_is_apart),
		cmocka_unit_test(test_gives_up), cmocka_unit_test(test_takes_long),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
