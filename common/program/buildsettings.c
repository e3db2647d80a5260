// SPDX-License-Identifier: Apache-2.0
#include "program/buildsettings.h"

#include <string.h>

#include "base/mem.h"
#include "elf/image.h"
#include "program/buildinfo_internal.h"

static const char *next_line(const char *text, const char *end)
{
	const char *newline = memchr(text, '\n', end - text);

	return newline ? newline + 1 : end;
}

char *buildsettings_value(const struct image *img, const char *key)
{
	static const char build[] = "build\t";
	size_t head = sizeof(build) - 1, key_len = strlen(key), skip = head + key_len + 1;
	struct buildinfo info;
	uint64_t len;

	if (!buildinfo_read(img, &info) || !info.settings)
		return NULL;
	const char *text = buildinfo_text(img, &info.settings, &len), *next;

	if (!text)
		return NULL;
	for (const char *end = text + len; text < end; text = next) {
		next = next_line(text, end);
		if ((size_t)(next - text) <= skip || memcmp(text, build, head) != 0 ||
		    memcmp(text + head, key, key_len) != 0 || text[skip - 1] != '=')
			continue;
		return mem_strndup(text + skip, next - text - skip - (next[-1] == '\n'));
	}
	return NULL;
}
