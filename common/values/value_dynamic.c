// SPDX-License-Identifier: Apache-2.0
/* Values held by interfaces. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "values/value_internal.h"
#include "values/value_text_internal.h"
#include "values/value_read_internal.h"

static bool is_bare(const struct value_printer *printer)
{
	return printer->style == VALUE_PLAIN || printer->style == VALUE_TEXT;
}

/* prints an error by its message, or as *errors.errorString("message") */
static bool print_message(struct value_printer *printer, const struct value_held *held)
{
	size_t len;
	char *message = value_message(printer->source, held, &len);

	if (!message)
		return false;
	if (is_bare(printer)) {
		escape_write(printer->out, message, len);
	} else {
		value_print_name(printer, held->type);
		putc('(', printer->out);
		value_quote(printer->out, message, len);
		putc(')', printer->out);
	}
	free(message);
	return true;
}

/* "main.Color(", "(*main.T)(": as Go writes a conversion */
static void open_conversion(struct value_printer *printer, const struct gotype *type)
{
	bool parentheses = !type->defined && strcmp(type->name, "unsafe.Pointer") &&
			   (type->kind == GOTYPE_POINTER || type->kind == GOTYPE_CHAN ||
			    type->kind == GOTYPE_FUNC);

	if (parentheses)
		putc('(', printer->out);
	value_print_name(printer, type);
	fputs(parentheses ? ")(" : "(", printer->out);
}

static void print_pointer(struct value_printer *printer, const struct value_held *held)
{
	const struct value_at *to = &held->value;
	bool is_struct = to->type && to->type->kind == GOTYPE_STRUCT;
	bool shown = held->pointer && held->word && !held->fault &&
		     (to->shape->size || (to->type && !to->type->size));

	if (shown && (printer->style == VALUE_DEEP || (held->is_error && is_struct))) {
		putc(printer->style == VALUE_DEEP ? '&' : '*', printer->out);
		value_print_part(printer, to);
		return;
	}
	open_conversion(printer, held->type);
	if (held->word)
		value_print_address(printer, held->word);
	else
		fputs("nil", printer->out);
	putc(')', printer->out);
}

static bool is_nil(struct value_printer *printer, const struct value_held *held)
{
	struct value_bytes bytes;

	if (held->type->kind == GOTYPE_SLICE)
		return value_read_bytes(printer->source, &held->value, &bytes) == VALUE_NIL;
	return (held->type->kind == GOTYPE_MAP || held->type->kind == GOTYPE_FUNC) && !held->word;
}

/* Is the type's name needed, as in main.Color(3), since the value alone does not show its type? */
static bool needs_name(const struct value_printer *printer, const struct gotype *type)
{
	if (type->kind == GOTYPE_STRING)
		return type->defined && printer->style != VALUE_TEXT;
	return type->defined && type->kind <= GOTYPE_COMPLEX && !value_is_duration(type);
}

static void print_held(struct value_printer *printer, const struct value_held *held)
{
	const struct gotype *type = held->type;

	if (!type) {
		fputs("<unknown type>", printer->out); /* of a library, or made by reflect */
	} else if (type->kind == GOTYPE_POINTER || type->kind == GOTYPE_CHAN) {
		print_pointer(printer, held);
	} else if (is_nil(printer, held)) {
		open_conversion(printer, type);
		fputs("nil)", printer->out);
	} else if (held->fault && type->kind != GOTYPE_FUNC && type->kind != GOTYPE_MAP) {
		fputs(value_why(VALUE_FAULT), printer->out);
	} else if (needs_name(printer, type)) {
		open_conversion(printer, type);
		value_print_part(printer, &held->value);
		putc(')', printer->out);
	} else {
		value_print_at(printer, &held->value);
	}
}

void value_print_interface(struct value_printer *printer, const struct value_at *at)
{
	struct value_held held;
	enum value_got got = value_read_held(printer->source, at, &held);

	if (got != VALUE_GOT) {
		fputs(value_why(got), printer->out);
		return;
	}
	if (!print_message(printer, &held))
		print_held(printer, &held);
	value_held_free(&held);
}
