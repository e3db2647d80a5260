// SPDX-License-Identifier: Apache-2.0
/* Go prints a type by its package's name, "http.Request", where DWARF has the package's path. The
 * two differ in more than what is before the last slash: "gopkg.in/yaml.v2" is package yaml. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dwarf/debuginfo_internal.h"
#include "golang/funcname.h"

struct text { /* a name being written, never longer than what it is made from */
	char *at;
	struct debuginfo *dbg;
};

static void put_text(struct text *out, const char *s, size_t len)
{
	memcpy(out->at, s, len);
	out->at += len;
}

static size_t unescape(const char *s, size_t len, char *out, size_t cap)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n + 1 < cap; i++) {
		int byte = funcname_escaped_byte(s, i, len);

		out[n++] = byte < 0 ? s[i] : byte;
		i += byte < 0 ? 0 : 2;
	}
	out[n] = '\0';
	return n;
}

static int compare_packages(const void *a, const void *b)
{
	const struct debuginfo_package *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void debuginfo_sort_packages(struct debuginfo *dbg)
{
	if (dbg->package_count)
		qsort(dbg->packages, dbg->package_count, sizeof(*dbg->packages), compare_packages);
}

static const char *package_name(const struct debuginfo *dbg, const char *path, size_t len)
{
	char buf[512];
	struct debuginfo_package key = {.path = buf}, *found = NULL;

	unescape(path, len, buf, sizeof(buf));
	if (dbg->package_count)
		found = bsearch(&key, dbg->packages, dbg->package_count, sizeof(key),
				compare_packages);
	return found ? found->name : NULL;
}

/* "v2" is a version, and the element before it the package's name, by custom */
static bool is_version(const char *s, size_t len)
{
	if (len < 2 || *s != 'v')
		return false;
	for (size_t i = 1; i < len; i++)
		if (!isdigit((unsigned char)s[i]))
			return false;
	return true;
}

static void put_guess(struct text *out, const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	const char *last = slash ? slash + 1 : path;

	if (slash && is_version(last, path + len - last)) {
		len = slash - path;
		slash = memrchr(path, '/', len);
		last = slash ? slash + 1 : path;
	}

	const char *code = memchr(last, '%', path + len - last);

	put_text(out, last, (code ? code : path + len) - last);
}

/* Where the path ends in "net/http.Request" or "gopkg.in/yaml.v2.Node": at a dot after the last
 * slash, the one before which there is a known path, or else the first. */
static size_t path_length(const struct debuginfo *dbg, const char *s, size_t len)
{
	const char *slash = memrchr(s, '/', len), *last = slash ? slash : s;
	const char *first = memchr(last, '.', s + len - last);

	for (const char *dot = first; dot && slash; dot = memchr(dot + 1, '.', s + len - dot - 1))
		if (package_name(dbg, s, dot - s))
			return dot - s;
	return first ? first - s : 0;
}

/* Types of the same name, declared in functions, are told apart by ·1, ·2, ... */
static size_t without_number(const char *s, size_t len)
{
	size_t end = len;

	while (end > 0 && isdigit((unsigned char)s[end - 1]))
		end--;
	return end < len && end > 2 && memcmp(s + end - 2, "\u00b7", 2) == 0 ? end - 2 : len;
}

/* The shape of a type argument is printed as the type that has it: []go.shape.int_0 as []int. (Up
 * to Go 1.20 it ends in the type parameter's number.) */
static size_t without_shape(const char **s, size_t len)
{
	static const char shape[] = "go.shape.";
	size_t prefix = sizeof(shape) - 1, end;

	if (len < prefix || memcmp(*s, shape, prefix) != 0)
		return len;
	*s += prefix;
	len = end = len - prefix;
	while (end > 0 && isdigit((unsigned char)(*s)[end - 1]))
		end--;
	return end < len && end > 1 && (*s)[end - 1] == '_' ? end - 1 : len;
}

static void put_qualified(struct text *out, const char *s, size_t len)
{
	len = without_shape(&s, len);
	len = without_number(s, len);

	size_t path = path_length(out->dbg, s, len);
	const char *name = path ? package_name(out->dbg, s, path) : NULL;

	if (name && strlen(name) <= path)
		put_text(out, name, strlen(name));
	else
		put_guess(out, s, path);
	put_text(out, s + path, len - path);
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_/.%~+-$", c)) || c & 0x80;
}

static size_t word_length(const char *s)
{
	size_t len = 0;

	if (*s == '-' || *s == '.')
		return 0;
	while (is_word_char(s[len]))
		len++;
	return len;
}

static size_t quoted_length(const char *s)
{
	size_t len = 1;

	while (s[len] && s[len] != s[0])
		len += s[len] == '\\' && s[len + 1] ? 2 : 1;
	return len + (s[len] != '\0');
}

/* type arguments are printed with the full path */
static size_t arguments_length(const char *s)
{
	size_t len = 0;
	int depth = 0;

	do {
		depth += (s[len] == '[') - (s[len] == ']');
		len++;
	} while (s[len] && depth > 0);
	return len;
}

/* The name of a struct's field, with the package's path if it is not exported: "runtime.len int" */
static bool is_field(const char *start, const char *word, size_t len)
{
	if (word[len] != ' ' || word - start < 2 || word[-1] != ' ')
		return false;
	/* what is embedded has no name of its own: a tag may follow, or the end */
	return (word[-2] == '{' || word[-2] == ';') && !strchr("}\"`", word[len + 1]);
}

static size_t put_word(struct text *out, const char *start, const char *s)
{
	size_t len = word_length(s);

	if (is_field(start, s, len)) {
		const char *dot = memrchr(s, '.', len), *name = dot ? dot + 1 : s;

		put_text(out, name, s + len - name);
	} else {
		put_qualified(out, s, len);
	}
	if (s[len] == '[' && !(len == 3 && strncmp(s, "map", 3) == 0)) {
		size_t args = arguments_length(s + len);

		put_text(out, s + len, args);
		len += args;
	}
	return len;
}

const char *debuginfo_short_name(struct debuginfo *dbg, const char *full)
{
	struct text out = {gotypes_alloc(dbg->types, strlen(full) + 1, 1), dbg};
	const char *begin = out.at, *s = full;

	if (strncmp(s, "noalg.", 6) == 0) /* the compiler's own, without a hash function */
		s += 6;
	while (*s) {
		size_t len = 1;

		if (*s == '"' || *s == '`')
			put_text(&out, s, len = quoted_length(s));
		else if (word_length(s))
			len = put_word(&out, full, s);
		else
			put_text(&out, s, len);
		s += len;
	}
	return begin;
}
