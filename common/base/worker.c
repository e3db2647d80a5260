// SPDX-License-Identifier: Apache-2.0
#include "base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/signals.h"

enum {
	TICK_MS = 100,
	STILL_MAX = 50,  /* ticks without any progress, */
	STILL_HASTY = 2, /* ... after a signal */
	CHUNK = 1 << 16,
};

struct worker {
	pid_t pid; /* 0: it has ended, or was given up */
	int sock, out, err;
	bool failed;
	size_t reply_len;
	uint64_t used_ns; /* by it, of a processor */
	unsigned still;   /* ticks since that has changed */
};

static bool read_all(int fd, void *to, size_t len)
{
	char *at = to;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		if (n > 0) {
			at += n;
			len -= n;
		}
	}
	return true;
}

static bool send_all(int fd, const void *from, size_t len)
{
	const char *at = from;

	while (len) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			at += n;
			len -= n;
		}
	}
	return true;
}

/* --- in the worker --- */

static bool serve_one(int sock, const struct worker_task *task)
{
	size_t len;

	if (!read_all(sock, &len, sizeof(len)))
		return false;
	void *request = mem_alloc(len + 1), *reply = mem_zalloc(1, task->reply_len);
	bool good = read_all(sock, request, len);

	if (good) {
		task->serve(task->ctx, request, len, reply);
		fflush(stdout);
		good = send_all(sock, reply, task->reply_len);
	}
	free(request);
	free(reply);
	return good;
}

static _Noreturn void work(const struct worker_task *task, int sock, int out, int err, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* signals stay blocked that were before the fork: they are the tool's */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(1);
	close(null);
	close(out);
	close(err);
	while (serve_one(sock, task))
		;
	if (task->end)
		task->end(task->ctx);
	exit(0);
}

/* --- in the tool --- */

enum { SOCK, OUT, ERR, ENDS };

static void close_all(int fds[ENDS])
{
	for (int i = 0; i < ENDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

/* The tool's ends, and the worker's. */
static bool make_ends(int tools[ENDS], int workers[ENDS])
{
	int pair[2];

	for (int i = 0; i < ENDS; i++)
		tools[i] = workers[i] = -1;
	for (int i = 0; i < ENDS; i++) {
		if (i == SOCK ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)
			      : pipe2(pair, O_CLOEXEC))
			return false;
		tools[i] = pair[0];
		workers[i] = pair[1];
		if (i != SOCK && fcntl(pair[0], F_SETFL, O_NONBLOCK))
			return false;
	}
	return true;
}

static pid_t fork_worker(const struct worker_task *task, int tools[ENDS], int workers[ENDS])
{
	pid_t parent = getpid();

	fflush(stdout);
	signals_before_fork();
	pid_t pid = fork();

	if (!pid) {
		close_all(tools);
		work(task, workers[SOCK], workers[OUT], workers[ERR], parent);
	}
	signals_after_fork(false);
	return pid;
}

struct worker *worker_new(const struct worker_task *task, struct errmsg *err)
{
	int tools[ENDS], workers[ENDS];
	pid_t pid = make_ends(tools, workers) ? fork_worker(task, tools, workers) : -1;
	int error = errno;

	close_all(workers);
	if (pid < 0) {
		close_all(tools);
		errmsg_set(err, "cannot start a process: %s", strerror(error));
		return NULL;
	}
	struct worker *worker = mem_zalloc(1, sizeof(*worker));

	*worker = (struct worker){.pid = pid,
				  .sock = tools[SOCK],
				  .out = tools[OUT],
				  .err = tools[ERR],
				  .reply_len = task->reply_len};
	return worker;
}

/* Has it printed anything? */
static bool pass_on(int *from, FILE *to)
{
	static char bytes[CHUNK];
	ssize_t n = read(*from, bytes, sizeof(bytes));

	if (n > 0)
		fwrite(bytes, 1, n, to);
	if (!n) { /* nothing more will come */
		close(*from);
		*from = -1;
	}
	return n > 0;
}

static char state_of(pid_t pid)
{
	char path[32], state = 0;
	int c = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	FILE *in = fopen(path, "re");

	/* the tool's own name has no parentheses */
	while (in && c != ')' && c != EOF)
		c = fgetc(in);
	if (!in || fscanf(in, " %c", &state) != 1)
		state = 0;
	if (in)
		fclose(in);
	return state;
}

/* Does it wait in the kernel all the time? It is no wait of its own: it has none that is long. */
static bool is_stuck(struct worker *worker)
{
	uint64_t ns = clock_cpu_ns(worker->pid);
	char state = state_of(worker->pid);

	if (ns != worker->used_ns || (state != 'D' && state != 'S')) {
		worker->used_ns = ns;
		worker->still = 0;
		return false;
	}
	return ++worker->still >= (signals_came() ? STILL_HASTY : STILL_MAX);
}

/* Until it has replied, or has ended. False: it is stuck. */
static bool await(struct worker *worker)
{
	worker->still = 0;
	for (;;) {
		struct pollfd fds[ENDS] = {[SOCK] = {worker->sock, POLLIN, 0},
					   [OUT] = {worker->out, POLLIN, 0},
					   [ERR] = {worker->err, POLLIN, 0}};
		int n = poll(fds, ENDS, TICK_MS);
		bool out = n > 0 && fds[OUT].revents && pass_on(&worker->out, stdout);
		bool err = n > 0 && fds[ERR].revents && pass_on(&worker->err, stderr);

		/* what was printed before the reply comes first */
		if (!out && !err && n > 0 && fds[SOCK].revents)
			return true;
		if (n == 0 && is_stuck(worker))
			return false;
	}
}

/* It is not waited for: it may stay until whatever it waits for has come. */
static int give_up(struct worker *worker, struct errmsg *err)
{
	unsigned ms = worker->still * TICK_MS;

	kill(worker->pid, SIGKILL);
	waitpid(worker->pid, NULL, WNOHANG);
	worker->pid = 0;
	worker->failed = true;
	return errmsg_set(err,
			  "gave up: the kernel has been waiting for its memory, or a file, "
			  "for %u.%u s",
			  ms / 1000, ms % 1000 / 100);
}

static int has_ended(struct worker *worker, struct errmsg *err)
{
	int status = 0;

	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	worker->pid = 0;
	worker->failed = status != 0;
	if (WIFSIGNALED(status))
		return errmsg_set(err, "what reads it was ended: %s", strsignal(WTERMSIG(status)));
	return errmsg_set(err, "what reads it has ended");
}

/* At once: the worker wakes up once. */
static bool send_request(int sock, const void *request, size_t len)
{
	char *all = mem_alloc(sizeof(len) + len);

	memcpy(all, &len, sizeof(len));
	memcpy(all + sizeof(len), request, len);
	bool sent = send_all(sock, all, sizeof(len) + len);

	free(all);
	return sent;
}

int worker_ask(struct worker *worker, const void *request, size_t len, void *reply,
	       struct errmsg *err)
{
	if (!worker->pid)
		return errmsg_set(err, "what reads it has ended");
	fflush(stdout);
	bool sent = send_request(worker->sock, request, len);

	if (!await(worker)) {
		fflush(stdout);
		return give_up(worker, err);
	}
	fflush(stdout);
	if (sent && read_all(worker->sock, reply, worker->reply_len))
		return 0;
	return has_ended(worker, err);
}

bool worker_free(struct worker *worker)
{
	if (!worker)
		return true;
	if (worker->pid) {
		/* others that were forked meanwhile have this end as well */
		shutdown(worker->sock, SHUT_WR);
		if (await(worker))
			has_ended(worker, NULL);
		else
			give_up(worker, NULL);
	}
	bool good = !worker->failed;

	close(worker->sock);
	if (worker->out >= 0)
		close(worker->out);
	if (worker->err >= 0)
		close(worker->err);
	free(worker);
	return good;
}
