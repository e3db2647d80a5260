// SPDX-License-Identifier: Apache-2.0
#include "base/escape.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { ESCAPE_MAX = 8 }; /* bytes that one character can need, with a NUL */

/* Writes the text for the next character to buf; returns how many bytes of the input it was. */
static size_t escape_next(const char *bytes, size_t len, char buf[ESCAPE_MAX])
{
	uint32_t c;
	size_t n = utf8_decode(bytes, len, &c);

	if (!n) {
		snprintf(buf, ESCAPE_MAX, "\\x%02x", (unsigned char)bytes[0]);
		return 1;
	}
	if (!utf8_is_control(c)) {
		memcpy(buf, bytes, n);
		buf[n] = '\0';
	} else if (c == '\n' || c == '\t' || c == '\r') {
		snprintf(buf, ESCAPE_MAX, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	} else {
		snprintf(buf, ESCAPE_MAX, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c & 0xffff);
	}
	return n;
}

/* how many bytes stand for themselves: most of what is printed */
static size_t plain_run(const char *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && bytes[n] >= ' ' && bytes[n] <= '~')
		n++;
	return n;
}

void escape_write(FILE *out, const char *bytes, size_t len)
{
	char buf[ESCAPE_MAX];

	for (size_t i = 0, run; i < len; i += run) {
		run = plain_run(bytes + i, len - i);
		if (run) {
			fwrite(bytes + i, 1, run, out);
			continue;
		}
		run = escape_next(bytes + i, len - i, buf);
		fputs(buf, out);
	}
}

void escape_print(FILE *out, const char *text)
{
	escape_write(out, text, strlen(text));
}

char *escape_text(const char *text)
{
	size_t len = strlen(text), used = 0;
	char *copy = mem_zalloc(len + 1, ESCAPE_MAX - 1);

	for (size_t i = 0; i < len;) {
		char buf[ESCAPE_MAX];

		i += escape_next(text + i, len - i, buf);
		used = stpcpy(copy + used, buf) - copy;
	}
	return copy;
}

/* --- comments --- */

/* Is this character of `text` one that a comment cannot have? The ends of comments, and trigraphs,
 * one of which is a backslash, are made of characters that are fine alone. */
static bool breaks_comment(const char *text, size_t i)
{
	char c = text[i], before = i ? text[i - 1] : 0;

	return c == '\\' || (before == '*' && c == '/') || (before == '/' && c == '*') ||
	       (before == '?' && c == '?');
}

static bool breaks_shell_comment(const char *text, size_t i)
{
	return strchr("\\$`!;&|<>'\"", text[i]);
}

static void print_comment(FILE *out, const char *text, bool (*breaks)(const char *, size_t))
{
	size_t len = strlen(text);
	char buf[ESCAPE_MAX];

	for (size_t i = 0; i < len;) {
		if (breaks(text, i)) {
			fprintf(out, "\\x%02x", (unsigned char)text[i++]);
			continue;
		}
		i += escape_next(text + i, len - i, buf);
		fputs(buf, out);
	}
}

void escape_comment(FILE *out, const char *text)
{
	print_comment(out, text, breaks_comment);
}

void escape_shell_comment(FILE *out, const char *text)
{
	print_comment(out, text, breaks_shell_comment);
}

/* --- strings of bpftrace --- */

/* bytes of the next character if it can stand in a string, else 0 */
static size_t literal_next(const char *text, size_t len)
{
	uint32_t c = 0;
	size_t n = utf8_decode(text, len, &c);

	return !n || utf8_is_control(c) || c == '"' || c == '\\' ? 0 : n;
}

/* bpftrace 0.17 takes "%%d" for two conversions: a percent sign cannot be before what looks like
 * one. "%e" does not, and Go's linker writes a dot of an import path as "%2e". */
static bool is_conversion(const char *percent)
{
	const char *letter = percent + 1 + strspn(percent + 1, "-+ #.*0123456789hljzt%");

	return *letter && *letter != 'e';
}

static void print_literal(FILE *out, const char *text, bool is_format)
{
	size_t len = strlen(text);

	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = literal_next(text + i, len - i);
		if (!n || (is_format && text[i] == '%' && is_conversion(text + i)))
			fputc('?', out);
		else if (is_format && text[i] == '%')
			fputs("%%", out);
		else
			fwrite(text + i, 1, n, out);
	}
}

void escape_literal(FILE *out, const char *text)
{
	print_literal(out, text, false);
}

bool escape_is_literal(const char *text)
{
	size_t len = strlen(text), n = 1;

	for (size_t i = 0; i < len && n; i += n)
		n = literal_next(text + i, len - i);
	return n;
}

void escape_format(FILE *out, const char *text)
{
	print_literal(out, text, true);
}

/* --- names and paths --- */

/* <ctype.h> asks the locale */
static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

bool escape_is_identifier(const char *text)
{
	if (!is_word(*text) || (*text >= '0' && *text <= '9'))
		return false;
	while (is_word(*text))
		text++;
	return !*text;
}

bool escape_is_plain_path(const char *text)
{
	if (*text == '-')
		return false;
	while (*text && (is_word(*text) || strchr("/.+-@", *text)))
		text++;
	return !*text;
}
