// SPDX-License-Identifier: Apache-2.0
#include "base/budget_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/signals_internal.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
	TICK_NS = 20 * 1000 * 1000, /* of CPU time */
	LEAST_SECONDS = 8,          /* so that a slow machine can still read a small program */
	BYTES_A_SECOND = 500 * 1000,
	/* bytes of memory that no file backs; what libraries take between two ticks comes on top */
	LEAST_MEMORY = 384 << 20,
	SHARE = 2, /* bytes of memory for each byte of a large file */
	/* the seconds are meant for a machine that hashes HASHED bytes in HASHED_NS */
	HASHED = 1 << 20,
	HASHED_NS = 3 * 1000 * 1000,
	SLOWEST = 64, /* times slower than that, at most: as under an emulator on a busy machine */
};

/* Global, as a signal handler needs it. */
static struct watch {
	timer_t timer;
	bool begun;
	int64_t wished_ns;            /* in place of what the files may take; 0: none */
	uint64_t bytes;               /* of all files */
	uint64_t more_ns, more_bytes; /* what the task may take on top */
	int64_t used_ns, since_ns;
	int64_t slower;     /* a factor, for which the limits are raised; 0: not measured yet */
	char *slow, *large; /* the messages */
} watch;

static int64_t cpu_ns(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Bytes; 0: not known. Nothing here may allocate. */
static uint64_t memory_used(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	uint64_t fields[3] = {0};
	char text[128];
	ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof(text));
	unsigned n = 0;

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < len && n < 3; i++)
		if (text[i] >= '0' && text[i] <= '9')
			fields[n] = fields[n] * 10 + (text[i] - '0');
		else
			n++;
	/* resident pages, less those that files back */
	return (fields[1] - fields[2]) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A sanitizer takes time and memory of its own. */
static bool is_watched(void)
{
#ifdef __SANITIZE_ADDRESS__
	return false;
#else
	return true;
#endif
}

/* An emulator, or a virtual machine whose processors others use, is many times slower, and must be
 * able to read an honest program all the same. */
static int64_t times_slower(void)
{
	static volatile uint8_t bytes[4096];
	uint32_t hash = 0;
	int64_t begun = cpu_ns();

	for (uint32_t i = 0; i < HASHED; i++)
		hash = (hash ^ bytes[(hash ^ i) % sizeof(bytes)]) * 16777619;
	bytes[0] = (uint8_t)hash;
	int64_t times = (cpu_ns() - begun) / HASHED_NS;

	return times < 2 ? 1 : times > SLOWEST ? SLOWEST : times;
}

static bool takes_too_long(void)
{
	uint64_t seconds = watch.bytes / BYTES_A_SECOND;
	int64_t used = watch.used_ns + cpu_ns() - watch.since_ns;

	if (seconds < LEAST_SECONDS)
		seconds = LEAST_SECONDS;
	int64_t most = watch.wished_ns ? watch.wished_ns : (int64_t)seconds * 1000000000;

	most += (int64_t)watch.more_ns;

	if (used <= most)
		return false;
	if (!watch.slower)
		watch.slower = times_slower();
	return used > most * watch.slower;
}

static bool takes_too_much(void)
{
	uint64_t limit = watch.bytes * SHARE;

	return memory_used() > (limit < LEAST_MEMORY ? LEAST_MEMORY : limit) + watch.more_bytes;
}

static void on_tick(int number)
{
	int saved = errno;

	(void)number;
	if (takes_too_long())
		signals_give_up(watch.slow);
	if (takes_too_much())
		signals_give_up(watch.large);
	errno = saved;
}

static char *file_text(const char *path, const char *what)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return mem_strdup("");
	fprintf(out, "%s: \"", program_invocation_short_name);
	escape_print(out, path);
	fprintf(out, "\": gave up: reading it takes more %s than a file of its size should\n",
		what);
	fclose(out);
	return text;
}

static char *task_text(const char *whose, const char *task, const char *what)
{
	return mem_printf("%s: %s: gave up: %s takes more %s than so many should\n",
			  program_invocation_short_name, whose, task, what);
}

/* A tick may come at any time. */
static void set_texts(char *slow, char *large)
{
	char *slow_before = watch.slow, *large_before = watch.large;

	watch.slow = slow;
	watch.large = large;
	atomic_signal_fence(memory_order_seq_cst);
	free(slow_before);
	free(large_before);
}

/* So that a test need not take so long. */
static int64_t wished_ns(void)
{
	const char *wish = getenv("GOTOOLS_SECONDS");

	return wish ? (int64_t)(strtod(wish, NULL) * 1e9) : 0;
}

static bool start(void)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
	sigset_t set;

	watch.wished_ns = wished_ns();
	event.sigev_notify_thread_id = syscall(SYS_gettid);
	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	return sigaction(SIGPROF, &action, NULL) == 0 &&
	       pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0 &&
	       timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &watch.timer) == 0;
}

static void set_tick(long ns)
{
	struct itimerspec spec = {.it_interval.tv_nsec = ns, .it_value.tv_nsec = ns};

	timer_settime(watch.timer, 0, &spec, NULL);
}

static void resume(void)
{
	if (!watch.begun)
		watch.begun = is_watched() && start();
	budget_watch_resume();
}

void budget_watch_begin(const char *path, uint64_t file_bytes)
{
	budget_watch_pause();
	set_texts(file_text(path, "time"), file_text(path, "memory"));
	budget_watch_add(file_bytes);
	resume();
}

void budget_watch_task(const char *whose, const char *task)
{
	set_texts(task_text(whose, task, "time"), task_text(whose, task, "memory"));
	watch.used_ns = 0;
	watch.more_ns = watch.more_bytes = 0;
	if (watch.since_ns)
		watch.since_ns = cpu_ns();
	else
		resume();
}

void budget_watch_allow(uint64_t ns, uint64_t bytes)
{
	watch.more_ns += ns;
	watch.more_bytes += bytes;
}

void budget_watch_add(uint64_t file_bytes)
{
	watch.bytes += file_bytes < BUDGET_MOST ? file_bytes : BUDGET_MOST;
}

void budget_watch_pause(void)
{
	if (!watch.begun || !watch.since_ns)
		return;
	set_tick(0);
	watch.used_ns += cpu_ns() - watch.since_ns;
	watch.since_ns = 0;
}

void budget_watch_resume(void)
{
	if (!watch.begun || watch.since_ns)
		return;
	watch.since_ns = cpu_ns();
	set_tick(TICK_NS);
}
