// SPDX-License-Identifier: Apache-2.0
#include "base/escape.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

static void put_escaped(FILE *out, const char *bytes, size_t len, uint32_t c)
{
	if (!len)
		fprintf(out, "\\x%02x", (unsigned char)*bytes);
	else if (!utf8_is_control(c))
		fwrite(bytes, 1, len, out);
	else if (c == '\n' || c == '\t' || c == '\r')
		fprintf(out, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	else
		fprintf(out, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c);
}

void escape_write(FILE *out, const char *bytes, size_t len)
{
	utf8_write(out, bytes, len, put_escaped);
}

void escape_print(FILE *out, const char *text)
{
	escape_write(out, text, strlen(text));
}

char *escape_text(const char *text)
{
	char *escaped = NULL;
	size_t len;
	FILE *out = open_memstream(&escaped, &len);

	if (!out)
		return mem_strdup("");
	escape_print(out, text);
	fclose(out);
	return escaped ? escaped : mem_strdup("");
}

/* --- comments --- */

/* Must text[i] be escaped in a comment? The marks that begin and end comments, and trigraphs, one
 * of which stands for a backslash, are made of characters that are fine alone. */
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

	for (size_t i = 0, n = 0; i < len; i += n, n = 0) {
		while (i + n < len && !breaks(text, i + n))
			n++;
		escape_write(out, text + i, n);
		if (i + n < len)
			fprintf(out, "\\x%02x", (unsigned char)text[i + n++]);
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

/* bpftrace 0.17 counts two conversions in "%%d", so no percent sign may stand before what looks
 * like a conversion. "%e" does not look like one to it, and Go's linker writes a dot in an import
 * path as "%2e". */
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

/* <ctype.h> depends on the locale */
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
