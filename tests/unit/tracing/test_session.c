// SPDX-License-Identifier: Apache-2.0
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "files/process.h"
#include "tracing/session_internal.h"
#include "unit.h"

#define MS 1000000ull

struct seen {
	unsigned ticks, events, enough;
	int event_fd;
};

static void count_tick(void *ctx)
{
	((struct seen *)ctx)->ticks++;
}

static bool count_event(void *ctx)
{
	struct seen *seen = ctx;
	eventfd_t value;

	eventfd_read(seen->event_fd, &value);
	return ++seen->events < seen->enough;
}

static struct session_spec make_spec(struct seen *seen)
{
	return (struct session_spec){.process_fd = -1,
				     .event_fd = -1,
				     .tick = count_tick,
				     .event = count_event,
				     .ctx = seen};
}

/* In a child, as the session changes what signals do: exits with the session_end. */
static int run_and_exit(const struct session_spec *spec, struct session *ses)
{
	enum session_end end;

	if (session_run(ses, spec, &end, NULL))
		_exit(99);
	return end;
}

static int wait_status(pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	return status;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

/* For how long this thread has waited for a CPU. */
static uint64_t delayed_ns(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "re");
	unsigned long long ran = 0, waited = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%llu %llu", &ran, &waited), 2);
	fclose(file);
	return waited;
}

static int run_timed(uint64_t interval_ns, uint64_t duration_ns, struct seen *seen)
{
	struct session *ses = session_new(NULL);
	struct session_spec spec = make_spec(seen);
	enum session_end end;

	spec.interval_ns = interval_ns;
	spec.duration_ns = duration_ns;
	assert_int_equal(session_run(ses, &spec, &end, NULL), 0);
	session_free(ses);
	return end;
}

/* The ticks of a run in which the thread was never kept from running for long: those that are
 * missed are not made up for. */
static unsigned int ticks_of(uint64_t interval_ns, uint64_t duration_ns)
{
	struct seen seen;
	uint64_t before;

	do {
		seen = (struct seen){0};
		before = delayed_ns();
		assert_int_equal(run_timed(interval_ns, duration_ns, &seen), SESSION_DURATION);
	} while (delayed_ns() - before > 150 * MS);
	return seen.ticks;
}

static void test_duration(void **state)
{
	struct seen seen = {0};
	uint64_t before = now_ms();

	(void)state;
	assert_int_equal(run_timed(0, 120 * MS, &seen), SESSION_DURATION);
	assert_true(now_ms() - before >= 119);
	assert_int_equal(seen.ticks, 0);
}

/* The tick that falls on the end is the end's own: what is printed there is printed once. */
static void test_intervals_within_duration(void **state)
{
	(void)state;
	assert_int_equal(ticks_of(200 * MS, 600 * MS), 2);
	assert_int_equal(ticks_of(400 * MS, 600 * MS), 1);
	assert_int_equal(ticks_of(600 * MS, 200 * MS), 0);
}

static void tick_slowly_once(void *ctx)
{
	struct seen *seen = ctx;

	if (!seen->ticks++)
		usleep(450 * 1000);
}

/* Ticks that were due while one was printed are not made up for. */
static void test_ticks_missed(void **state)
{
	struct seen seen = {0};
	struct session *ses = session_new(NULL);
	struct session_spec spec = make_spec(&seen);
	enum session_end end;

	(void)state;
	spec.tick = tick_slowly_once;
	spec.interval_ns = 100 * MS;
	spec.duration_ns = 750 * MS;
	assert_int_equal(session_run(ses, &spec, &end, NULL), 0);
	session_free(ses);
	assert_in_range(seen.ticks, 2, 4); /* at 100, 550, 600 and 700 ms */
}

/* A signal that comes before the run, but after session_new, is not lost. */
static void test_signals_end_it(void **state)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			struct seen seen = {0};
			struct session_spec spec = make_spec(&seen);
			struct session *ses = session_new(NULL);

			raise(signals[i]);
			_exit(run_and_exit(&spec, ses));
		}
		int status = wait_status(pid);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), SESSION_SIGNAL);
	}
}

/* timeout(1) sends its signal to the tool, and again to the tool's group. */
static void test_twin_signal_is_one(void **state)
{
	(void)state;
	pid_t pid = fork();

	if (pid == 0) {
		struct seen seen = {0};
		struct session_spec spec = make_spec(&seen);
		struct session *ses = session_new(NULL);
		pid_t twin = fork();

		if (twin == 0) {
			kill(getppid(), SIGINT);
			usleep(20000);
			kill(getppid(), SIGINT);
			_exit(0);
		}
		int end = run_and_exit(&spec, ses);

		waitpid(twin, NULL, 0);
		_exit(end);
	}
	int status = wait_status(pid);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), SESSION_SIGNAL);
}

static void test_second_signal_ends_the_tool(void **state)
{
	(void)state;
	pid_t pid = fork();

	if (pid == 0) {
		struct seen seen = {0};
		struct session_spec spec = make_spec(&seen);
		struct session *ses = session_new(NULL);

		raise(SIGTERM);
		run_and_exit(&spec, ses);
		usleep(150000);
		raise(SIGINT);
		_exit(0);
	}
	int status = wait_status(pid);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 128 + SIGINT);
}

static void test_process_ends(void **state)
{
	struct seen seen = {0};
	struct session_spec spec = make_spec(&seen);
	struct session *ses = session_new(NULL);
	enum session_end end;

	(void)state;
	pid_t pid = fork();

	if (pid == 0) {
		usleep(50000);
		_exit(3);
	}
	struct process *process = process_open(pid, NULL);

	assert_non_null(process);
	spec.process_fd = process_fd(process);
	spec.duration_ns = 10000 * MS;
	assert_int_equal(session_run(ses, &spec, &end, NULL), 0);
	assert_int_equal(end, SESSION_PROCESS);
	assert_int_equal(WEXITSTATUS(wait_status(pid)), 3);
	process_close(process);
	session_free(ses);
}

static void test_events(void **state)
{
	struct seen seen = {.enough = 3, .event_fd = eventfd(3, EFD_SEMAPHORE | EFD_CLOEXEC)};
	struct session_spec spec = make_spec(&seen);
	struct session *ses = session_new(NULL);
	enum session_end end;

	(void)state;
	spec.event_fd = seen.event_fd;
	spec.duration_ns = 10000 * MS;
	assert_int_equal(session_run(ses, &spec, &end, NULL), 0);
	assert_int_equal(end, SESSION_ENOUGH);
	assert_int_equal(seen.events, 3);
	assert_int_equal(seen.ticks, 0);
	close(seen.event_fd);
	session_free(ses);
}

static bool count_stream(void *ctx)
{
	struct seen *seen = ctx;

	return ++seen->events < seen->enough;
}

/* it is read each period, at once when its descriptor says so, and ends the session */
static void test_stream(void **state)
{
	struct seen seen = {.enough = 4};
	struct session_spec spec = make_spec(&seen);
	struct session *ses = session_new(NULL);
	uint64_t before = now_ms();
	enum session_end end;

	(void)state;
	spec.stream = count_stream;
	spec.stream_ns = 50 * MS;
	spec.stream_fd = -1;
	spec.duration_ns = 10000 * MS;
	assert_int_equal(session_run(ses, &spec, &end, NULL), 0);
	assert_int_equal(end, SESSION_ENOUGH);
	assert_true(now_ms() - before >= 190);
	session_free(ses);

	seen = (struct seen){.enough = 4, .event_fd = eventfd(1, EFD_CLOEXEC)};
	spec.stream_fd = seen.event_fd;
	spec.stream_ns = 10000 * MS;
	ses = session_new(NULL);
	assert_int_equal(session_run(ses, &spec, &end, NULL), 0);
	assert_int_equal(end, SESSION_ENOUGH);
	close(seen.event_fd);
	session_free(ses);
}

/* `gofunccount ... | head -1`: head is gone, and nothing more will be printed for long. */
static void test_output_gone(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();

	if (pid == 0) {
		struct seen seen = {0};
		struct session_spec spec = make_spec(&seen);

		signal(SIGPIPE, SIG_IGN); /* as some parents leave it */
		struct session *ses = session_new(NULL);

		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		if (run_and_exit(&spec, ses) != SESSION_OUTPUT_GONE)
			_exit(1);
		printf("nobody reads this\n");
		_exit(2);
	}
	close(fds[1]);
	usleep(50000);
	close(fds[0]);
	int status = wait_status(pid);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGPIPE);
}

static void test_privileges(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
			struct __user_cap_data_struct data[2] = {0};
			struct errmsg err = {0};

			if (i == 1) /* CAP_PERFMON alone */
				data[1].effective = data[1].permitted = 1u << 6;
			if (i == 2) /* and CAP_BPF */
				data[1].effective = data[1].permitted = 3u << 6;
			if (syscall(SYS_capset, &header, data))
				_exit(2); /* not root */
			int answer = session_check_privileges(&err);

			if (answer && (!strstr(err.text, "needs root") || !err.hint[0]))
				_exit(3);
			_exit(answer ? 1 : 0);
		}
		int status = wait_status(pid);

		if (i == 0 || WEXITSTATUS(status) != 2)
			assert_int_equal(WEXITSTATUS(status), i == 2 ? 0 : 1);
	}
}

static void test_print_start(void **state)
{
	char *patterns[] = {"main.*", "a\x1b", "main.*", "a\x1b"};
	char text[128] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	session_print_start(out, 12, patterns, 4);
	fclose(out);
	assert_string_equal(text,
			    "Tracing 12 functions for \"main.* a\\x1b\"... Hit Ctrl-C to end.\n");
}

/* Those that make the line long are counted, each once; the first one stands there, however long.
 */
static void test_print_start_many(void **state)
{
	char *patterns[] = {"main.theFirstOfThem",
			    "a.b",
			    "a.b",
			    "main.oneThatMakesTheLineFarLongerThanAnyScreenIsWide",
			    "c.d",
			    "a.b",
			    "c.d"};
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	session_print_start(out, 5, patterns, 7);
	session_print_start(out, 1, patterns + 3, 1);
	patterns[0] = "main.exactlySeventyTwoBytesWithWhatComesBehindIt...................";
	session_print_start(out, 2, patterns, 3);
	fclose(out);
	assert_string_equal(
		text,
		"Tracing 5 functions for \"main.theFirstOfThem a.b\" and 2 more patterns... Hit "
		"Ctrl-C to end.\n"
		"Tracing 1 functions for "
		"\"main.oneThatMakesTheLineFarLongerThanAnyScreenIsWide\"... "
		"Hit Ctrl-C to end.\n"
		"Tracing 2 functions for "
		"\"main.exactlySeventyTwoBytesWithWhatComesBehindIt................... a.b\"... "
		"Hit "
		"Ctrl-C to end.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_intervals_within_duration),
		cmocka_unit_test(test_ticks_missed),
		cmocka_unit_test(test_signals_end_it),
		cmocka_unit_test(test_twin_signal_is_one),
		cmocka_unit_test(test_second_signal_ends_the_tool),
		cmocka_unit_test(test_process_ends),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_output_gone),
		cmocka_unit_test(test_privileges),
		cmocka_unit_test(test_print_start),
		cmocka_unit_test(test_print_start_many),
	};

	alarm(60); /* rather than hang */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
