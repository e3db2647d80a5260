// SPDX-License-Identifier: Apache-2.0
/* Debug information in a file of its own, where gdb and everybody else look for it: by build ID,
 * then by the name in .gnu_debuglink. A process in a container has its own folders. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debuginfo_parts.h"
#include "errmsg.h"
#include "image.h"
#include "mem.h"

static const char DEBUG_DIR[] = "/usr/lib/debug";

struct place {               /* of the program's file */
	char root[64];       /* "" or "/proc/PID/root" */
	char path[PATH_MAX]; /* below root */
};

/* "/proc/PID/root/..." and "/proc/PID/exe" are seen as the process sees them. */
static void find_place(const char *path, struct place *out)
{
	int pid, len = 0;

	out->root[0] = '\0';
	snprintf(out->path, sizeof(out->path), "%s", path);
	if (sscanf(path, "/proc/%d/root%n", &pid, &len) == 1 && len && path[len] == '/') {
		snprintf(out->root, sizeof(out->root), "/proc/%d/root", pid);
		snprintf(out->path, sizeof(out->path), "%s", path + len);
		return;
	}
	if (sscanf(path, "/proc/%d/exe%n", &pid, &len) == 1 && len && !path[len]) {
		ssize_t got = readlink(path, out->path, sizeof(out->path) - 1);

		out->path[got > 0 ? got : 0] = '\0';
		snprintf(out->root, sizeof(out->root), "/proc/%d/root", pid);
		return;
	}

	char *real = realpath(path, NULL);

	if (real)
		snprintf(out->path, sizeof(out->path), "%s", real);
	free(real);
}

struct search {
	struct place place;
	struct dietree *own; /* of the program's file */
	bool locations;
	struct dietree *found;
	char tried[256]; /* the first place, for the message */
};

static bool see_unit(const struct die *unit, void *ctx)
{
	(void)unit;
	*(bool *)ctx = false;
	return false;
}

static bool is_empty(struct dietree *tree)
{
	bool empty = true;

	dietree_each_unit(tree, see_unit, &empty);
	return empty;
}

/* Takes a file that has DWARF, and frees its path. */
static bool try(struct search *s, char *path,
		bool (*is_right)(struct search *, const char *path, const struct dietree *))
{
	struct dietree *tree = NULL;

	if (!*s->tried)
		snprintf(s->tried, sizeof(s->tried), "%s", path);
	if (access(path, R_OK) == 0)
		tree = dietree_open(path, s->locations, NULL);
	if (tree && !is_empty(tree) && is_right(s, path, tree))
		s->found = tree;
	else
		dietree_close(tree);
	free(path);
	return s->found;
}

static bool has_build_id(struct search *s, const char *path, const struct dietree *tree)
{
	size_t len, own_len;
	const uint8_t *id = dietree_build_id(tree, &len);
	const uint8_t *own = dietree_build_id(s->own, &own_len);

	(void)path;
	return id && own && len == own_len && memcmp(id, own, len) == 0;
}

static bool find_by_build_id(struct search *s)
{
	size_t len;
	const uint8_t *id = dietree_build_id(s->own, &len);
	char hex[2 * 64 + 1] = "";

	if (!id || len < 2 || len > 64)
		return false;
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	if (*s->place.root &&
	    try(s,
		mem_printf("%s%s/.build-id/%.2s/%s.debug", s->place.root, DEBUG_DIR, hex, hex + 2),
		has_build_id))
		return true;
	return try(s, mem_printf("%s/.build-id/%.2s/%s.debug", DEBUG_DIR, hex, hex + 2),
		   has_build_id);
}

/* The checksum of .gnu_debuglink: CRC-32 of ISO 3309, as zlib's. */
static uint32_t checksum(const uint8_t *data, size_t size)
{
	uint32_t table[256], sum = 0xffffffff;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (size_t i = 0; i < size; i++)
		sum = sum >> 8 ^ table[(sum ^ data[i]) & 0xff];
	return ~sum;
}

static bool has_checksum(struct search *s, const char *path, const struct dietree *tree)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint32_t want;
	bool same = false;

	(void)tree;
	if (fd < 0 || !dietree_debuglink(s->own, &want))
		return false;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		void *data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

		same = data != MAP_FAILED && checksum(data, st.st_size) == want;
		if (data != MAP_FAILED)
			munmap(data, st.st_size);
	}
	close(fd);
	return same;
}

static bool find_by_link(struct search *s)
{
	uint32_t crc;
	const char *name = dietree_debuglink(s->own, &crc);
	const char *slash = strrchr(s->place.path, '/'), *root = s->place.root;
	const char *path = s->place.path;
	int dir = slash ? slash - path : 0;

	if (!name || !*name || strchr(name, '/') || !slash)
		return false;
	return try(s, mem_printf("%s%.*s/%s", root, dir, path, name), has_checksum) ||
	       try(s, mem_printf("%s%.*s/.debug/%s", root, dir, path, name), has_checksum) ||
	       try(s, mem_printf("%s%s%.*s/%s", root, DEBUG_DIR, dir, path, name), has_checksum) ||
	       (*root && try(s, mem_printf("%s%.*s/%s", DEBUG_DIR, dir, path, name), has_checksum));
}

struct dietree *debuginfo_find_file(const struct image *img, bool locations, struct errmsg *err)
{
	struct search s = {.locations = locations};

	s.own = dietree_open(image_path(img), locations, err);
	if (!s.own)
		return NULL;
	if (!is_empty(s.own))
		return s.own;
	find_place(image_path(img), &s.place);
	if (!find_by_build_id(&s) && !find_by_link(&s)) {
		errmsg_set(err, "no debug information (DWARF) in it%s%s%s",
			   *s.tried ? ", nor in a separate file (\""
				    : ", and it names no separate file",
			   s.tried, *s.tried ? "\", ...)" : "");
		errmsg_hint(err,
			    "build without -ldflags=-w or -s, or give the signature in the probe");
	}
	dietree_close(s.own);
	return s.found;
}
