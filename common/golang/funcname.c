// SPDX-License-Identifier: Apache-2.0
#include "golang/funcname.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

/* Where the next of `stops` stands outside brackets and parentheses; or the end. */
static const char *until(const char *s, const char *stops)
{
	int depth = 0;

	for (; *s; s++) {
		if (depth <= 0 && strchr(stops, *s))
			break;
		if (strchr("[({", *s))
			depth++;
		else if (strchr("])}", *s))
			depth--;
	}
	return s;
}

static size_t package_length(const char *name)
{
	const char *slash = name;

	for (const char *next; *(next = until(slash, "/")); slash = next + 1)
		;

	const char *dot = until(slash, ".");

	return *dot ? (size_t)(dot - name) : 0;
}

/* func1, gowrap2, deferwrap1, a number (init.0, func1.2), "" (as in glob..func1), f-range1, M-fm */
static bool is_closure(const char *s, size_t len)
{
	static const char *const words[] = {"func", "gowrap", "deferwrap", ""};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t word = strlen(words[i]), at = word;

		if (len < word || strncmp(s, words[i], word) != 0)
			continue;
		while (at < len && isdigit((unsigned char)s[at]))
			at++;
		if (at > word && (at == len || s[at] == '-'))
			return true;
	}
	return len == 0 || memmem(s, len, "-range", 6) ||
	       (len > 3 && strncmp(s + len - 3, "-fm", 3) == 0);
}

static void take_receiver(struct funcname *out, const char *s, size_t len)
{
	out->pointer = len > 3 && s[0] == '(' && s[1] == '*' && s[len - 1] == ')';
	out->receiver = out->pointer ? s + 2 : s;
	out->receiver_len = out->pointer ? len - 3 : len;
}

/* The parts after the package: "f", "T.M", "(*T).M"; a closure has more. */
static void parse_parts(const char *s, struct funcname *out)
{
	const char *first = s, *end = until(s, ".");
	size_t len = end - s;

	if (!*end) {
		out->closure |= len && is_closure(s, len) && strchr(s, '-');
		return;
	}
	for (s = end; *s; s = end) {
		end = until(s + 1, ".");
		out->closure |= is_closure(s + 1, end - s - 1);
	}
	if (!out->closure)
		take_receiver(out, first, len);
}

/* type:.eq.main.T; up to Go 1.19 type..eq.main.T */
static bool is_compilers(const char *name)
{
	return strncmp(name, "type:", 5) == 0 || strncmp(name, "type..", 6) == 0 ||
	       strncmp(name, "go:", 3) == 0;
}

void funcname_parse(const char *name, struct funcname *out)
{
	*out = (struct funcname){.package_len = package_length(name)};
	out->generic = strchr(name, '[');
	out->closure = is_compilers(name);
	parse_parts(out->package_len ? name + out->package_len + 1 : name, out);
	out->shapes = out->generic && !out->closure && strstr(name, "go.shape.");
}

/* Where brackets that are not within others close and the next ones open; false: they never do. */
static bool between_brackets(const char *from, const char *to, const char **closed,
			     const char **opened)
{
	int depth = 1;

	*closed = NULL;
	for (const char *c = from; c < to; c++) {
		if (*c == ']' && --depth == 0)
			*closed = c;
		else if (*c == '[' && ++depth == 1) {
			*opened = c;
			return true;
		}
		if (depth < 0)
			return false;
	}
	return false;
}

char *funcname_short(const char *name)
{
	const char *first = strchr(name, '['), *last = strrchr(name, ']'), *closed, *opened;

	/* "[lost]" stands in a stack for what is not known: no name begins so */
	if (!first || first == name || !last || last < first)
		return mem_strdup(name);
	if (between_brackets(first + 1, last, &closed, &opened))
		return mem_printf("%.*s[...]%.*s[...]%s", (int)(first - name), name,
				  (int)(opened - closed - 1), closed + 1, last + 1);
	if (closed)
		return mem_strdup(name); /* malformed */
	return mem_printf("%.*s[...]%s", (int)(first - name), name, last + 1);
}

/* unlike number_hex_digit(): the linker writes no capital letters */
static int linker_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int funcname_escaped_byte(const char *name, size_t at, size_t end)
{
	if (end - at < 3 || name[at] != '%')
		return -1;
	int high = linker_digit(name[at + 1]), low = linker_digit(name[at + 2]);

	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Is text[0, len) a major version, "v3"? */
static bool is_version(const char *text, size_t len)
{
	return len > 1 && text[0] == 'v' && strspn(text + 1, "0123456789") >= len - 1;
}

const char *funcname_without_path(const char *name)
{
	const char *last = name, *before = name;

	/* slashes in brackets are of type arguments */
	for (const char *at = name; *at && *at != '[' && *at != '('; at++)
		if (*at == '/') {
			before = last;
			last = at + 1;
		}
	return is_version(last, strcspn(last, ".")) ? before : last;
}

bool funcname_begins_system(const char *name)
{
	static const char *const users[] = {"runtime.main", "runtime.corostart",
					    "runtime.handleAsyncEvent"};

	if (strncmp(name, "runtime.", strlen("runtime.")) != 0)
		return false;
	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
		if (!strcmp(name, users[i]))
			return false;
	return true;
}
