// SPDX-License-Identifier: Apache-2.0
#include "base/numberfold_internal.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

enum { HEX_WORD = 8, LAST_BIT = 63 };

/* Stands for a number in a key. A text that has it itself is still told apart by what is around. */
static const char marker = 1;

/* Not of <ctype.h>: bytes above 127 are parts of letters, whatever the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (unsigned char)c > 127;
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Bytes of a hash, a UUID or a date that begins here; 0: none */
static size_t hex_word(const char *text)
{
	size_t len = 0, digits = 0, decimal = 0;

	while (is_hex(text[len]) || (text[len] == '-' && is_hex(text[len + 1]))) {
		digits += text[len] != '-';
		decimal += is_digit(text[len]);
		len++;
	}
	return digits >= HEX_WORD && decimal && !is_word(text[len]) ? len : 0;
}

/* Bytes of the number that begins here; 0: none */
static size_t number_at(const char *text, const char *first)
{
	size_t len;

	if (text > first && is_word(text[-1]))
		return 0;
	len = hex_word(text);
	if (len || !is_digit(*text))
		return len;
	while (is_digit(text[len]) || (text[len] == '.' && is_digit(text[len + 1])))
		len++;
	return len;
}

struct place {
	const char *at; /* the number; NULL: the first line has no more */
	size_t len;
};

static struct place next_number(const char *from, const char *text)
{
	for (const char *at = from; *at && *at != '\n'; at++) {
		size_t len = number_at(at, text);

		if (len)
			return (struct place){at, len};
	}
	return (struct place){NULL, 0};
}

/* A copy of the text with `by` in place of the numbers whose bits are set */
static char *replaced(const char *text, uint64_t bits, char by)
{
	char *copy = mem_zalloc(strlen(text) + 1, 1), *end = copy;
	const char *from = text;
	unsigned bit = 0;

	for (struct place next = next_number(text, text); next.at; next = next_number(from, text)) {
		end = mempcpy(end, from, (size_t)(next.at - from));
		if (bits >> bit & 1)
			*end++ = by;
		else
			end = mempcpy(end, next.at, next.len);
		from = next.at + next.len;
		bit += bit < LAST_BIT;
	}
	strcpy(end, from);
	return copy;
}

char *numberfold_key(const char *text)
{
	return replaced(text, UINT64_MAX, marker);
}

uint64_t numberfold_differing(const char *text, const char *other)
{
	struct place a = next_number(text, text), b = next_number(other, other);
	uint64_t bits = 0;

	for (unsigned bit = 0; a.at && b.at; bit += bit < LAST_BIT) {
		if (a.len != b.len || memcmp(a.at, b.at, a.len) != 0)
			bits |= UINT64_C(1) << bit;
		a = next_number(a.at + a.len, text);
		b = next_number(b.at + b.len, other);
	}
	return bits;
}

char *numberfold_text(const char *text, uint64_t differing)
{
	return replaced(text, differing, 'N');
}
