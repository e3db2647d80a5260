// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "values/format.h"
#include "values/format_internal.h"
#include "values/value_internal.h"
#include "values/value_read_internal.h"

/* %s, %q of a value with a text of its own, such as net.IP */
static bool print_known(FILE *out, const struct format_piece *piece,
			const struct value_source *source, const struct value_at *at)
{
	struct format_text text = {.owned = value_known_text(source, at, &text.len)};

	if (!text.owned)
		return false;
	text.bytes = text.owned;
	format_print_text(out, piece, text);
	free(text.owned);
	return true;
}

/* false: the verb does not fit the value */
static bool print_as(FILE *out, const struct format_piece *piece, const struct value_source *source,
		     const struct value_at *at)
{
	struct format_text text;
	struct format_number number;

	if (strchr("fFeEgG", piece->verb))
		return format_print_float(out, piece, source, at);
	if (strchr("sq", piece->verb) && print_known(out, piece, source, at))
		return true;
	if (strchr("sqxX", piece->verb) && format_get_text(source, at, &text)) {
		format_print_text(out, piece, text);
		free(text.owned);
		return true;
	}
	if (piece->verb == 's' || !format_get_number(source, at, &number) ||
	    (number.is_bool && !strchr("tdiu", piece->verb)) ||
	    (piece->verb == 't' && !number.is_bool && at->type->kind != GOTYPE_UNKNOWN) ||
	    (at->type->kind == GOTYPE_SLICE && piece->verb != 'p'))
		return false;
	format_print_number(out, piece, &number);
	return true;
}

static bool print_held(FILE *out, const struct format_piece *piece,
		       const struct value_source *source, const struct value_held *held)
{
	struct format_text text = {0};
	struct format_number number = {
		.value = (int64_t)held->word, .is_unsigned = true, .size = 8};

	if (piece->verb == 'p') {
		format_print_number(out, piece, &number);
		return true;
	}
	if (!held->type)
		return false;
	if (strchr("sqxX", piece->verb))
		text.owned = value_message(source, held, &text.len);
	text.bytes = text.owned;
	if (text.owned)
		format_print_text(out, piece, text);
	bool done = text.owned;

	free(text.owned);
	return done ||
	       (!held->pointer && !held->fault && print_as(out, piece, source, &held->value));
}

static bool print_interface(FILE *out, const struct format_piece *piece,
			    const struct value_source *source, const struct value_at *at)
{
	struct value_held held;

	if (value_read_held(source, at, &held) != VALUE_GOT)
		return false;
	bool done = print_held(out, piece, source, &held);

	value_held_free(&held);
	return done;
}

/* %s, %q */
static bool print_pair(FILE *out, const struct format_piece *piece,
		       const struct value_source *source, const struct value_at *at)
{
	enum value_pair is = value_pair_is(source, at);
	struct value_at text = value_pair_text(at);

	if (is == VALUE_PAIR_INTERFACE)
		return print_interface(out, piece, source, at);
	if (is != VALUE_PAIR_TEXT)
		return false;
	putc('?', out);
	return print_as(out, piece, source, &text);
}

static enum value_style style_of(const struct format_piece *piece)
{
	if (piece->verb == 's')
		return VALUE_TEXT;
	if (piece->verb != 'v')
		return VALUE_PLAIN;
	return piece->plus ? VALUE_DEEP : piece->sharp ? VALUE_GO : VALUE_PLAIN;
}

static void print_shape(FILE *out, const struct format_piece *piece, const struct shape *shape,
			const struct value_source *source)
{
	struct value_at at = value_of(shape);
	bool done = false;

	if (shape->type->kind == GOTYPE_PAIR && piece->verb != 'v')
		done = print_pair(out, piece, source, &at);
	else if (piece->verb != 'v')
		done = shape->type->kind == GOTYPE_INTERFACE
			       ? print_interface(out, piece, source, &at)
			       : print_as(out, piece, source, &at);
	if (!done)
		value_print(out, shape, source, style_of(piece));
}

static void mark(FILE *out, bool is_guess, const struct shape *shape,
		 const struct value_source *source)
{
	if (is_guess && !(shape && value_is_marked(shape, source)))
		putc('?', out);
}

static void print_arg(FILE *out, const struct format_piece *piece, const struct format_arg *arg,
		      const struct value_source *source)
{
	struct format_number number = {arg->number, arg->is_bool, arg->is_unsigned, 8};
	struct format_text text = {.bytes = arg->text ? arg->text : "", .owned = NULL};

	text.len = strlen(text.bytes);
	if (arg->kind == FORMAT_INT || arg->kind == FORMAT_SHAPE)
		mark(out, arg->is_guess, arg->shape, source);
	if (arg->kind == FORMAT_INT)
		format_print_number(out, piece, &number);
	else if (arg->kind == FORMAT_TEXT)
		format_print_text(out, piece, text);
	else if (arg->kind == FORMAT_SHAPE && arg->shape)
		print_shape(out, piece, arg->shape, source);
	else if (arg->kind == FORMAT_LIST)
		format_print_list(out, arg->list, arg->list_count, source, style_of(piece));
	else if (arg->kind == FORMAT_FAULT)
		escape_print(out, text.bytes);
	else
		putc('?', out);
}

static int count_characters(const char *text, size_t len)
{
	int count = 0;

	for (size_t i = 0; i < len; i++)
		count += (text[i] & 0xc0) != 0x80;
	return count;
}

static void print_padded(FILE *out, const struct format_piece *piece, const struct format_arg *arg,
			 const struct value_source *source)
{
	char *text = NULL;
	size_t len;
	FILE *buffer = open_memstream(&text, &len);

	if (!buffer)
		return;
	print_arg(buffer, piece, arg, source);
	fclose(buffer);
	int pad = piece->width - count_characters(text, len);

	for (int i = 0; i < pad && !piece->minus; i++)
		putc(' ', out);
	fwrite(text, 1, len, out);
	for (int i = 0; i < pad && piece->minus; i++)
		putc(' ', out);
	free(text);
}

void format_print_pieces(FILE *out, const struct format *format, size_t from, size_t to, size_t n,
			 const struct format_arg *args, size_t count,
			 const struct value_source *source)
{
	static const struct format_arg missing = {.kind = FORMAT_MISSING};

	for (size_t i = from; i < to; i++) {
		const struct format_piece *piece = &format->pieces[i];
		const struct format_arg *arg = n < count ? &args[n] : &missing;

		if (!piece->verb) {
			fwrite(piece->text, 1, piece->len, out);
			continue;
		}
		n++;
		if (piece->width)
			print_padded(out, piece, arg, source);
		else
			print_arg(out, piece, arg, source);
	}
}

void format_print(FILE *out, const struct format *format, const struct format_arg *args,
		  size_t count, const struct value_source *source)
{
	format_print_pieces(out, format, 0, format->count, 0, args, count, source);
}

/* false: a parameter without a name, or a result that the compiler named */
static bool has_name(const char *name)
{
	return name && *name && *name != '~' && strcmp(name, "_");
}

/* (*main.T)(0xc000012345), as Go's syntax has it; where there is a name it stands for the type. */
static void print_item_shape(FILE *out, const struct format_list_item *item,
			     const struct value_source *source, enum value_style style)
{
	bool typed = item->typed && !has_name(item->name) && !value_has_text(item->shape->type);

	if (typed) {
		putc('(', out);
		escape_print(out, item->shape->type->name);
		fputs(")(", out);
	}
	value_print(out, item->shape, source, style);
	fputs(typed ? ")" : "", out);
}

static void print_item(FILE *out, const struct format_list_item *item,
		       const struct value_source *source, enum value_style style)
{
	if (has_name(item->name)) {
		escape_print(out, item->name);
		putc('=', out);
	}
	if (item->shape) {
		mark(out, item->is_guess, item->shape, source);
		print_item_shape(out, item, source, item->deep ? VALUE_DEEP : style);
	} else {
		escape_print(out, item->fault ? item->fault : "?");
	}
}

/* after(b)=..., after(*goarg2)=... */
static void print_after(FILE *out, const struct format_list_item *item, size_t n,
			const struct value_source *source, enum value_style style)
{
	fputs(item->is_target ? "after(*" : "after(", out);
	if (has_name(item->name))
		escape_print(out, item->name);
	else
		fprintf(out, "goarg%zu", n + 1);
	fputs(")=", out);
	if (item->after) {
		mark(out, item->is_guess, item->after, source);
		value_print(out, item->after, source, style);
	} else {
		escape_print(out, item->after_fault);
	}
}

void format_print_list(FILE *out, const struct format_list_item *items, size_t count,
		       const struct value_source *source, enum value_style style)
{
	for (size_t i = 0; i < count; i++) {
		bool changed = items[i].after || items[i].after_fault;

		if (i)
			putc(' ', out);
		if (!changed || items[i].is_target)
			print_item(out, &items[i], source, style);
		if (changed && items[i].is_target)
			putc(' ', out);
		if (changed)
			print_after(out, &items[i], i, source, style);
	}
}
