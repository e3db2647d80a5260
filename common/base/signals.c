// SPDX-License-Identifier: Apache-2.0
#include "base/signals_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"

/* A signal that comes this soon after the first, or after the end, is not taken for a second one:
 * timeout(1) sends each signal twice, and Ctrl-C also reaches the traced command, whose end may be
 * seen first. */
enum { GRACE_MS = 100 };

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

/* Global: a signal handler is passed nothing but the signal's number. */
static struct {
	const char *tool;
	pid_t pid;    /* 0: none are taken yet */
	int event_fd; /* readable: one has come */
	struct sigaction before[NUMBERS];
	volatile sig_atomic_t hold;
	void (*_Atomic clean_up)(void);
	void (*_Atomic before_words)(void);
	_Atomic uint64_t first_ns; /* when the first signal came, or the end; 0: neither has */
} taken;

static void say(const char *text)
{
	void (*before)(void) = taken.before_words;

	if (before)
		before();
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* nobody to tell */
}

static _Noreturn void leave(int status)
{
	void (*clean_up)(void) = atomic_exchange(&taken.clean_up, NULL);

	if (clean_up)
		clean_up();
	_exit(status);
}

void signals_give_up(const char *text)
{
	say(text);
	leave(1);
}

static void on_signal(int number)
{
	int saved = errno;
	uint64_t first = taken.first_ns, now = clock_ns(), one = 1;

	if (getpid() != taken.pid) /* a child that has yet to call exec */
		_exit(128 + number);
	if (!taken.hold) {
		say(taken.tool);
		say(": ended by a signal before tracing had begun\n");
		leave(0);
	}
	if (!first) {
		taken.first_ns = now;
		if (write(taken.event_fd, &one, sizeof(one)) < 0)
			leave(128 + number);
	} else if (now - first > GRACE_MS * 1000000ull) {
		leave(128 + number);
	}
	errno = saved;
}

static sigset_t all_numbers(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < NUMBERS; i++)
		sigaddset(&set, numbers[i]);
	return set;
}

static void set_actions(void (*handler)(int))
{
	/* what is being written is not cut short */
	struct sigaction act = {.sa_handler = handler, .sa_flags = SA_RESTART};
	sigset_t set = all_numbers();

	for (size_t i = 0; i < NUMBERS; i++) {
		sigaction(numbers[i], NULL, &taken.before[i]);
		if (numbers[i] != SIGHUP || taken.before[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &act, NULL);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void signals_take(const char *tool)
{
	if (taken.pid == getpid())
		return;
	taken.tool = tool;
	taken.event_fd = -1;
	taken.hold = 0;
	taken.first_ns = 0;
	taken.pid = getpid();
	set_actions(on_signal);
}

int signals_hold(void)
{
	if (taken.pid != getpid())
		signals_take("gotools");
	if (taken.hold)
		close(taken.event_fd);
	taken.first_ns = 0;
	taken.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	taken.hold = taken.event_fd >= 0;
	return taken.event_fd;
}

bool signals_came(void)
{
	return taken.first_ns;
}

void signals_at_end(void (*clean_up)(void))
{
	taken.clean_up = clean_up;
}

void signals_before_words(void (*fn)(void))
{
	taken.before_words = fn;
}

void signals_over(void)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&taken.first_ns, &none, clock_ns());
}

void signals_default(void)
{
	set_actions(SIG_DFL);
}

bool signals_thread(pthread_t *thread, void *(*run)(void *), void *ctx)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = !pthread_create(thread, NULL, run, ctx);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

void signals_before_fork(void)
{
	sigset_t set = all_numbers();

	sigprocmask(SIG_BLOCK, &set, NULL);
}

void signals_after_fork(bool child)
{
	sigset_t set = all_numbers();

	for (size_t i = 0; child && taken.pid && i < NUMBERS; i++)
		sigaction(numbers[i], &taken.before[i], NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
