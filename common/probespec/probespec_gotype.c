// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_gotype_internal.h"

#include <string.h>

#include "probespec/probespec_lexer_internal.h"
#include "probespec/probespec_literal_internal.h"

enum { BRACKETS_MAX = 64, FUNCS_MAX = 16 };

static size_t raw_string_end(const char *text, size_t at)
{
	const char *end = strchr(text + at + 1, '`');

	return end ? (size_t)(end + 1 - text) : 0;
}

size_t probespec_gotype_close(const char *text, size_t at)
{
	static const char openers[] = "([{", closers[] = ")]}";
	char open[BRACKETS_MAX];
	unsigned depth = 0;

	while (text[at]) {
		const char *opener = strchr(openers, text[at]);

		if (text[at] == '"' || text[at] == '`') {
			at = text[at] == '"' ? probespec_literal_end(text, at)
					     : raw_string_end(text, at);
			if (!at)
				return 0;
			continue;
		}
		if (opener && depth == BRACKETS_MAX)
			return 0;
		if (opener)
			open[depth++] = closers[opener - openers];
		else if (strchr(closers, text[at]) && text[at] != open[--depth])
			return 0;
		at++;
		if (!depth)
			return at;
	}
	return 0;
}

static bool is_word(const char *text, size_t at, size_t end, const char *word)
{
	return end - at == strlen(word) && !memcmp(text + at, word, end - at);
}

static bool is_predeclared(const char *text, size_t at, size_t end)
{
	static const char *const names[] = {
		"bool",    "int",     "int8",      "int16",      "int32",   "int64", "uint",
		"uint8",   "uint16",  "uint32",    "uint64",     "uintptr", "byte",  "rune",
		"float32", "float64", "complex64", "complex128", "string",  "error", "any",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_word(text, at, end, names[i]))
			return true;
	return false;
}

/* "net/http.Request", "main.Map[string,int]", "T". Import paths hold more than identifiers do. */
static size_t type_name_end(const char *text, size_t at, bool strict)
{
	size_t end = probespec_lexer_name_end(text, at);
	bool dot = false, slash = false, sign = false;

	while (end > at && text[end] && strchr("./-~%", text[end])) {
		/* a part of a path may begin with digits */
		size_t part = end + 1 + strspn(text + end + 1, "0123456789");
		size_t next = probespec_lexer_name_end(text, part);

		if (next == end + 1)
			break;
		slash = slash || text[end] == '/';
		dot = text[end] == '.' || (dot && text[end] != '/');
		sign = sign || strchr("-~%", text[end]);
		end = next;
	}
	if (end == at || (sign && !slash)) /* a subtraction */
		return 0;
	if (strict && !dot && !is_predeclared(text, at, end))
		return 0;
	return text[end] == '[' ? probespec_gotype_close(text, end) : end;
}

/* "[]", "[12]" */
static size_t array_prefix_end(const char *text, size_t at)
{
	size_t end = probespec_lexer_skip_space(text, at + 1);

	end += strspn(text + end, "0123456789");
	end = probespec_lexer_skip_space(text, end);
	return text[end] == ']' ? end + 1 : 0;
}

/* "*", "[]", "[12]", "map[K]", "chan", "<-chan": another type follows. 0: there is none. */
static size_t prefix_end(const char *text, size_t at)
{
	size_t end = probespec_lexer_name_end(text, at);

	if (text[at] == '*')
		return at + 1;
	if (text[at] == '[')
		return array_prefix_end(text, at);
	if (is_word(text, at, end, "map") && text[end] == '[')
		return probespec_gotype_close(text, end);
	if (!strncmp(text + at, "<-", 2)) {
		at = probespec_lexer_skip_space(text, at + 2);
		end = probespec_lexer_name_end(text, at);
		return is_word(text, at, end, "chan") ? end : 0;
	}
	if (!is_word(text, at, end, "chan"))
		return 0;
	at = probespec_lexer_skip_space(text, end);
	return strncmp(text + at, "<-", 2) ? end : at + 2;
}

static size_t list_end(const char *text, size_t at, bool strict, unsigned funcs);

/* After a type that is not made with a prefix. `funcs` bounds how deep funcs nest in lists. */
static size_t base_end(const char *text, size_t at, bool strict, unsigned funcs)
{
	size_t end = probespec_lexer_name_end(text, at);
	size_t next = probespec_lexer_skip_space(text, end);

	if (is_word(text, at, end, "struct") || is_word(text, at, end, "interface"))
		return text[next] == '{' ? probespec_gotype_close(text, next) : 0;
	if (text[at] == '(') /* chan (<-chan int) */
		return list_end(text, at, strict, funcs);
	return type_name_end(text, at, strict);
}

static size_t type_end(const char *text, size_t at, bool strict, unsigned funcs)
{
	size_t complete = 0; /* the end of a func's parameters: results may follow, or not */

	while (funcs) {
		at = probespec_lexer_skip_space(text, at);
		size_t end = probespec_lexer_name_end(text, at), prefix = prefix_end(text, at);

		if (prefix) {
			at = prefix;
			continue;
		}
		size_t next = probespec_lexer_skip_space(text, end);

		if (!is_word(text, at, end, "func") || text[next] != '(') {
			end = base_end(text, at, strict || complete, funcs - 1);
			return end ? end : complete;
		}
		complete = at = probespec_gotype_close(text, next);
		if (!at)
			return 0;
	}
	return 0;
}

/* What an entry of a list of parameters is. */
enum entry { ENTRY_BAD, ENTRY_TYPE, ENTRY_NAMED, ENTRY_NAME };

static bool ends_entry(const char *text, size_t at, size_t *end)
{
	*end = probespec_lexer_skip_space(text, at);
	return at && (text[*end] == ',' || text[*end] == ')');
}

/* "string", "x int", "a ...any", or the "x" of "x, y int". */
static enum entry read_entry(const char *text, size_t at, bool strict, unsigned funcs, size_t *end)
{
	size_t name = probespec_lexer_name_end(text, at);
	size_t type = probespec_lexer_skip_space(text, name);

	if (ends_entry(text, type_end(text, at, strict, funcs), end))
		return ENTRY_TYPE;
	if (name > at && ends_entry(text, name, end))
		return ENTRY_NAME;
	if (!strncmp(text + type, "...", 3))
		type += 3;
	if (type > at && ends_entry(text, type_end(text, type, strict, funcs), end))
		return ENTRY_NAMED;
	return ENTRY_BAD;
}

static size_t list_end(const char *text, size_t at, bool strict, unsigned funcs)
{
	bool named = false, bare = false;

	for (at++;;) {
		at = probespec_lexer_skip_space(text, at);
		if (text[at] == ')')
			return !bare || named ? at + 1 : 0;
		enum entry entry = read_entry(text, at, strict, funcs, &at);

		if (entry == ENTRY_BAD)
			return 0;
		named = named || entry == ENTRY_NAMED;
		bare = bare || entry == ENTRY_NAME;
		at += text[at] == ',';
	}
}

size_t probespec_gotype_end(const char *text, size_t at, bool strict)
{
	return type_end(text, at, strict, FUNCS_MAX);
}

size_t probespec_gotype_list_end(const char *text, size_t at, bool strict)
{
	return list_end(text, at, strict, FUNCS_MAX);
}
