// SPDX-License-Identifier: Apache-2.0
#include "files/cgroup_folders_internal.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

enum { LINE_SIZE = 1 << 13 };

struct mount {       /* of a hierarchy with the controller, or that may have it */
	char *root;  /* the cgroup that is mounted, "/" mostly */
	char *point; /* where */
	bool v2;
};

struct cgroup_folders {
	char *proc, *controller;
	struct mount *mounts;
	size_t mount_count, mount_cap;
};

struct visit {
	cgroup_folder_fn *fn;
	void *ctx;
};

/* --- files in cgroups --- */

void cgroup_read(const char *folder, const char *name, char *text, size_t size)
{
	char *path = mem_printf("%s/%s", folder, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	size_t len = 0;
	ssize_t n = 0;

	free(path);
	while (fd >= 0 && len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	if (fd >= 0)
		close(fd);
}

uint64_t cgroup_limit(const char *folder, const char *name)
{
	char text[32];

	cgroup_read(folder, name, text, sizeof(text));
	return isdigit((unsigned char)text[0]) ? strtoull(text, NULL, 10) : UINT64_MAX;
}

uint64_t cgroup_value(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, word, len) && isspace((unsigned char)line[len]))
			return strtoull(line + len, NULL, 10);
	}
	return 0;
}

/* --- mounts --- */

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* mountinfo has spaces and the like as \040. */
static char *unescape(const char *text)
{
	char *copy = mem_strdup(text), *to = copy;

	for (const char *from = copy; *from; to++) {
		if (*from == '\\' && is_octal(from[1]) && is_octal(from[2]) && is_octal(from[3])) {
			*to = (from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0');
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return copy;
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, len) && (!at[len] || strchr(",\n", at[len])))
			return true;
	}
	return false;
}

/* "36 35 98:0 ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE OPTIONS" */
static void add_mount(struct cgroup_folders *folders, const char *line)
{
	char root[LINE_SIZE], point[LINE_SIZE], type[16], options[LINE_SIZE];
	const char *rest = strstr(line, " - ");

	if (!rest || sscanf(line, "%*s %*s %*s %8191s %8191s", root, point) != 2 ||
	    sscanf(rest, " - %15s %*s %8191s", type, options) != 2)
		return;
	bool v2 = !strcmp(type, "cgroup2");

	if (!v2 && (strcmp(type, "cgroup") || !has_word(options, folders->controller)))
		return;
	folders->mounts = mem_grow(folders->mounts, folders->mount_count, &folders->mount_cap,
				   sizeof(*folders->mounts));
	folders->mounts[folders->mount_count++] =
		(struct mount){unescape(root), unescape(point), v2};
}

struct cgroup_folders *cgroup_folders_new(const char *proc, const char *controller)
{
	struct cgroup_folders *folders = mem_zalloc(1, sizeof(*folders));
	char *path = mem_printf("%s/self/mountinfo", proc), line[LINE_SIZE];
	FILE *in = fopen(path, "re");

	free(path);
	folders->proc = mem_strdup(proc);
	folders->controller = mem_strdup(controller);
	while (in && fgets(line, sizeof(line), in))
		add_mount(folders, line);
	if (in)
		fclose(in);
	return folders;
}

void cgroup_folders_free(struct cgroup_folders *folders)
{
	if (!folders)
		return;
	for (size_t i = 0; i < folders->mount_count; i++) {
		free(folders->mounts[i].root);
		free(folders->mounts[i].point);
	}
	free(folders->mounts);
	free(folders->controller);
	free(folders->proc);
	free(folders);
}

/* --- a process's --- */

/* The part of a cgroup's path below `root`, the cgroup that is mounted; NULL: it is not below. */
static const char *below(const char *path, const char *root)
{
	size_t len = strcmp(root, "/") ? strlen(root) : 0;

	if (strncmp(path, root, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path + len;
}

/* The cgroup and all above it, up to the one that is mounted. The path of a cgroup outside of the
 * tool's cgroup namespace has "..". */
static void visit_up(const struct mount *mount, const char *path, const struct visit *visit)
{
	const char *rest = below(path, mount->root);

	if (!rest || strstr(path, "/.."))
		return;
	char *dir = mem_printf("%s%s", mount->point, rest);
	size_t top = strlen(mount->point), len = strlen(dir);

	while (len > top && dir[len - 1] == '/')
		dir[--len] = '\0';
	for (bool own = true;; own = false) {
		visit->fn(visit->ctx, &(struct cgroup_folder){dir, mount->v2, own});
		if (len <= top)
			break;
		while (len > top && dir[--len] != '/')
			continue;
		dir[len] = '\0';
	}
	free(dir);
}

/* "4:memory,hugetlb:/path"; of version 2 "0::/path" */
static void visit_line(const struct cgroup_folders *folders, char *line, const struct visit *visit)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	bool v2 = !controllers[1];

	if (!v2 && !has_word(controllers + 1, folders->controller))
		return;
	for (size_t i = 0; i < folders->mount_count; i++)
		if (folders->mounts[i].v2 == v2) {
			visit_up(&folders->mounts[i], path, visit);
			break;
		}
}

void cgroup_folders_each(const struct cgroup_folders *folders, pid_t pid, cgroup_folder_fn *fn,
			 void *ctx)
{
	char *path = mem_printf("%s/%d/cgroup", folders->proc, pid), line[LINE_SIZE];
	FILE *in = fopen(path, "re");

	free(path);
	while (in && fgets(line, sizeof(line), in))
		visit_line(folders, line, &(struct visit){fn, ctx});
	if (in)
		fclose(in);
}
