// SPDX-License-Identifier: Apache-2.0
#include "values/value_text_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Is it printable in Go's sense? Not printable are controls, spaces other than ' ', format
 * characters, private use and noncharacters; unassigned code points count as printable. */
static bool is_graphic(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} not_printed[] = {
		{0, 0x1f},          {0x7f, 0xa0},       {0xad, 0xad},        {0x600, 0x605},
		{0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},      {0x890, 0x891},
		{0x8e2, 0x8e2},     {0x1680, 0x1680},   {0x180e, 0x180e},    {0x2000, 0x200f},
		{0x2028, 0x202f},   {0x205f, 0x206f},   {0x3000, 0x3000},    {0xd800, 0xf8ff},
		{0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xfff0, 0xfffb},    {0xfffe, 0xffff},
		{0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},  {0x1bca0, 0x1bca3},
		{0x1d173, 0x1d17a}, {0xe0000, 0xe00ff}, {0xe01f0, 0x10ffff},
	};

	for (size_t i = 0; i < sizeof(not_printed) / sizeof(not_printed[0]); i++) {
		if (c >= not_printed[i].first && c <= not_printed[i].last)
			return false;
	}
	return true;
}

static bool quote_short(FILE *out, uint32_t c)
{
	static const char escaped[] = "\a\b\f\n\r\t\v\\\"", letters[] = "abfnrtv\\\"";
	const char *found = c && c < 0x80 ? strchr(escaped, (int)c) : NULL;

	if (found)
		fprintf(out, "\\%c", letters[found - escaped]);
	return found;
}

static void quote_character(FILE *out, const char *bytes, size_t len, uint32_t c)
{
	if (!len)
		fprintf(out, "\\x%02x", (unsigned char)*bytes);
	else if (quote_short(out, c))
		return;
	else if (is_graphic(c))
		fwrite(bytes, 1, len, out);
	else if (c < 0x80)
		fprintf(out, "\\x%02x", (unsigned)c);
	else if (c < 0x10000)
		fprintf(out, "\\u%04x", (unsigned)c);
	else
		fprintf(out, "\\U%08x", (unsigned)c);
}

void value_quote(FILE *out, const char *bytes, size_t len)
{
	putc('"', out);
	utf8_write(out, bytes, len, quote_character);
	putc('"', out);
}

/* the length of a character that begins with this byte */
static size_t character_size(unsigned char lead)
{
	if (lead < 0xc2 || lead > 0xf4)
		return 1;
	return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

size_t value_whole_characters(const char *bytes, size_t len)
{
	for (size_t back = 1; back <= 3 && back <= len; back++) {
		unsigned char c = (unsigned char)bytes[len - back];

		if ((c & 0xc0) == 0x80)
			continue;
		return character_size(c) > back ? len - back : len;
	}
	return len;
}

bool value_is_printable(const char *bytes, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c;

		n = utf8_decode(bytes + i, len - i, &c);
		if (!n || !is_graphic(c))
			return false;
	}
	return true;
}

bool value_is_text(const char *bytes, size_t len)
{
	bool any = false;

	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c;

		n = utf8_decode(bytes + i, len - i, &c);
		if (!n || (!is_graphic(c) && c != '\t' && c != '\n' && c != '\r'))
			return false;
		any |= c > ' ';
	}
	return any;
}

/* The shortest digits, with exponent, that read back as `value`, which is finite and not negative:
 * "1.25e+01". */
static void shortest(double value, int bits, char *text, size_t size)
{
	for (int digits = 0; digits < 17; digits++) {
		snprintf(text, size, "%.*e", digits, value);
		if (bits == 32 ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
			return;
	}
}

/* prints the number digits[0].digits[1..]e`exponent` without an exponent, as %f does */
static void print_plain(FILE *out, const char *digits, int exponent)
{
	int count = (int)strlen(digits);

	if (exponent < 0) {
		fprintf(out, "0.%.*s%s", -exponent - 1, "0000", digits);
		return;
	}
	for (int i = 0; i < count || i <= exponent; i++) {
		if (i == exponent + 1)
			putc('.', out);
		putc(i < count ? digits[i] : '0', out);
	}
}

static void print_finite(FILE *out, double value, int bits)
{
	enum { MOST_PLAIN = 5, LEAST_PLAIN = -4 };
	char text[40], digits[24] = "";

	shortest(value, bits, text, sizeof(text));
	char *e = strchr(text, 'e');
	int exponent = e ? atoi(e + 1) : 0;

	digits[0] = text[0];
	if (e && text[1] == '.')
		memcpy(digits + 1, text + 2, (size_t)(e - text - 2));
	if (exponent < LEAST_PLAIN || exponent > MOST_PLAIN)
		fputs(text, out);
	else
		print_plain(out, digits, exponent);
}

void value_print_float(FILE *out, double value, int bits, bool plus)
{
	if (isnan(value)) {
		fputs(plus ? "+NaN" : "NaN", out);
		return;
	}
	if (isinf(value)) {
		fputs(value < 0 ? "-Inf" : "+Inf", out);
		return;
	}
	if (signbit(value))
		putc('-', out);
	else if (plus)
		putc('+', out);
	print_finite(out, fabs(value), bits);
}
