// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"
#include "unit.h"

enum { COLUMNS = 60 };

/* stderr is a terminal, of which this is the other end; `saved` is what it was */
static struct {
	int ours, saved;
	char text[4096];
	size_t len;
} screen;

static void screen_open(void)
{
	struct winsize size = {.ws_row = 24, .ws_col = COLUMNS};
	int theirs;

	assert_int_equal(openpty(&screen.ours, &theirs, NULL, NULL, &size), 0);
	assert_true(fcntl(screen.ours, F_SETFL, O_NONBLOCK) == 0);
	screen.saved = dup(STDERR_FILENO);
	dup2(theirs, STDERR_FILENO);
	close(theirs);
	screen.len = 0;
}

static const char *screen_text(void)
{
	ssize_t n =
		read(screen.ours, screen.text + screen.len, sizeof(screen.text) - 1 - screen.len);

	screen.len += n > 0 ? n : 0;
	screen.text[screen.len] = '\0';
	return screen.text;
}

static void screen_close(void)
{
	dup2(screen.saved, STDERR_FILENO);
	close(screen.saved);
	close(screen.ours);
}

static void sleep_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&time, NULL);
}

/* What stands in the terminal's line once all has been written there */
static const char *line_of(const char *written)
{
	static char line[COLUMNS + 1];
	size_t at = 0;

	memset(line, ' ', COLUMNS);
	for (; *written; written++) {
		if (*written == '\r') {
			at = 0;
			continue;
		}
		assert_true(at < COLUMNS - 1); /* it would be broken */
		line[at++] = *written;
	}
	for (at = COLUMNS; at && line[at - 1] == ' ';)
		at--;
	line[at] = '\0';
	return line;
}

/* All of it but the seconds, which are a busy machine's, as soon as it is there. */
static void expect_line(const char *expected)
{
	const char *line = "";

	for (int i = 0; i < 500; i++) {
		line = line_of(screen_text());
		if (!strncmp(line, expected, strlen(expected)) && (*expected || !*line))
			return;
		sleep_ms(20);
	}
	assert_string_equal(line, expected);
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void test_line(void **state)
{
	long start = now_ms();

	(void)state;
	screen_open();
	progress_begin("gotrace");
	progress_functions(1234);
	progress_stage(PROGRESS_SIGNATURES);
	progress_signatures(77);
	sleep_ms(700);
	const char *text = screen_text();

	assert_true(!*text || now_ms() - start >= 1000);
	expect_line("gotrace: 1234 functions: signatures of 77 are read (");
	progress_pause();
	expect_line("");
	sleep_ms(400);
	assert_string_equal(line_of(screen_text()), "");
	progress_stage(PROGRESS_READING);
	progress_resume();
	expect_line("gotrace: reading the program (");
	/* longer than the terminal is wide */
	progress_functions(123456789012);
	progress_stage(PROGRESS_COMPILING);
	expect_line("gotrace: 123456789012 functions: compiling for 77 signature");
	progress_end();
	assert_string_equal(line_of(screen_text()), "");
	progress_end();
	screen_close();
}

static void test_quick(void **state)
{
	(void)state;
	screen_open();
	progress_begin("gotrace");
	progress_pause();
	progress_resume();
	progress_end();
	assert_string_equal(screen_text(), "");
	screen_close();
}

/* a file, a pipe: whoever reads it would not see a line go */
static void test_no_terminal(void **state)
{
	int pipes[2], saved = dup(STDERR_FILENO);
	char byte;

	(void)state;
	assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
	dup2(pipes[1], STDERR_FILENO);
	progress_begin("gotrace");
	sleep_ms(1300);
	progress_end();
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_int_equal(read(pipes[0], &byte, 1), -1);
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_line),
					   cmocka_unit_test(test_quick),
					   cmocka_unit_test(test_no_terminal)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
