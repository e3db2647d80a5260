// SPDX-License-Identifier: Apache-2.0
#include "golang/golibrary.h"

#include <stdio.h>
#include <string.h>

#include "base/embedded.h"
#include "golang/gotype.h"

static const char *line_start(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

static const char *next_line(const char *at)
{
	at = strchrnul(at, '\n');
	return *at ? at + 1 : at;
}

/* The line's name, up to its tab, against `name`: as strcmp() */
static int compare(const char *line, const char *name)
{
	size_t len = strcspn(line, "\t\n"), want = strlen(name);
	int order = memcmp(line, name, len < want ? len : want);

	return order ? order : len < want ? -1 : len > want;
}

/* The first line that is not below `name`; comments are below all. */
static const char *first_line(const char *text, const char *name)
{
	const char *low = text, *high = text + strlen(text);

	while (low < high) {
		const char *mid = line_start(text, low + (high - low) / 2);

		if (mid < low)
			mid = low;
		if (*mid == '#' || compare(mid, name) < 0)
			low = next_line(mid);
		else
			high = mid;
	}
	return low;
}

const char *golibrary_text(struct gotypes *memory, const char *name, int minor)
{
	const char *at = first_line(embedded_signatures[0].text, name);

	for (; *at && !compare(at, name); at = next_line(at)) {
		const char *text = at + strcspn(at, "\t\n");
		int from, to;

		if (*text != '\t')
			return NULL;
		text++;
		size_t len = strcspn(text, "\t\n");

		if (sscanf(text + len, "\t%d-%d", &from, &to) == 2 && minor >= from && minor <= to)
			return gotypes_text(memory, text, len);
	}
	return NULL;
}
