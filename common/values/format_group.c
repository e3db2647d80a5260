// SPDX-License-Identifier: Apache-2.0
/* %{NAME:...}: the names of what a format prints. */
#include <ctype.h>
#include <string.h>

#include "base/errmsg.h"
#include "values/format.h"
#include "values/format_internal.h"

static size_t name_length(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && (isalpha((unsigned char)text[n]) || text[n] == '_' ||
			   (n && isdigit((unsigned char)text[n]))))
		n++;
	return n;
}

/* Is the name one of the members that events' objects have anyway? */
static bool is_taken(const char *name, size_t len)
{
	static const char *const keys[] = {"type",   "time",       "pid",         "tid",
					   "goid",   "cpu",        "comm",        "func",
					   "how",    "latency_ns", "stack",       "message",
					   "values", "created_by", "kernel_stack"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (strlen(keys[i]) == len && !memcmp(keys[i], name, len))
			return true;
	return false;
}

static bool is_used(const struct format *format, const char *name, size_t len)
{
	struct format_group group;

	for (size_t i = 0; format_group(format, i, &group); i++)
		if (group.name_len == len && !memcmp(group.name, name, len))
			return true;
	return false;
}

int format_open_group(struct format *format, size_t len, size_t *pos, unsigned col,
		      struct errmsg *err)
{
	struct format_piece piece = {.col = col, .text = "", .name = format->text + *pos};
	size_t rest = len - *pos;

	piece.name_len = name_length(piece.name, rest);
	rest -= piece.name_len;
	piece.is_list = rest > 2 && !memcmp(piece.name + piece.name_len, "[]", 2);
	size_t passed = piece.name_len + (piece.is_list ? 2 : 0);

	if (!piece.name_len || passed >= len - *pos || piece.name[passed] != ':') {
		errmsg_set(err, "col %u: expected NAME: or NAME[]: after %%{", col);
		errmsg_hint(err, "%%{NAME:%%d} names a value");
		return -1;
	}
	if (format->open)
		return errmsg_set(err, "col %u: a name within a name", col);
	if (is_taken(piece.name, piece.name_len) || is_used(format, piece.name, piece.name_len))
		return errmsg_set(err, "col %u: there is a value named %.*s already", col,
				  (int)piece.name_len, piece.name);
	*pos += passed + 1;
	format->open = true;
	format_add_piece(format, &piece);
	return 0;
}

/* The piece after this is the group's first. */
static void fill_group(const struct format *format, size_t at, struct format_group *out)
{
	const struct format_piece *open = &format->pieces[at];

	out->name = open->name;
	out->name_len = open->name_len;
	out->is_list = open->is_list;
	out->from = out->to = at + 1;
	out->verbs = 0;
	for (; out->to < format->count && !format->pieces[out->to].closes; out->to++)
		out->verbs += format->pieces[out->to].verb != '\0';
	out->is_value = out->verbs == 1 && out->to == out->from + 1;
}

bool format_group(const struct format *format, size_t n, struct format_group *out)
{
	out->first = 0;
	for (size_t i = 0; i < format->count; i++) {
		out->first += format->pieces[i].verb != '\0';
		if (!format->pieces[i].name || n--)
			continue;
		fill_group(format, i, out);
		return true;
	}
	return false;
}

void format_print_group(FILE *out, const struct format *format, const struct format_group *group,
			const struct format_arg *args, size_t count,
			const struct value_source *source)
{
	format_print_pieces(out, format, group->from, group->to, group->first, args, count, source);
}
