// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/signals_internal.h"

enum { SILENT_MS = 1000, TICK_MS = 250, LINE_MAX_COLUMNS = 79 };

/* Global: there is one terminal, and a signal handler erases the line on it. */
static struct {
	const char *tool;
	bool begun, over;
	int paused;
	struct timespec start;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	_Atomic int stage;
	_Atomic size_t functions, signatures;
	_Atomic int shown; /* columns */
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put_raw(const char *text, size_t len)
{
	if (write(STDERR_FILENO, text, len) < 0)
		return; /* nobody to tell */
}

/* A signal handler calls it, too. */
static void erase(void)
{
	static const char blanks[] = "\r                                        "
				     "                                        \r";
	int columns = atomic_exchange(&progress.shown, 0);

	if (!columns)
		return;
	put_raw(blanks, columns + 1);
	put_raw("\r", 1);
}

static int describe(char *text, size_t size)
{
	size_t functions = progress.functions, signatures = progress.signatures;
	int stage = progress.stage;

	switch (stage) {
	case PROGRESS_READING:
		return snprintf(text, size, "reading the program");
	case PROGRESS_SIGNATURES:
		return snprintf(text, size, "%zu functions: signatures of %zu are read", functions,
				signatures);
	case PROGRESS_COMPILING:
		if (signatures)
			return snprintf(text, size, "%zu functions: compiling for %zu signatures",
					functions, signatures);
		return snprintf(text, size, "%zu functions: compiling", functions);
	default:
		return snprintf(text, size, "%zu functions: attaching", functions);
	}
}

/* no line may be longer than the terminal is wide: it could not be erased */
static int columns_free(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col ||
	    size.ws_col > LINE_MAX_COLUMNS)
		return LINE_MAX_COLUMNS;
	return size.ws_col - 1;
}

/* Writes the line at once, and only if it has changed, so that it does not flicker. */
static void show_line(long seconds)
{
	static char before[160];
	char what[80], text[160], line[2 * sizeof(text)];
	int most = columns_free(), shown = progress.shown, len;

	describe(what, sizeof(what));
	len = snprintf(text, sizeof(text), "%s: %s (%ld s)", progress.tool, what, seconds);
	if (len > most)
		text[len = most] = '\0';
	if (shown && !strcmp(text, before))
		return;
	strcpy(before, text);
	progress.shown = len > shown ? len : shown;
	put_raw(line, snprintf(line, sizeof(line), "\r%-*s", shown, text));
}

static long elapsed_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - progress.start.tv_sec) * 1000 +
	       (now.tv_nsec - progress.start.tv_nsec) / 1000000;
}

static struct timespec due(long ms)
{
	struct timespec at = progress.start;

	at.tv_sec += ms / 1000;
	at.tv_nsec += ms % 1000 * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	return at;
}

static void *run(void *ctx)
{
	long next = SILENT_MS;

	pthread_mutex_lock(&progress.lock);
	while (!progress.over) {
		struct timespec at = due(next);

		if (pthread_cond_timedwait(&progress.changed, &progress.lock, &at) != ETIMEDOUT)
			continue;
		next = elapsed_ms() + TICK_MS;
		if (!progress.paused && !progress.over)
			show_line(elapsed_ms() / 1000);
	}
	pthread_mutex_unlock(&progress.lock);
	return ctx;
}

void progress_begin(const char *tool)
{
	pthread_condattr_t attr;

	if (progress.begun || !isatty(STDERR_FILENO))
		return;
	progress.tool = tool;
	progress.over = false;
	progress.paused = 0;
	clock_gettime(CLOCK_MONOTONIC, &progress.start);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&progress.changed, &attr);
	pthread_condattr_destroy(&attr);
	signals_before_words(erase);
	progress.begun = signals_thread(&progress.thread, run, NULL);
}

void progress_stage(enum progress_stage stage)
{
	progress.stage = stage;
}

void progress_functions(size_t count)
{
	progress.functions = count;
}

void progress_signatures(size_t count)
{
	progress.signatures = count;
}

void progress_pause(void)
{
	pthread_mutex_lock(&progress.lock);
	progress.paused++;
	erase();
	pthread_mutex_unlock(&progress.lock);
}

void progress_resume(void)
{
	pthread_mutex_lock(&progress.lock);
	progress.paused--;
	pthread_mutex_unlock(&progress.lock);
}

void progress_end(void)
{
	if (!progress.begun)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.over = true;
	pthread_cond_signal(&progress.changed);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	erase();
	pthread_cond_destroy(&progress.changed);
	progress.begun = false;
}
