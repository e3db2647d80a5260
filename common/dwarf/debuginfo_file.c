// SPDX-License-Identifier: Apache-2.0
/* Debug information in a separate file, where gdb and others look for it as well: by build ID, then
 * by the name in .gnu_debuglink. For a process with another root, only files below it count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/debuginfo_file_internal.h"
#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "dwarf/dietree_internal.h"
#include "elf/debuglink.h"
#include "elf/image.h"
#include "elf/image_sections.h"
#include "files/fileroot.h"
#include "files/heldfile.h"

static const char DEBUG_DIR[] = "/usr/lib/debug";

struct search {
	const struct image *img;
	struct debuglink_id id;
	uint32_t checksum; /* of the debug link */
	bool locations;
	struct debuginfo_file *out;
	char tried[256]; /* the first place, for the message */
};

static bool see_unit(const struct die *unit, void *ctx)
{
	(void)unit;
	*(bool *)ctx = false;
	return false;
}

static bool is_tree_empty(struct dietree *tree)
{
	bool empty = true;

	dietree_each_unit(tree, see_unit, &empty);
	return empty;
}

static bool has_build_id(const struct search *s, const struct image_sections *secs)
{
	struct debuglink_id id;

	debuglink_read_id(secs, &id);
	return id.len == s->id.len && memcmp(id.bytes, s->id.bytes, id.len) == 0;
}

/* What is checked is what will be read: the copy in memory. */
static bool has_checksum(const struct search *s, const struct image_sections *secs)
{
	uint32_t sum;

	return debuglink_checksum(image_sections_file(secs), &sum) && sum == s->checksum;
}

static bool take_sections(struct search *s, struct image_sections *secs)
{
	s->out->tree = dietree_open(secs, s->locations, NULL);
	if (s->out->tree && !is_tree_empty(s->out->tree)) {
		s->out->secs = secs;
		return true;
	}
	dietree_close(s->out->tree);
	s->out->tree = NULL;
	return false;
}

/* Takes the file at `path` if it is the right one and has DWARF; frees `path`. */
static bool try(struct search *s, char *path,
		bool (*is_right)(const struct search *, const struct image_sections *))
{
	struct fileroot *root = heldfile_root(image_file(s->img));
	struct heldfile *file = heldfile_open(root, path, NULL);
	struct image_sections *secs = file ? image_sections_new(file) : NULL;

	budget_watch_add(file ? heldfile_size(file) : 0);

	bool found = secs && is_right(s, secs) && take_sections(s, secs);

	if (!*s->tried)
		snprintf(s->tried, sizeof(s->tried), "%s%s", fileroot_shown(root), path);
	if (!found)
		image_sections_free(secs);
	heldfile_close(file);
	free(path);
	return found;
}

static bool find_by_build_id(struct search *s)
{
	char hex[2 * DEBUGLINK_ID_MAX + 1] = "";

	if (s->id.len < 2)
		return false;
	for (size_t i = 0; i < s->id.len; i++)
		snprintf(hex + 2 * i, 3, "%02x", s->id.bytes[i]);
	return try(s, mem_printf("%s/.build-id/%.2s/%s.debug", DEBUG_DIR, hex, hex + 2),
		   has_build_id);
}

static bool find_by_link(struct search *s)
{
	const struct heldfile *file = image_file(s->img);
	char *name = debuglink_read_name(image_sections(s->img), &s->checksum);
	char *path = name ? fileroot_name(heldfile_root(file), heldfile_fd(file)) : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	int dir = slash ? slash - path : 0;
	bool found = slash &&
		     (try(s, mem_printf("%.*s/%s", dir, path, name), has_checksum) ||
		      try(s, mem_printf("%.*s/.debug/%s", dir, path, name), has_checksum) ||
		      try(s, mem_printf("%s%.*s/%s", DEBUG_DIR, dir, path, name), has_checksum));

	free(name);
	free(path);
	return found;
}

int debuginfo_file_find(const struct image *img, bool locations, struct debuginfo_file *out,
			struct errmsg *err)
{
	struct search s = {.img = img, .locations = locations, .out = out};

	*out = (struct debuginfo_file){0};
	out->tree = dietree_open(image_sections(img), locations, err);
	if (!out->tree)
		return -1;
	if (!is_tree_empty(out->tree))
		return 0;
	dietree_close(out->tree);
	out->tree = NULL;
	debuglink_read_id(image_sections(img), &s.id);
	if (find_by_build_id(&s) || find_by_link(&s))
		return 0;
	errmsg_set(err, "no debug information (DWARF) in it%s%s%s",
		   *s.tried ? ", nor in a separate file (\"" : ", and it names no separate file",
		   s.tried, *s.tried ? "\", ...)" : "");
	errmsg_hint(err, "build without -ldflags=-w or -s, or give the signature in the probe");
	return -1;
}

struct dietree *debuginfo_file_again(const struct image *img, const struct debuginfo_file *file,
				     bool locations)
{
	return dietree_open(file->secs ? file->secs : image_sections(img), locations, NULL);
}

void debuginfo_file_close(struct debuginfo_file *file)
{
	dietree_close(file->tree);
	image_sections_free(file->secs);
}
