// SPDX-License-Identifier: Apache-2.0
#include "golang/forwarder_table.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/embedded.h"
#include "golang/gotype.h"

/* of a row; and of a type. The last one is always the releases. */
enum { NAME, SIGNATURE, CALLEE, CALLEE_SIGNATURE, PASSES, ROW_FIELDS = 6 };

enum { MADE_OF = 1, TYPE_FIELDS = 3 };

struct line {
	const char *fields[ROW_FIELDS];
	size_t lens[ROW_FIELDS];
	unsigned count;
};

/* Reads the line at `text`; returns where the next one begins, NULL at the end. */
static const char *read_line(const char *text, struct line *out)
{
	const char *end = strchrnul(text, '\n');

	out->count = 0;
	for (const char *at = text; out->count < ROW_FIELDS; out->count++) {
		const char *tab = memchr(at, '\t', end - at);

		out->fields[out->count] = at;
		out->lens[out->count] = (tab ? tab : end) - at;
		if (!tab) {
			out->count++;
			break;
		}
		at = tab + 1;
	}
	return *end ? end + 1 : NULL;
}

static bool is_text(const struct line *line, unsigned field, const char *text)
{
	return strlen(text) == line->lens[field] &&
	       !memcmp(line->fields[field], text, line->lens[field]);
}

static const char *copy(struct gotypes *memory, const struct line *line, unsigned field)
{
	return gotypes_text(memory, line->fields[field], line->lens[field]);
}

static bool is_of_release(const struct line *line, int minor)
{
	int from, to;

	return sscanf(line->fields[line->count - 1], "%d-%d", &from, &to) == 2 && minor >= from &&
	       minor <= to;
}

/* The first line of a release with as many fields, this name and, where that is not NULL, this
 * callee. */
static bool find_line(const char *name, unsigned count, const char *callee, int minor,
		      struct line *out)
{
	for (const char *at = embedded_forwarders[0].text; at;) {
		const char *next = read_line(at, out);

		if (out->count == count && is_text(out, NAME, name) && is_of_release(out, minor) &&
		    (!callee || is_text(out, CALLEE, callee)))
			return true;
		at = next;
	}
	return false;
}

bool forwarder_row(struct gotypes *memory, const char *name, const char *callee, int minor,
		   struct forwarder_row *out)
{
	struct line line;

	if (!find_line(name, ROW_FIELDS, callee, minor, &line))
		return false;
	*out = (struct forwarder_row){copy(memory, &line, SIGNATURE),
				      copy(memory, &line, CALLEE_SIGNATURE),
				      copy(memory, &line, PASSES)};
	return true;
}

const char *forwarder_made_of(struct gotypes *memory, const char *type, int minor)
{
	struct line line;

	if (!find_line(type, TYPE_FIELDS, NULL, minor, &line))
		return NULL;
	return copy(memory, &line, MADE_OF);
}
