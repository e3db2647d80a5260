// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_literal_internal.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"
#include "probespec/probespec_col_internal.h"

#define UNITS "ns us ms s m h, KB MB GB, KiB MiB GiB"

static unsigned digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : UINT_MAX;
}

/* The offset after the base's prefix ("0x"), if there is one. */
static size_t read_base(const char *text, size_t at, unsigned *base)
{
	*base = 10;
	if (text[at] != '0')
		return at;
	switch (text[at + 1]) {
	case 'x':
	case 'X':
		*base = 16;
		return at + 2;
	case 'o':
	case 'O':
		*base = 8;
		return at + 2;
	case 'b':
	case 'B':
		*base = 2;
		return at + 2;
	}
	*base = isdigit((unsigned char)text[at + 1]) || text[at + 1] == '_' ? 8 : 10;
	return *base == 8 ? at + 1 : at;
}

static size_t word_end(const char *text, size_t at)
{
	while (isalnum((unsigned char)text[at]) || text[at] == '_' || (text[at] & 0x80))
		at++;
	return at;
}

/* Sets the error for text up to `end` that begins with a digit but is no number. Returns 0. */
static size_t bad_number(const char *text, size_t at, size_t end, struct errmsg *err)
{
	size_t digits = strspn(text + at, "0123456789"), letters = 0;

	while (at + digits + letters < end && isalpha((unsigned char)text[at + digits + letters]))
		letters++;
	probespec_col_error(err, at, "expected a number, found \"%.*s\"", (int)(end - at),
			    text + at);
	if (at + digits < end && digits + strspn(text + at + digits, "uUlL") == end - at)
		errmsg_hint(err, "numbers need no suffix");
	else if (letters && at + digits + letters == end && text[at] != '0')
		errmsg_hint(err, "units are " UNITS);
	return 0;
}

/* Reads a number with units, up to *end: 10ms 1.5s 1m30s 4KiB. */
static enum number_unit read_unit(const char *text, size_t at, uint64_t *out, size_t *end)
{
	bool prefixed = text[at] == '0' && isalnum((unsigned char)text[at + 1]);

	if (prefixed && !strchr("numsh", text[at + 1])) /* 0x1b */
		return NUMBER_NONE;
	*end = word_end(text, at);
	while (text[*end] == '.' && isdigit((unsigned char)text[*end + 1]))
		*end = word_end(text, *end + 1);
	return number_parse_unit(text + at, *end - at, out);
}

static size_t bad_unit(const char *text, size_t at, size_t end, struct errmsg *err)
{
	probespec_col_error(err, at, "\"%.*s\" is not a whole number of ns or bytes, or too large",
			    (int)(end - at), text + at);
	return 0;
}

static size_t bad_float(const char *text, size_t at, size_t end, struct errmsg *err)
{
	end = word_end(text, end + 1);
	probespec_col_error(err, at, "expected an integer, found \"%.*s\"", (int)(end - at),
			    text + at);
	errmsg_hint(err, "with a unit it may have a fraction: " UNITS);
	return 0;
}

size_t probespec_literal_number(const char *text, size_t at, uint64_t *out, struct errmsg *err)
{
	size_t end = word_end(text, at);
	uint64_t value = 0;
	unsigned base;
	size_t i = read_base(text, at, &base);
	/* Go's rule: one underscore, between digits or after the prefix */
	bool digit = i > at;

	size_t unit_end;
	enum number_unit unit = read_unit(text, at, out, &unit_end);

	if (unit == NUMBER_UNFIT)
		return bad_unit(text, at, unit_end, err);
	if (unit != NUMBER_NONE)
		return unit_end;
	if (text[end] == '.' && isdigit((unsigned char)text[end + 1]))
		return bad_float(text, at, end, err);
	if (i == end)
		return bad_number(text, at, end, err);
	for (; i < end; i++) {
		unsigned d = digit_value(text[i]);

		if (text[i] == '_' && digit) {
			digit = false;
			continue;
		}
		if (d >= base)
			return bad_number(text, at, end, err);
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, d, &value)) {
			probespec_col_error(err, at, "\"%.*s\" does not fit into 64 bits",
					    (int)(end - at), text + at);
			return 0;
		}
		digit = true;
	}
	*out = value;
	return digit ? end : bad_number(text, at, end, err);
}

/* --- escapes --- */

struct escape {
	uint32_t value;
	size_t end;
	bool is_byte; /* else a character, of up to four bytes in UTF-8 */
};

static bool read_digits(const char *text, size_t at, size_t min, size_t max, unsigned base,
			struct escape *out)
{
	uint64_t value = 0;
	size_t n = 0;

	while (n < max && digit_value(text[at + n]) < base)
		value = value * base + digit_value(text[at + n++]);
	out->value = value;
	out->end = at + n;
	return n >= min && value <= UINT32_MAX;
}

static bool is_character(uint32_t value)
{
	return value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
}

/* the value of \n and the like, by its letter; 0: no such escape */
static char simple_escape(char c)
{
	static const char letters[] = "abfnrtve\\'\"?", values[] = "\a\b\f\n\r\t\v\x1b\\'\"?";
	const char *found = c ? strchr(letters, c) : NULL;

	return found ? values[found - letters] : 0;
}

/* Reads the escape that begins with the backslash at text[at]. */
static int read_escape(const char *text, size_t at, struct escape *out, struct errmsg *err)
{
	char c = text[at + 1];
	bool good;

	*out = (struct escape){simple_escape(c), at + 2, true};
	if (out->value)
		return 0;
	switch (c) {
	case 'x':
		good = read_digits(text, at + 2, 2, 2, 16, out);
		break;
	case 'u':
	case 'U':
		good = read_digits(text, at + 2, c == 'u' ? 4 : 8, c == 'u' ? 4 : 8, 16, out) &&
		       is_character(out->value);
		out->is_byte = false;
		break;
	default:
		good = read_digits(text, at + 1, 1, 3, 8, out) && out->value <= UINT8_MAX;
	}
	if (good)
		return 0;
	return probespec_col_error(
		err, at, "expected an escape such as \\n, \\x1b or \\u00e9, found \"%.*s\"",
		c ? 2 : 1, text + at);
}

/* --- characters and strings --- */

static size_t bad_char(const char *text, size_t at, struct errmsg *err)
{
	const char *end = strchr(text + at + 1, '\'');

	if (!end) {
		probespec_col_error(err, at, "expected a closing ' before the end");
	} else {
		probespec_col_error(err, at, "expected one character between quotes, found %.*s",
				    (int)(end + 1 - (text + at)), text + at);
	}
	errmsg_hint(err, "write strings and formats in double quotes");
	return 0;
}

size_t probespec_literal_char(const char *text, size_t at, uint64_t *out, struct errmsg *err)
{
	struct escape escape = {0};

	if (text[at + 1] == '\\') {
		if (read_escape(text, at + 1, &escape, err))
			return 0;
	} else if (text[at + 1] != '\'') {
		escape.end = at + 1 +
			     utf8_decode(text + at + 1, strnlen(text + at + 1, 4), &escape.value);
	}
	if (escape.end <= at + 1 || text[escape.end] != '\'')
		return bad_char(text, at, err);
	*out = escape.value;
	return escape.end + 1;
}

size_t probespec_literal_end(const char *text, size_t at)
{
	for (at++; text[at]; at++) {
		if (text[at] == '"')
			return at + 1;
		if (text[at] == '\\' && text[at + 1])
			at++;
	}
	return 0;
}

static size_t encode(uint32_t c, char *out)
{
	static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = len - 1; i > 0; i--, c >>= 6)
		out[i] = 0x80 | (c & 0x3f);
	out[0] = leads[len] | c;
	return len;
}

static void append(struct probespec_string *out, const char *bytes, size_t len, size_t at)
{
	memcpy(out->bytes + out->len, bytes, len);
	for (size_t i = 0; i < len; i++)
		out->cols[out->len + i] = at + 1;
	out->len += len;
}

static int decode_literal(const char *text, size_t at, size_t end, struct probespec_string *out,
			  struct errmsg *err)
{
	struct escape escape;
	char bytes[4];

	while (at < end) {
		if (text[at] != '\\') {
			append(out, text + at, 1, at);
			at++;
			continue;
		}
		if (read_escape(text, at, &escape, err))
			return -1;
		bytes[0] = escape.value;
		append(out, bytes, escape.is_byte ? 1 : encode(escape.value, bytes), at);
		at = escape.end;
	}
	return 0;
}

int probespec_literal_string(const char *text, size_t at, struct probespec_string *out,
			     struct errmsg *err)
{
	size_t end = probespec_literal_end(text, at) - 1;

	/* no escape is shorter than its value */
	out->bytes = mem_zalloc(end - at + 1, 1);
	out->cols = mem_zalloc(end - at + 1, sizeof(*out->cols));
	out->len = 0;
	if (!decode_literal(text, at + 1, end, out, err)) {
		out->cols[out->len] = end + 1;
		return 0;
	}
	free(out->bytes);
	free(out->cols);
	return -1;
}
