// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "files/heldfile.h"
#include "tracing/command_internal.h"
#include "unit.h"

static char folder[] = "/tmp/test-command-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	setenv("PATH", "/nonexistent:/usr/bin:/bin", 1);
	return mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static bool has_ended(const struct command *cmd, int wait_ms)
{
	struct pollfd fd = {command_pidfd(cmd), POLLIN, 0};

	return poll(&fd, 1, wait_ms) == 1;
}

static void test_runs_when_started_only(void **state)
{
	char *argv[] = {"touch", "ran", NULL};
	struct errmsg err = {0};
	struct command *cmd = command_new(argv, &err);

	(void)state;
	assert_non_null(cmd);
	struct heldfile *file = command_open(cmd, NULL);

	assert_non_null(file);
	assert_non_null(strstr(heldfile_path(file), "/bin/")); /* however busybox may be linked */
	heldfile_close(file);
	assert_int_equal(kill(command_pid(cmd), 0), 0);
	assert_false(has_ended(cmd, 100));
	assert_int_equal(access("ran", F_OK), -1);
	assert_int_equal(command_start(cmd, &err), 0);
	assert_true(has_ended(cmd, 5000));
	assert_int_equal(remove("ran"), 0);
	command_free(cmd, false);
}

static struct command_end end_of(char *shell_text)
{
	char *argv[] = {"sh", "-c", shell_text, NULL};
	struct command *cmd = command_new(argv, NULL);
	struct command_end end = {-1, -1, true};

	assert_false(command_ended(cmd, &end));
	assert_int_equal(end.status, -1);
	assert_int_equal(command_start(cmd, NULL), 0);
	assert_true(has_ended(cmd, 60000));
	assert_true(command_ended(cmd, &end));
	assert_true(command_ended(cmd, &end)); /* as often as it is asked for */
	command_free(cmd, false);
	return end;
}

static void test_how_it_ended(void **state)
{
	(void)state;
	struct command_end end = end_of("exit 0");

	assert_true(end.status == 0 && end.signal == 0 && !end.dumped);
	end = end_of("exit 7");
	assert_true(end.status == 7 && end.signal == 0 && !end.dumped);
	end = end_of("kill -9 $$");
	assert_true(end.status == 137 && end.signal == SIGKILL && !end.dumped);
}

static void test_never_started(void **state)
{
	char *argv[] = {"touch", "ran", NULL};
	struct command *cmd = command_new(argv, NULL);
	pid_t pid = command_pid(cmd);

	(void)state;
	command_free(cmd, false);
	assert_int_equal(kill(pid, 0), -1); /* reaped */
	assert_int_equal(access("ran", F_OK), -1);
}

/* The tool is killed while it holds a command: the command must neither run nor stay. */
static void test_tool_dies(void **state)
{
	char *argv[] = {"touch", "ran", NULL};
	int status, pipe_fds[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	pid_t tool = fork();

	if (tool == 0) {
		command_new(argv, NULL);
		kill(getpid(), SIGKILL);
	}
	close(pipe_fds[1]);
	waitpid(tool, &status, 0);
	assert_true(WIFSIGNALED(status));
	/* ends when the last process that has the other end, the held child, is gone */
	assert_int_equal(read(pipe_fds[0], &byte, 1), 0);
	close(pipe_fds[0]);
	assert_int_equal(access("ran", F_OK), -1);
}

static void test_not_found(void **state)
{
	static const struct {
		char *name;
		const char *text;
	} rows[] = {
		{"no-such-command", "cannot run \"no-such-command\": No such file or directory"},
		{"./nosuch", "cannot run \"./nosuch\": No such file or directory"},
		{"/tmp", "cannot run \"/tmp\": Permission denied"},
		{"/etc/passwd", "cannot run \"/etc/passwd\": Permission denied"},
		{"", "cannot run \"\": No such file or directory"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *argv[] = {rows[i].name, NULL};
		struct errmsg err = {0};

		assert_null(command_new(argv, &err));
		assert_string_equal(err.text, rows[i].text);
	}
}

static void test_exec_fails(void **state)
{
	char *argv[] = {"./broken", NULL};
	int fd = open("broken", O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	struct errmsg err = {0};

	(void)state;
	assert_int_equal(write(fd, "neither ELF nor script", 22), 22);
	close(fd);
	struct command *cmd = command_new(argv, &err);

	assert_non_null(cmd);
	assert_int_equal(command_start(cmd, &err), -1);
	assert_non_null(strstr(err.text, "Exec format error"));
	command_free(cmd, false);
	remove("broken");
}

static void test_killed_while_held(void **state)
{
	char *argv[] = {"true", NULL};
	struct command *cmd = command_new(argv, NULL);
	struct errmsg err = {0};

	(void)state;
	kill(command_pid(cmd), SIGKILL);
	assert_true(has_ended(cmd, 5000));
	assert_int_equal(command_start(cmd, &err), 0);
	command_free(cmd, false);
}

static void test_left_alone_or_killed(void **state)
{
	char *argv[] = {"sleep", "60", NULL};

	(void)state;
	for (int kill_it = 0; kill_it < 2; kill_it++) {
		struct command *cmd = command_new(argv, NULL);
		pid_t pid = command_pid(cmd);
		int status;

		assert_int_equal(command_start(cmd, NULL), 0);
		command_free(cmd, kill_it);
		if (!kill_it) {
			assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
			kill(pid, SIGKILL);
		}
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), kill_it ? SIGTERM : SIGKILL);
	}
}

/* What the tool does with signals for itself is none of the command's business. */
static void test_signals_are_reset(void **state)
{
	char *argv[] = {"sh", "-c", "kill -TERM $$; exit 0", NULL};
	sigset_t set, before;
	int status;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	struct command *cmd = command_new(argv, NULL);

	assert_int_equal(command_start(cmd, NULL), 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	waitpid(command_pid(cmd), &status, 0);
	assert_true(WIFSIGNALED(status));
	command_free(cmd, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_when_started_only),
		cmocka_unit_test(test_how_it_ended),
		cmocka_unit_test(test_never_started),
		cmocka_unit_test(test_tool_dies),
		cmocka_unit_test(test_not_found),
		cmocka_unit_test(test_exec_fails),
		cmocka_unit_test(test_killed_while_held),
		cmocka_unit_test(test_left_alone_or_killed),
		cmocka_unit_test(test_signals_are_reset),
	};

	alarm(60); /* rather than hang */
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
