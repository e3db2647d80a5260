// SPDX-License-Identifier: Apache-2.0
/* Verbs of strings and bytes. */
#include "base/escape.h"
#include "base/utf8.h"
#include "values/format_internal.h"
#include "values/value_text_internal.h"
#include "values/value_read_internal.h"

static size_t first_characters(const char *bytes, size_t len, int count)
{
	size_t at = 0;

	for (; at < len && count > 0; count--) {
		uint32_t c;
		size_t n = utf8_decode(bytes + at, len - at, &c);

		at += n ? n : 1;
	}
	return at;
}

static void print_hex(FILE *out, const struct format_text *text, bool upper)
{
	for (size_t i = 0; i < text->len; i++)
		fprintf(out, upper ? "%02X" : "%02x", (unsigned char)text->bytes[i]);
}

void format_print_text(FILE *out, const struct format_piece *piece, struct format_text text)
{
	size_t len = text.len;

	if (text.cut && (piece->verb == 's' || piece->verb == 'q'))
		len = value_whole_characters(text.bytes, len);
	if (piece->precision >= 0)
		len = piece->verb == 'x' || piece->verb == 'X'
			      ? (len < (size_t)piece->precision ? len : (size_t)piece->precision)
			      : first_characters(text.bytes, len, piece->precision);
	if (len < text.len && piece->precision >= 0)
		text.cut = false; /* cut as the format asks: no "..." is printed */
	text.len = len;
	if (piece->verb == 'x' || piece->verb == 'X')
		print_hex(out, &text, piece->verb == 'X');
	else if (piece->verb == 's')
		escape_write(out, text.bytes, len);
	else
		value_quote(out, text.bytes, len);
	if (text.cut)
		fputs("...", out);
}

static bool own_bytes(const struct value_source *source, const struct value_at *at,
		      struct format_text *text)
{
	uint64_t start = (uint64_t)at->shape->at + at->off, size = at->type->size;

	if (at->shape->holes || at->off > at->shape->size || start > source->len)
		return false;
	uint64_t there = at->shape->size - at->off;

	if (there > source->len - start)
		there = source->len - start;
	text->bytes = (const char *)source->record + start;
	text->len = size < there ? size : there;
	text->cut = text->len < size;
	return true;
}

bool format_get_text(const struct value_source *source, const struct value_at *at,
		     struct format_text *text)
{
	bool of_bytes = value_is_byte(at->type->elem);
	struct value_bytes bytes;

	*text = (struct format_text){.bytes = ""};
	text->owned = value_message_at(source, at, &text->len);
	if (text->owned) {
		text->bytes = text->owned;
		return true;
	}
	if (at->type->kind == GOTYPE_ARRAY && of_bytes)
		return own_bytes(source, at, text);
	if (at->type->kind != GOTYPE_STRING && !(at->type->kind == GOTYPE_SLICE && of_bytes))
		return false;
	enum value_got got = value_read_bytes(source, at, &bytes);

	if (got != VALUE_GOT)
		return got == VALUE_NIL;
	text->cut = bytes.len < bytes.count;
	text->len = text->cut ? bytes.len : (size_t)bytes.count;
	if (text->len)
		text->bytes = (const char *)bytes.bytes;
	return true;
}
