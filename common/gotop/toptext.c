// SPDX-License-Identifier: Apache-2.0
#include "gotop/toptext.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/signals.h"

extern char **environ;

enum { ARGS_MAX = 8, TEXT_MAX = 4 << 20, CHUNK = 1 << 16, TICK_MS = 100 };
#define WAIT_NS UINT64_C(20000000000)

/* Beside this one, and called with the same suffix: gostacks, gostacks-bpfcc. */
static char *path_of(const char *tool)
{
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (n < 0)
		return mem_strdup(tool);
	own[n] = '\0';
	char *slash = strrchr(own, '/');
	const char *name = slash ? slash + 1 : own;
	const char *suffix = strchr(name, '-');

	return mem_printf("%.*s%s%s", (int)(name - own), own, tool, suffix ? suffix : "");
}

static int start(const char *path, const char *tool, const char *const args[], int out, pid_t *pid)
{
	const char *argv[ARGS_MAX + 2] = {tool};
	posix_spawn_file_actions_t files;

	for (size_t i = 0; i < ARGS_MAX && args[i]; i++)
		argv[i + 1] = args[i];
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", 0, 0);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
	int error = posix_spawn(pid, path, &files, NULL, (char *const *)argv, environ);

	posix_spawn_file_actions_destroy(&files);
	return error;
}

struct reading {
	char *text;
	size_t len, cap;
	uint64_t until_ns;
	const char *cut; /* why the rest is not there; NULL: it is whole */
};

/* False: there is no more, or it is enough. */
static bool read_on(struct reading *in, int fd)
{
	struct pollfd ready = {fd, POLLIN, 0};

	if (clock_ns() > in->until_ns)
		in->cut = "it took longer than 20 seconds";
	else if (in->len > TEXT_MAX)
		in->cut = "it printed more than 4 MiB";
	if (in->cut || signals_came())
		return false;
	if (poll(&ready, 1, TICK_MS) <= 0)
		return true;
	if (in->cap - in->len < CHUNK) {
		char *more = mem_alloc(2 * in->cap + CHUNK + 1);

		if (in->len)
			memcpy(more, in->text, in->len);
		free(in->text);
		in->text = more;
		in->cap = 2 * in->cap + CHUNK;
	}
	ssize_t n = read(fd, in->text + in->len, in->cap - in->len);

	if (n > 0)
		in->len += n;
	return n > 0 || (n < 0 && errno == EINTR);
}

static void add_line(struct toptext *out, size_t *cap, const char *line)
{
	out->lines = mem_grow(out->lines, out->count, cap, sizeof(*out->lines));
	out->lines[out->count++] = line;
}

static void take_lines(struct reading *in, struct toptext *out)
{
	size_t cap = 0;

	out->text = in->text ? in->text : mem_zalloc(1, 1);
	out->text[in->len] = '\0';
	for (char *at = out->text; *at;) {
		char *end = strchrnul(at, '\n');
		bool last = !*end;

		add_line(out, &cap, at);
		*end = '\0';
		at = last ? end : end + 1;
	}
	if (in->cut) {
		add_line(out, &cap, "the rest was cut off:");
		add_line(out, &cap, in->cut);
	}
}

static void say(struct toptext *out, char *text)
{
	*out = (struct toptext){.text = text, .count = 1};
	out->lines = mem_zalloc(1, sizeof(*out->lines));
	out->lines[0] = text;
}

void toptext_run(const char *tool, const char *const args[], struct toptext *out)
{
	struct reading in = {.until_ns = clock_ns() + WAIT_NS};
	int ends[2] = {-1, -1}, error = pipe2(ends, O_CLOEXEC) ? errno : 0;
	char *path = path_of(tool);
	pid_t pid = 0;

	*out = (struct toptext){0};
	if (!error)
		error = start(path, tool, args, ends[1], &pid);
	if (ends[1] >= 0)
		close(ends[1]);
	if (!error) {
		while (read_on(&in, ends[0]))
			;
		kill(pid, SIGKILL); /* it has ended, unless it took too long or said too much */
		waitpid(pid, NULL, 0);
	}
	if (ends[0] >= 0)
		close(ends[0]);
	if (error)
		say(out, mem_printf("cannot run %s: %s", path, strerror(error)));
	else if (!in.len)
		say(out, mem_printf("%s has printed nothing%s%s", tool, in.cut ? ": " : "",
				    in.cut ? in.cut : ""));
	else
		take_lines(&in, out);
	if (error || !in.len)
		free(in.text);
	free(path);
}

void toptext_free(struct toptext *text)
{
	free(text->text);
	free(text->lines);
	*text = (struct toptext){0};
}
