// SPDX-License-Identifier: Apache-2.0
/* Verbs of numbers, which take C's flags. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "values/format_internal.h"
#include "values/value_text_internal.h"
#include "values/value_read_internal.h"

/* Encodes a character in UTF-8, U+FFFD if it is none. Returns how many bytes. */
static size_t encode(int64_t value, char bytes[4])
{
	static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
	bool valid = value >= 0 && value <= 0x10ffff && !(value >= 0xd800 && value <= 0xdfff);
	uint32_t c = valid ? (uint32_t)value : 0xfffd;
	size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = size - 1; i > 0; i--, c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)(lead[size] | c);
	return size;
}

static void print_rune(FILE *out, int64_t value, bool quoted)
{
	char bytes[4];
	size_t size = encode(value, bytes);

	if (quoted)
		putc('\'', out);
	escape_write(out, bytes, size);
	if (quoted)
		putc('\'', out);
}

/* the bits of a negative number, in its type's size: in hexadecimal it is printed as in C */
static uint64_t unsigned_bits(const struct format_number *number)
{
	uint64_t bits = (uint64_t)number->value;

	return number->size < 8 ? bits & ((1ull << 8 * number->size) - 1) : bits;
}

static bool is_signed(const struct format_number *number, char verb)
{
	return !number->is_unsigned && (verb == 'd' || verb == 'i' || verb == 'v');
}

static void print_digits(char *out, size_t size, const struct format_number *number, char verb)
{
	uint64_t bits = unsigned_bits(number);

	if (is_signed(number, verb))
		snprintf(out, size, "%" PRIu64,
			 number->value < 0 ? -(uint64_t)number->value : (uint64_t)number->value);
	else if (verb == 'x' || verb == 'p')
		snprintf(out, size, "%" PRIx64, bits);
	else if (verb == 'X')
		snprintf(out, size, "%" PRIX64, bits);
	else if (verb == 'o')
		snprintf(out, size, "%" PRIo64, bits);
	else
		snprintf(out, size, "%" PRIu64, bits);
}

static const char *prefix_of(const struct format_piece *piece, const struct format_number *number)
{
	if (is_signed(number, piece->verb))
		return number->value < 0 ? "-" : piece->plus && piece->verb != 'v' ? "+" : "";
	if (piece->verb == 'p' || (piece->verb == 'x' && piece->sharp))
		return "0x";
	return piece->verb == 'X' && piece->sharp ? "0X" : "";
}

static void print_as_digits(FILE *out, const struct format_piece *piece,
			    const struct format_number *number)
{
	char digits[32];
	const char *prefix = prefix_of(piece, number);
	int least = piece->precision;

	print_digits(digits, sizeof(digits), number, piece->verb);
	if (least < 0 && piece->zero && !piece->minus)
		least = piece->width - (int)strlen(prefix);
	fputs(prefix, out);
	for (int missing = least - (int)strlen(digits); missing > 0; missing--)
		putc('0', out);
	fputs(digits, out);
}

void format_print_number(FILE *out, const struct format_piece *piece,
			 const struct format_number *number)
{
	if (piece->verb == 't' || (piece->verb == 'v' && number->is_bool))
		fputs(number->value ? "true" : "false", out);
	else if (piece->verb == 'c' || piece->verb == 'q')
		print_rune(out, number->value, piece->verb == 'q');
	else
		print_as_digits(out, piece, number);
}

bool format_get_number(const struct value_source *source, const struct value_at *at,
		       struct format_number *number)
{
	enum gotype_kind kind = at->type->kind;
	struct value_at word = *at;
	struct gotype pointer = {.kind = GOTYPE_UINT, .size = 8};

	*number = (struct format_number){.is_bool = kind == GOTYPE_BOOL, .size = 8};
	if (kind == GOTYPE_SLICE) /* %p: where its elements are */
		word.type = &pointer;
	else if (kind == GOTYPE_FLOAT || kind == GOTYPE_COMPLEX || kind == GOTYPE_STRING ||
		 kind == GOTYPE_ARRAY || kind == GOTYPE_STRUCT || kind == GOTYPE_INTERFACE ||
		 kind == GOTYPE_PAIR)
		return false;
	number->is_unsigned = kind != GOTYPE_INT;
	if (word.type->size < 8)
		number->size = (unsigned)word.type->size;
	return value_read_number(source, &word, &number->value) == VALUE_GOT;
}

enum { NUMBER_MAX = 1500 }; /* characters: the largest precision and the largest number together */

bool format_print_float(FILE *out, const struct format_piece *piece,
			const struct value_source *source, const struct value_at *at)
{
	char verb[16], text[NUMBER_MAX];
	double value;

	if (at->type->kind != GOTYPE_FLOAT || value_read_floats(source, at, &value, 1) != VALUE_GOT)
		return false;
	if (piece->precision < 0 && (piece->verb == 'g' || piece->verb == 'G')) {
		value_print_float(out, value, at->type->size == 4 ? 32 : 64, piece->plus);
		return true;
	}
	bool zero = piece->zero && !piece->minus;

	snprintf(verb, sizeof(verb), "%%%s%s*.*%c", piece->plus ? "+" : "", zero ? "0" : "",
		 piece->verb);
	snprintf(text, sizeof(text), verb, zero ? piece->width : 0,
		 piece->precision < 0 ? 6 : piece->precision, value);
	fputs(text, out);
	return true;
}
