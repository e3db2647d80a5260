// SPDX-License-Identifier: Apache-2.0
#include "golang/stdlib.h"

#include <stdio.h>
#include <string.h>

#include "base/embedded.h"
#include "golang/gotype.h"
#include "golang/signature_internal.h"

/* Columns. The last one of either table holds the releases N of Go 1.N that the row is true for:
 * "19-27". */
enum { NAME };
enum { TEXT = 1 };
enum { SIGNATURE = 1, CALLEE, CALLEE_SIGNATURE, PASSES, FIELDS_MAX = 6 };

struct row {
	const char *fields[FIELDS_MAX];
	size_t lens[FIELDS_MAX];
	unsigned count;
};

static const char *next_line(const char *at)
{
	at = strchrnul(at, '\n');
	return *at ? at + 1 : at;
}

static void read_row(const char *at, struct row *out)
{
	for (out->count = 0; out->count < FIELDS_MAX; at++) {
		size_t len = strcspn(at, "\t\n");

		out->fields[out->count] = at;
		out->lens[out->count++] = len;
		at += len;
		if (*at != '\t')
			break;
	}
}

/* as strcmp() */
static int compare_line(const struct row *row, unsigned field, const char *text)
{
	size_t len = row->lens[field], want = strlen(text);
	int order = memcmp(row->fields[field], text, len < want ? len : want);

	return order ? order : len < want ? -1 : len > want;
}

/* The first line whose name does not sort before this one. Comments sort before all names. */
static const char *first_line(const char *table, const char *name)
{
	const char *low = table, *high = table + strlen(table);

	while (low < high) {
		const char *mid = low + (high - low) / 2;
		struct row row;

		while (mid > low && mid[-1] != '\n')
			mid--;
		read_row(mid, &row);
		if (*mid == '#' || compare_line(&row, NAME, name) < 0)
			low = next_line(mid);
		else
			high = mid;
	}
	return low;
}

static bool is_of_release(const struct row *row, int release)
{
	int from, to;

	return sscanf(row->fields[row->count - 1], "%d-%d", &from, &to) == 2 && release >= from &&
	       release <= to;
}

/* The first row of the release with this name and, where that is not NULL, this callee. */
static bool find_row(const struct embedded_file *table, const char *name, const char *callee,
		     int release, struct row *out)
{
	for (const char *at = first_line(table->text, name); *at; at = next_line(at)) {
		read_row(at, out);
		if (compare_line(out, NAME, name))
			return false;
		if (is_of_release(out, release) && (!callee || !compare_line(out, CALLEE, callee)))
			return true;
	}
	return false;
}

static const char *copy(struct gotypes *memory, const struct row *row, unsigned field)
{
	return gotypes_text(memory, row->fields[field], row->lens[field]);
}

const char *stdlib_text(struct gotypes *memory, const char *name, int release)
{
	struct row row;

	if (!find_row(embedded_stdlib_signatures, name, NULL, release, &row))
		return NULL;
	return copy(memory, &row, TEXT);
}

bool stdlib_forwarder(struct gotypes *memory, const char *name, const char *callee, int release,
		      struct stdlib_forwarder *out)
{
	struct row row;

	if (!find_row(embedded_stdlib_forwarders, name, callee, release, &row))
		return false;
	*out = (struct stdlib_forwarder){copy(memory, &row, SIGNATURE),
					 copy(memory, &row, CALLEE_SIGNATURE),
					 copy(memory, &row, PASSES)};
	return true;
}

/* Called while a signature is parsed. The text of the type found is parsed with no names to look
 * up, so that this does not recurse without end. */
const struct gotype *stdlib_type(void *ctx, const char *name)
{
	const struct stdlib_types *types = ctx;
	const struct signature_names none = {.release = types->release};
	const struct gotype *found = NULL;

	if (types->program && types->program->find)
		found = types->program->find(types->program->ctx, name);
	if (found)
		return found;

	const char *text = stdlib_text(types->memory, name, types->release);

	if (text)
		found = signature_type(types->memory, &none, text, NULL, NULL);
	if (!found)
		return NULL;
	struct gotype *made = gotypes_add(types->memory, found->kind, name);
	const char *own_name = made->name;

	*made = *found;
	made->name = own_name;
	made->defined = true;
	return made;
}
