// SPDX-License-Identifier: Apache-2.0
#include "selection/target_find_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/fileroot.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_list.h"
#include "selection/target.h"

static const char *const library_dirs[] = {
	"/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64", "/lib",
	"/usr/lib",         "/usr/local/lib",
};

enum { LIBRARY_DIRS = sizeof(library_dirs) / sizeof(library_dirs[0]) };

static struct fileroot *root_of(const struct process *proc)
{
	return proc ? fileroot_share(process_root(proc)) : fileroot_own();
}

/* --- by name --- */

static struct heldfile *open_program(struct fileroot *root, const char *path)
{
	struct heldfile *file = heldfile_open(root, path, NULL);

	if (file && heldfile_then(file)->st_mode & 0111)
		return file;
	heldfile_close(file);
	return NULL;
}

static struct heldfile *find_program(struct fileroot *root, const char *name)
{
	const char *dir = getenv("PATH");
	struct heldfile *file = NULL;

	for (; !file && dir && *dir; dir = strchr(dir, ':')) {
		dir += *dir == ':';
		int len = strcspn(dir, ":");
		char *path = mem_printf("%.*s%s%s", len, dir, len ? "/" : "", name);

		/* a relative folder in PATH is relative to the tool's own working directory */
		file = open_program(*path == '/' ? root : NULL, path);
		free(path);
	}
	return file;
}

/* Of several files that match, takes the last, which has the highest version. */
static struct heldfile *find_in(struct fileroot *root, const char *folder, const char *pattern)
{
	bool is_name = !strpbrk(pattern, "*[");
	char *name = is_name ? NULL : fileroot_last_match(root, folder, pattern, NULL);
	char *path = mem_printf("%s/%s", folder, is_name ? pattern : name ? name : "");
	struct heldfile *file = is_name || name ? heldfile_open(root, path, NULL) : NULL;

	free(path);
	free(name);
	return file;
}

/* `dir` may have a pattern as its last part. */
static struct heldfile *find_below(struct fileroot *root, const char *dir, const char *pattern)
{
	const char *slash = strrchr(dir, '/');
	char *parent = mem_strndup(dir, slash - dir), *last = NULL, *next;
	struct heldfile *file = NULL;

	if (!strchr(slash, '*')) {
		file = find_in(root, dir, pattern);
		goto out;
	}
	while (!file && (next = fileroot_last_match(root, parent, slash + 1, last))) {
		char *folder = mem_printf("%s/%s", parent, next);

		file = find_in(root, folder, pattern);
		free(folder);
		free(last);
		last = next;
	}
	free(last);
out:
	free(parent);
	return file;
}

static struct heldfile *find_library(struct fileroot *root, const char *name)
{
	static const char *const suffixes[] = {"", ".[0-9]*"};
	struct heldfile *file = NULL;

	if (!*name || strpbrk(name, "*?[\\"))
		return NULL;
	for (size_t i = 0; !file && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char *pattern = mem_printf("lib%s.so%s", name, suffixes[i]);

		for (size_t j = 0; !file && j < LIBRARY_DIRS; j++)
			file = find_below(root, library_dirs[j], pattern);
		free(pattern);
	}
	return file;
}

struct heldfile *target_find_name(const char *name, const struct process *proc)
{
	struct fileroot *root = root_of(proc);
	struct heldfile *file = find_library(root, name);

	if (!file)
		file = find_program(root, name);
	if (!file && *name) {
		char *path = mem_printf("./%s", name);

		file = heldfile_open(NULL, path, NULL);
		free(path);
	}
	fileroot_close(root);
	return file;
}

struct heldfile *target_library(const char *soname, const struct process *proc)
{
	struct fileroot *root = root_of(proc);
	/* the process may have mapped what the soname links to: libgo.so.21.0.0 */
	char *path = proc ? process_mapped(proc, soname) : NULL;
	struct heldfile *file = path ? heldfile_open(root, path, NULL) : NULL;

	/* the soname comes from a file: it must not act as a pattern */
	for (size_t i = 0; !file && !strpbrk(soname, "/*?[\\") && i < LIBRARY_DIRS; i++)
		file = find_below(root, library_dirs[i], soname);
	free(path);
	fileroot_close(root);
	return file;
}

/* --- by path --- */

/* A path as it was typed, perhaps into another process's view: /proc/123/root/usr/bin/app,
 * /proc/123/exe. Symbolic links and debug information are then looked up in that process's root. */
static struct heldfile *open_typed(const char *path, struct errmsg *err)
{
	int pid = 0, len = 0;
	struct process *proc = NULL;
	struct heldfile *file;

	if (sscanf(path, "/proc/%d/%n", &pid, &len) == 1 && len)
		proc = process_open(pid, NULL);
	/* where the process has the tool's own root, the path is like any other */
	bool theirs = proc && !fileroot_is_own(process_root(proc));

	if (theirs && !strcmp(path + len, "exe"))
		file = process_exe(proc, err);
	else if (theirs && !strncmp(path + len, "root/", 5))
		file = heldfile_open(process_root(proc), path + len + 4, err);
	else
		file = heldfile_open(NULL, path, err);
	process_close(proc);
	return file;
}

static struct heldfile *resolve_path(const char *binary, const struct process *proc,
				     struct errmsg *err)
{
	struct heldfile *file = NULL;

	if (proc && process_runs_deleted(proc, binary))
		return process_exe(proc, err);
	if (proc && binary[0] == '/' && !fileroot_is_own(process_root(proc)))
		file = heldfile_open(process_root(proc), binary, NULL);
	if (!file) /* then a file in the tool's own root */
		file = open_typed(binary, err);
	return file;
}

/* Of bcc's trace and of bpftrace, for what these tools do not trace. */
static bool is_probe_type(const char *word)
{
	static const char *const types[] = {"t",          "u",      "k",      "kr",
					    "tracepoint", "usdt",   "kprobe", "kretprobe",
					    "kfunc",      "fentry", "fexit",  "rawtracepoint"};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(word, types[i]))
			return true;
	return false;
}

static bool has_name(pid_t pid, const char *name)
{
	char *link = mem_printf("/proc/%d/exe", pid), file[PATH_MAX + 1];
	ssize_t len = readlink(link, file, sizeof(file) - 1);
	char *command = process_name_of(pid);

	file[len > 0 ? len : 0] = '\0';
	const char *slash = strrchr(file, '/');
	bool has = (slash && !strcmp(slash + 1, name)) || (command && !strcmp(command, name));

	free(command);
	free(link);
	return has;
}

/* Servers are seldom in PATH: what was typed may be the name of one that runs. */
static void hint_running(const char *binary, struct errmsg *err)
{
	size_t count, found = 0;
	pid_t *pids = process_list(&count), pid = 0;

	for (size_t i = 0; i < count; i++)
		if (has_name(pids[i], binary) && !found++)
			pid = pids[i];
	free(pids);
	if (found == 1)
		errmsg_hint(err, "process %d runs and has this name: -p %d", pid, pid);
	else if (found)
		errmsg_hint(err, "%zu processes run and have this name, such as %d: -p %d", found,
			    pid, pid);
}

struct heldfile *target_resolve(const char *binary, const struct process *proc, struct errmsg *err)
{
	struct heldfile *file;

	if (!binary)
		return process_exe(proc, err);
	if (strchr(binary, '/'))
		return resolve_path(binary, proc, err);
	file = target_find_name(binary, proc);
	if (file)
		return file;
	errmsg_set(err, "\"%s\": no such program in PATH, and no such library", binary);
	hint_running(binary, err);
	if (is_probe_type(binary))
		errmsg_hint(err, "for tracepoints and USDT probes use bcc's own tools");
	if (target_is_number(binary))
		errmsg_hint(err, "for the process with this PID: -p %s", binary);
	return NULL;
}
