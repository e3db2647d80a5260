// SPDX-License-Identifier: Apache-2.0
#include "base/number_internal.h"

#include <string.h>

#define NS_PER_S 1000000000u

static const struct unit {
	const char *name;
	enum number_unit is;
	uint64_t value;
} units[] = {
	{"ns", NUMBER_TIME, 1},
	{"us", NUMBER_TIME, 1000},
	{"\u00b5s", NUMBER_TIME, 1000},
	{"\u03bcs", NUMBER_TIME, 1000},
	{"ms", NUMBER_TIME, 1000000},
	{"s", NUMBER_TIME, NS_PER_S},
	{"m", NUMBER_TIME, 60ull * NS_PER_S},
	{"h", NUMBER_TIME, 3600ull * NS_PER_S},
	{"KB", NUMBER_SIZE, 1000},
	{"kB", NUMBER_SIZE, 1000},
	{"MB", NUMBER_SIZE, 1000000},
	{"GB", NUMBER_SIZE, 1000000000},
	{"KiB", NUMBER_SIZE, 1 << 10},
	{"MiB", NUMBER_SIZE, 1 << 20},
	{"GiB", NUMBER_SIZE, 1 << 30},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits; *end is then the first character that is none. */
static bool parse_digits(const char *text, uint64_t max, uint64_t *out, const char **end)
{
	uint64_t n = 0;

	for (; is_digit(*text); text++) {
		unsigned digit = *text - '0';

		if (digit > max || n > (max - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*out = n;
	*end = text;
	return true;
}

int number_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool number_parse(const char *text, uint64_t max, uint64_t *out)
{
	const char *end;

	return is_digit(*text) && parse_digits(text, max, out, &end) && !*end;
}

/* What follows the point, in ns; false: it is empty, or not only digits. */
static bool parse_fraction(const char *text, uint64_t *ns)
{
	uint64_t unit = NS_PER_S / 10;

	*ns = 0;
	if (!is_digit(*text))
		return false;
	for (; is_digit(*text); text++, unit /= 10)
		*ns += (*text - '0') * unit;
	return !*text;
}

bool number_parse_seconds(const char *text, uint64_t *ns)
{
	uint64_t whole, fraction = 0;
	const char *end;

	if (!is_digit(*text) && *text != '.')
		return false;
	if (!parse_digits(text, INT64_MAX / NS_PER_S - 1, &whole, &end))
		return false;
	if (*end && (*end != '.' || !parse_fraction(end + 1, &fraction)))
		return false;
	*ns = whole * NS_PER_S + fraction;
	return *ns > 0;
}

/* The unit that `text` begins with, up to the next digit; *taken: its length in bytes. */
static const struct unit *find_unit(const char *text, size_t len, size_t *taken)
{
	for (*taken = 0; *taken < len && !is_digit(text[*taken]); ++*taken)
		continue;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == *taken && !memcmp(units[i].name, text, *taken))
			return &units[i];
	return NULL;
}

enum { DIGITS_MAX = 19 }; /* 64 bits hold them */

/* For "1.5", *out is 15 and *parts is 10: the number is *out / *parts. Returns the bytes read; 0:
 * no number. One underscore may stand between digits. */
static size_t parse_decimal(const char *text, size_t len, uint64_t *out, uint64_t *parts)
{
	size_t at = 0, digits = 0;
	bool point = false;

	for (*out = 0, *parts = 1; at < len; at++) {
		bool between =
			at && is_digit(text[at - 1]) && at + 1 < len && is_digit(text[at + 1]);

		if (between && (text[at] == '_' || (text[at] == '.' && !point))) {
			point = point || text[at] == '.';
			continue;
		}
		if (!is_digit(text[at]))
			break;
		if (++digits > DIGITS_MAX)
			return 0;
		*out = *out * 10 + (text[at] - '0');
		*parts *= point ? 10 : 1;
	}
	return at;
}

/* One number with its unit is added to *out. */
static enum number_unit add_part(const char *text, size_t len, size_t *at, uint64_t *out)
{
	uint64_t number, parts;
	size_t digits = parse_decimal(text + *at, len - *at, &number, &parts), letters;
	const struct unit *unit = find_unit(text + *at + digits, len - *at - digits, &letters);

	if (!digits || !unit)
		return NUMBER_NONE;
	unsigned __int128 whole = (unsigned __int128)number * unit->value;

	if (whole % parts || whole / parts > INT64_MAX - *out)
		return NUMBER_UNFIT;
	*out += whole / parts;
	*at += digits + letters;
	return unit->is;
}

enum number_unit number_parse_unit(const char *text, size_t len, uint64_t *out)
{
	enum number_unit is = NUMBER_NONE, part;
	size_t at = 0;

	for (*out = 0; at < len; is = part) {
		part = add_part(text, len, &at, out);
		if (part != NUMBER_TIME && part != NUMBER_SIZE)
			return part;
		if (is != NUMBER_NONE && (is != NUMBER_TIME || part != NUMBER_TIME))
			return NUMBER_NONE;
	}
	return is;
}

bool number_parse_duration(const char *text, uint64_t *ns)
{
	if (number_parse_seconds(text, ns))
		return true;
	return number_parse_unit(text, strlen(text), ns) == NUMBER_TIME && *ns > 0;
}

bool number_parse_size(const char *text, uint64_t max, uint64_t *out)
{
	if (number_parse(text, max, out))
		return true;
	return number_parse_unit(text, strlen(text), out) == NUMBER_SIZE && *out <= max;
}
