// SPDX-License-Identifier: Apache-2.0
#include "program/buildsettings.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/image.h"
#include "program/buildinfo_internal.h"

/* The text begins with a mark, before its first line (Go's src/cmd/go/internal/modload/build.go).
 */
enum { MARK = 16 };

static const char *next_line(const char *text, const char *end)
{
	const char *newline = memchr(text, '\n', end - text);

	return newline ? newline + 1 : end;
}

/* All lines; NULL: there are none. */
static const char *read_lines(const struct image *img, uint64_t *len)
{
	struct buildinfo info;

	if (!buildinfo_read(img, &info) || !info.settings)
		return NULL;
	return buildinfo_text(img, &info.settings, len);
}

/* What follows `head` in the first line that begins with it, up to its end; NULL: there is none. */
static const char *find_line(const struct image *img, const char *head, size_t *len)
{
	size_t skip = strlen(head);
	uint64_t all;
	const char *text = read_lines(img, &all), *next;

	if (!text)
		return NULL;
	const char *end = text + all;

	if (all > MARK && memcmp(text, "path\t", 5) != 0 && !memcmp(text + MARK, "path\t", 5))
		text += MARK;
	for (; text < end; text = next) {
		next = next_line(text, end);
		if ((size_t)(next - text) < skip || memcmp(text, head, skip) != 0)
			continue;
		*len = next - text - skip - (next[-1] == '\n');
		return text + skip;
	}
	return NULL;
}

char *buildsettings_value(const struct image *img, const char *key)
{
	char *head = mem_printf("build\t%s=", key);
	size_t len;
	const char *value = find_line(img, head, &len);

	free(head);
	return value ? mem_strndup(value, len) : NULL;
}

char *buildsettings_module(const struct image *img)
{
	size_t len;
	const char *path = find_line(img, "mod\t", &len);

	if (!path)
		path = find_line(img, "path\t", &len);
	if (!path)
		return NULL;
	const char *tab = memchr(path, '\t', len);

	return mem_strndup(path, tab ? (size_t)(tab - path) : len);
}
