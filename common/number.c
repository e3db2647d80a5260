// SPDX-License-Identifier: Apache-2.0
#include "number.h"

#define NS_PER_S 1000000000u

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads digits up to the first other character, which *end is then at. */
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

bool number_parse(const char *text, uint64_t max, uint64_t *out)
{
	const char *end;

	return is_digit(*text) && parse_digits(text, max, out, &end) && !*end;
}

/* What follows the point, as ns; false: nothing, or something else than digits. */
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
