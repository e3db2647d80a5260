// SPDX-License-Identifier: Apache-2.0
#include "target.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "errmsg.h"
#include "mem.h"

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* "" or "/proc/PID/root", before paths of the process's own view. A process with the tool's root
 * and mounts needs none, and messages then show the path as typed. */
static char *root_prefix(pid_t pid)
{
	char path[64], own[64], theirs[64];
	struct stat a, b;

	if (!pid)
		return mem_strdup("");
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	ssize_t n = readlink(path, theirs, sizeof(theirs));
	ssize_t m = readlink("/proc/self/ns/mnt", own, sizeof(own));

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	if (n > 0 && n == m && !memcmp(own, theirs, n) && !stat(path, &a) && !stat("/", &b) &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return mem_strdup("");
	return mem_strdup(path);
}

static char *find_program(const char *root, const char *name)
{
	const char *dir = getenv("PATH");

	for (; dir && *name; dir = strchr(dir, ':')) {
		dir += *dir == ':';
		int len = strcspn(dir, ":");
		char *path =
			mem_printf("%s%.*s%s%s", len ? root : "", len, dir, len ? "/" : "", name);

		if (is_file(path) && access(path, X_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

/* `pattern` is of glob(3); of several files the last, which has the highest version, is taken. */
static char *find_by_glob(const char *pattern)
{
	glob_t found;
	char *path = NULL;

	if (glob(pattern, 0, NULL, &found) == 0) {
		if (is_file(found.gl_pathv[found.gl_pathc - 1]))
			path = mem_strdup(found.gl_pathv[found.gl_pathc - 1]);
		globfree(&found);
	}
	return path;
}

static const char *const library_dirs[] = {
	"/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64", "/lib",
	"/usr/lib",         "/usr/local/lib",
};

enum { LIBRARY_DIRS = sizeof(library_dirs) / sizeof(library_dirs[0]) };

static char *find_library(const char *root, const char *name)
{
	static const char *const suffixes[] = {"", ".[0-9]*"};
	char *path = NULL;

	if (!*name || strpbrk(name, "*?[\\"))
		return NULL;
	for (size_t i = 0; !path && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		for (size_t j = 0; !path && j < LIBRARY_DIRS; j++) {
			char *pattern = mem_printf("%s%s/lib%s.so%s", root, library_dirs[j], name,
						   suffixes[i]);

			path = find_by_glob(pattern);
			free(pattern);
		}
	}
	return path;
}

/* A name without a slash: as bcc does, a library first, then a program; then a file right here. */
static char *find_by_name(const char *root, const char *name)
{
	char *path = find_library(root, name);

	if (!path)
		path = find_program(root, name);
	if (!path && is_file(name))
		path = mem_printf("./%s", name);
	return path;
}

static bool ends_here(const char *arg, const char *colon)
{
	char *path = mem_strndup(arg, colon - arg);
	struct stat st;
	bool found = stat(path, &st) == 0;

	free(path);
	return found;
}

/* The colon after BINARY. A path may hold colons itself: the first one wins that ends the name of
 * something which is there. */
static const char *find_colon(const char *arg)
{
	const char *first = strchr(arg, ':');

	if (!first || !memchr(arg, '/', first - arg))
		return first;
	for (const char *colon = first; colon; colon = strchr(colon + 1, ':'))
		if (ends_here(arg, colon))
			return colon;
	return first;
}

static bool names_binary(const char *arg, const char *colon)
{
	char *name, *path;

	if (colon == arg || memchr(arg, '/', colon - arg))
		return true;
	name = mem_strndup(arg, colon - arg);
	path = find_by_name("", name);
	free(name);
	free(path);
	return path != NULL;
}

static int no_binary(const char *arg, struct errmsg *err)
{
	errmsg_set(err, "no BINARY in \"%s\"", arg);
	if (is_file(arg))
		errmsg_hint(err, "all of its functions are '%s:*'", arg);
	else
		errmsg_hint(err, "give BINARY:PATTERN, or a process with -p PID or -- COMMAND");
	return -1;
}

static const char *skip_probe_type(const char *arg, bool has_process)
{
	/* without another colon, "p" can only be a binary, unless a process stands in for it */
	if (strncmp(arg, "p:", 2) || (!has_process && !strchr(arg + 2, ':')))
		return arg;
	return arg + 2;
}

int target_spec_parse(const char *arg, bool has_process, struct target_spec *out,
		      struct errmsg *err)
{
	const char *rest = skip_probe_type(arg, has_process);
	const char *colon = find_colon(rest);

	*out = (struct target_spec){0};
	if (has_process && colon && !names_binary(rest, colon))
		colon = NULL;
	if (!has_process && (!colon || colon == rest))
		return no_binary(arg, err);
	const char *pattern = colon ? colon + 1 : rest;

	if (!*pattern) {
		errmsg_set(err, "no PATTERN in \"%s\"", arg);
		errmsg_hint(err, "all functions are '%s*'", arg);
		return -1;
	}
	if (colon && colon > rest)
		out->binary = mem_strndup(rest, colon - rest);
	out->pattern = mem_strdup(pattern);
	return 0;
}

void target_spec_free(struct target_spec *spec)
{
	free(spec->binary);
	free(spec->pattern);
	*spec = (struct target_spec){0};
}

static char *resolve_exe(pid_t pid, struct errmsg *err)
{
	char *path = mem_printf("/proc/%d/exe", pid);
	struct stat st;

	if (stat(path, &st) == 0)
		return path;
	if (errno == ENOENT)
		errmsg_set(err, "PID %d has no executable: it has ended, or is the kernel's own",
			   pid);
	else
		errmsg_set(err, "cannot read %s: %s", path, strerror(errno));
	free(path);
	return NULL;
}

/* Does the process run a file that has been replaced (upgraded) at this very path since? */
static bool runs_deleted(pid_t pid, const char *path)
{
	char link[64], exe[PATH_MAX + 1];
	size_t len = strlen(path);

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	ssize_t n = readlink(link, exe, sizeof(exe) - 1);

	if (n < 0)
		return false;
	exe[n] = '\0';
	return !strncmp(exe, path, len) && !strcmp(exe + len, " (deleted)");
}

static char *resolve_path(const char *binary, pid_t pid, const char *root, struct errmsg *err)
{
	struct stat st;
	char *path;

	if (pid && runs_deleted(pid, binary))
		return resolve_exe(pid, err);
	path = mem_printf("%s%s", binary[0] == '/' ? root : "", binary);
	if (stat(path, &st) && *root) { /* a file of the tool's own view, then */
		free(path);
		path = mem_strdup(binary);
	}
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		return path;
	if (access(path, F_OK) == 0)
		errmsg_set(err, "\"%s\" is not a file", binary);
	else
		errmsg_set(err, "\"%s\": %s", binary, strerror(errno));
	free(path);
	return NULL;
}

char *target_resolve(const char *binary, pid_t pid, struct errmsg *err)
{
	char *root, *path;

	if (!binary)
		return resolve_exe(pid, err);
	root = root_prefix(pid);
	if (strchr(binary, '/')) {
		path = resolve_path(binary, pid, root, err);
	} else {
		path = find_by_name(root, binary);
		if (!path)
			errmsg_set(err, "\"%s\" is no program in PATH and no library", binary);
	}
	free(root);
	return path;
}

/* the file of this name that the process has mapped, in its root */
static char *find_mapped(pid_t pid, const char *root, const char *soname)
{
	char *maps = mem_printf("/proc/%d/maps", pid), *line = NULL, *path = NULL;
	FILE *in = fopen(maps, "re");
	size_t size = 0;

	free(maps);
	while (in && !path && getline(&line, &size, in) > 0) {
		char *file = strchr(line, '/'), *base = strrchr(line, '/');

		/* soname, or what it links to: libgo.so.21.0.0 */
		if (!file || strncmp(base + 1, soname, strlen(soname)) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		path = mem_printf("%s%s", root, file);
	}
	free(line);
	if (in)
		fclose(in);
	return path;
}

char *target_library(const char *soname, pid_t pid)
{
	char *root = root_prefix(pid), *path = pid ? find_mapped(pid, root, soname) : NULL;

	/* a file's text is not for glob() to act on */
	for (size_t i = 0; !path && !strpbrk(soname, "/*?[\\") && i < LIBRARY_DIRS; i++) {
		char *pattern = mem_printf("%s%s/%s", root, library_dirs[i], soname);

		path = find_by_glob(pattern);
		free(pattern);
	}
	free(root);
	return path;
}

/* By the inode's number alone: overlay file systems show one device here and another there. */
bool target_maps(pid_t pid, const char *path)
{
	char *maps = mem_printf("/proc/%d/maps", pid), *line = NULL;
	FILE *in = fopen(maps, "re");
	unsigned long long ino;
	bool found = !in;
	size_t size = 0;
	struct stat st;

	free(maps);
	if (!in || stat(path, &st)) {
		if (in)
			fclose(in);
		return true;
	}
	while (!found && getline(&line, &size, in) > 0)
		found = sscanf(line, "%*s %*s %*s %*s %llu", &ino) == 1 && ino == st.st_ino;
	free(line);
	fclose(in);
	return found;
}
