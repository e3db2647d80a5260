// SPDX-License-Identifier: Apache-2.0
#include "values/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "values/value_internal.h"
#include "values/value_text_internal.h"
#include "values/value_read_internal.h"

enum {
	DEPTH_MAX = 16,
	COUNT_MAX = 4096, /* values in one */
	ELEMENTS_SHOWN = 64,
};

static void print_why(struct value_printer *printer, enum value_got got)
{
	fputs(value_why(got), printer->out);
}

void value_print_name(struct value_printer *printer, const struct gotype *type)
{
	escape_print(printer->out, type->name);
}

static void print_bool(struct value_printer *printer, const struct value_at *at)
{
	int64_t n;
	enum value_got got = value_read_number(printer->source, at, &n);

	fputs(got != VALUE_GOT ? value_why(got) : n ? "true" : "false", printer->out);
}

static void print_number(struct value_printer *printer, const struct value_at *at)
{
	int64_t n;
	enum value_got got = value_read_number(printer->source, at, &n);

	if (got != VALUE_GOT)
		print_why(printer, got);
	else if (value_is_duration(at->type))
		value_print_duration(printer->out, n);
	else if (value_is_open_flags(at->type))
		value_print_open_flags(printer->out, n);
	else if (at->type->kind == GOTYPE_INT)
		fprintf(printer->out, "%" PRId64, n);
	else if (at->type->kind == GOTYPE_UINT && strcmp(at->type->name, "uintptr"))
		fprintf(printer->out, "%" PRIu64, (uint64_t)n);
	else
		fprintf(printer->out, "0x%" PRIx64, (uint64_t)n);
}

static void print_float(struct value_printer *printer, const struct value_at *at)
{
	double value;
	enum value_got got = value_read_floats(printer->source, at, &value, 1);

	if (got == VALUE_GOT)
		value_print_float(printer->out, value, at->type->size == 4 ? 32 : 64, false);
	else
		print_why(printer, got);
}

static void print_complex(struct value_printer *printer, const struct value_at *at)
{
	double parts[2];
	enum value_got got = value_read_floats(printer->source, at, parts, 2);
	int bits = at->type->size == 8 ? 32 : 64;

	if (got != VALUE_GOT) {
		print_why(printer, got);
		return;
	}
	putc('(', printer->out);
	value_print_float(printer->out, parts[0], bits, false);
	value_print_float(printer->out, parts[1], bits, true);
	fputs("i)", printer->out);
}

static void print_text(struct value_printer *printer, const struct value_bytes *bytes)
{
	const char *text = (const char *)bytes->bytes;
	bool cut = bytes->len < bytes->count;
	size_t len = cut ? bytes->len : (size_t)bytes->count;

	if (cut)
		len = value_whole_characters(text, len);
	if (printer->style == VALUE_TEXT)
		escape_write(printer->out, text, len);
	else
		value_quote(printer->out, text, len);
	if (cut)
		fputs("...", printer->out);
}

static void print_string(struct value_printer *printer, const struct value_at *at)
{
	struct value_bytes bytes;
	enum value_got got = value_read_bytes(printer->source, at, &bytes);

	if (got == VALUE_GOT && bytes.count && !bytes.ref) /* its bytes were not asked for */
		got = VALUE_CUT;
	if (got == VALUE_GOT)
		print_text(printer, &bytes);
	else
		print_why(printer, got);
}

uint64_t value_slice_there(const struct value_bytes *bytes, const struct gotype *elem)
{
	uint64_t there = elem->size ? bytes->len / elem->size : ELEMENTS_SHOWN;

	return there < bytes->count ? there : bytes->count;
}

void value_slice_element(const struct value_bytes *bytes, const struct gotype *elem, uint64_t index,
			 struct value_element *out)
{
	const struct shape_ref *ref = bytes->ref;

	if (ref && index < ref->elem_count) {
		out->plain = ref->elems[index];
	} else {
		out->plain = (struct shape){.type = elem, .size = (uint32_t)elem->size};
		out->plain.at = (ref ? ref->at : 0) + (uint32_t)(index * elem->size);
	}
	/* an element that was not read completely counts as missing */
	if (ref && out->plain.at + (uint64_t)out->plain.size > ref->at + (uint64_t)bytes->len)
		out->plain.size = 0;
	out->at = value_of(&out->plain);
	out->at.type = elem;
}

static void print_slice_elements(struct value_printer *printer, const struct value_at *at,
				 const struct value_bytes *bytes)
{
	uint64_t there = value_slice_there(bytes, at->type->elem);

	putc('{', printer->out);
	for (uint64_t i = 0; i < there; i++) {
		struct value_element element;

		if (i)
			fputs(", ", printer->out);
		value_slice_element(bytes, at->type->elem, i, &element);
		value_print_part(printer, &element.at);
	}
	if (there < bytes->count)
		fputs(there ? ", ..." : "...", printer->out);
	putc('}', printer->out);
}

/* Is it printed as []byte("text")? Defined types, as net.IP, only if all bytes are printable. */
static bool is_byte_text(const struct value_printer *printer, const struct gotype *type,
			 const struct value_bytes *bytes)
{
	if (!value_is_byte(type->elem))
		return false;
	return !type->defined || printer->style == VALUE_TEXT ||
	       value_is_printable((const char *)bytes->bytes, bytes->len);
}

static void print_byte_slice(struct value_printer *printer, const struct value_at *at,
			     const struct value_bytes *bytes)
{
	if (printer->style == VALUE_TEXT) {
		print_text(printer, bytes);
		return;
	}
	if (at->type->defined)
		value_print_name(printer, at->type);
	else
		fputs("[]byte", printer->out);
	putc('(', printer->out);
	print_text(printer, bytes);
	putc(')', printer->out);
}

static void print_slice(struct value_printer *printer, const struct value_at *at)
{
	struct value_bytes bytes;
	enum value_got got = value_read_bytes(printer->source, at, &bytes);

	if (got != VALUE_GOT || !at->type->elem) {
		print_why(printer, got == VALUE_GOT ? VALUE_CUT : got);
	} else if (is_byte_text(printer, at->type, &bytes)) {
		print_byte_slice(printer, at, &bytes);
	} else {
		value_print_name(printer, at->type);
		print_slice_elements(printer, at, &bytes);
	}
}

static bool is_beyond(const struct value_at *at, uint64_t off, uint64_t size)
{
	return size && at->off + off >= at->shape->size;
}

static void print_array(struct value_printer *printer, const struct value_at *at)
{
	const struct gotype *elem = at->type->elem;

	value_print_name(printer, at->type);
	putc('{', printer->out);
	for (uint64_t i = 0; elem && i < at->type->count; i++) {
		struct value_at part = {at->shape, elem, at->off + (uint32_t)(i * elem->size)};

		if (i)
			fputs(", ", printer->out);
		if (is_beyond(at, i * elem->size, elem->size) ||
		    (!elem->size && i == ELEMENTS_SHOWN)) {
			fputs("...", printer->out);
			break;
		}
		value_print_part(printer, &part);
	}
	putc('}', printer->out);
}

static void print_struct(struct value_printer *printer, const struct value_at *at)
{
	if (value_print_time(printer->out, printer->source, at))
		return;
	value_print_name(printer, at->type);
	putc('{', printer->out);
	for (size_t i = 0; i < at->type->field_count; i++) {
		const struct gotype_field *field = &at->type->fields[i];
		struct value_at part = {at->shape, field->type, at->off + (uint32_t)field->off};

		if (i)
			fputs(", ", printer->out);
		if (is_beyond(at, field->off, field->type->size) || printer->count > COUNT_MAX) {
			fputs("...", printer->out);
			break;
		}
		if (*field->name) {
			escape_print(printer->out, field->name);
			putc(':', printer->out);
		}
		value_print_part(printer, &part);
	}
	putc('}', printer->out);
}

static bool print_pointee(struct value_printer *printer, const struct value_at *at)
{
	struct value_pointee pointee;

	if (printer->style != VALUE_DEEP || !value_ref(at, SHAPE_POINTEE))
		return false;
	enum value_got got = value_read_pointee(printer->source, at, &pointee);

	putc('&', printer->out);
	if (got == VALUE_GOT)
		value_print_part(printer, &pointee.at);
	else
		print_why(printer, got);
	return true;
}

void value_print_address(struct value_printer *printer, uint64_t addr)
{
	if (printer->source->no_addresses)
		fputs("0x...", printer->out);
	else
		fprintf(printer->out, "0x%" PRIx64, addr);
}

static void print_pointer(struct value_printer *printer, const struct value_at *at)
{
	uint64_t pointer;
	enum value_got got = value_read_word(printer->source, at, 0, &pointer);

	if (got != VALUE_GOT || !pointer)
		print_why(printer, got == VALUE_GOT ? VALUE_NIL : got);
	else if (!print_pointee(printer, at))
		value_print_address(printer, pointer);
}

static const char *function_name(const struct value_source *source, const struct value_at *at)
{
	const struct shape_ref *ref = value_ref(at, SHAPE_CODE);
	uint64_t code;
	uint32_t len;

	if (!ref || !source->func || value_ref_bytes(source, ref, &len) != VALUE_GOT || len < 8)
		return NULL;
	memcpy(&code, source->record + ref->at, sizeof(code));
	return source->func(source->ctx, code - source->bias);
}

static void print_func(struct value_printer *printer, const struct value_at *at)
{
	const char *name = function_name(printer->source, at);
	uint64_t closure;

	if (value_read_word(printer->source, at, 0, &closure) == VALUE_GOT && closure && name)
		escape_print(printer->out, name);
	else
		print_pointer(printer, at);
}

typedef void print_fn(struct value_printer *printer, const struct value_at *at);

static print_fn *printer_of(enum gotype_kind kind)
{
	static print_fn *const of_kind[] = {
		[GOTYPE_UNKNOWN] = print_number,
		[GOTYPE_BOOL] = print_bool,
		[GOTYPE_INT] = print_number,
		[GOTYPE_UINT] = print_number,
		[GOTYPE_FLOAT] = print_float,
		[GOTYPE_COMPLEX] = print_complex,
		[GOTYPE_STRING] = print_string,
		[GOTYPE_SLICE] = print_slice,
		[GOTYPE_ARRAY] = print_array,
		[GOTYPE_STRUCT] = print_struct,
		[GOTYPE_POINTER] = print_pointer,
		[GOTYPE_MAP] = value_print_map,
		[GOTYPE_CHAN] = print_pointer,
		[GOTYPE_FUNC] = print_func,
		[GOTYPE_INTERFACE] = value_print_interface,
		[GOTYPE_PAIR] = value_print_pair,
	};

	return of_kind[kind];
}

/* prints the value as its String() method would */
static bool print_known(struct value_printer *printer, const struct value_at *at)
{
	size_t len;
	char *text = value_known_text(printer->source, at, &len);

	if (text)
		escape_write(printer->out, text, len);
	free(text);
	return text;
}

void value_print_at(struct value_printer *printer, const struct value_at *at)
{
	if (printer->depth >= DEPTH_MAX || printer->count++ > COUNT_MAX) {
		fputs("...", printer->out);
		return;
	}
	printer->depth++;
	if (!print_known(printer, at))
		printer_of(at->type->kind)(printer, at);
	printer->depth--;
}

void value_print_part(struct value_printer *printer, const struct value_at *at)
{
	enum value_style style = printer->style;

	printer->style = style == VALUE_DEEP ? VALUE_DEEP : VALUE_GO;
	value_print_at(printer, at);
	printer->style = style;
}

/* a syscall.Errno that is not in an interface */
static bool print_message(struct value_printer *printer, const struct value_at *at)
{
	size_t len;
	char *message = printer->style == VALUE_PLAIN || printer->style == VALUE_TEXT
				? value_message_at(printer->source, at, &len)
				: NULL;

	if (message)
		escape_write(printer->out, message, len);
	free(message);
	return message;
}

void value_print(FILE *out, const struct shape *shape, const struct value_source *source,
		 enum value_style style)
{
	struct value_printer printer = {.out = out, .source = source, .style = style};
	struct value_at at = value_of(shape);

	if (!print_message(&printer, &at))
		value_print_at(&printer, &at);
}

static bool is_integer(enum gotype_kind kind)
{
	return kind == GOTYPE_INT || kind == GOTYPE_UINT || kind == GOTYPE_BOOL ||
	       kind == GOTYPE_UNKNOWN || kind == GOTYPE_POINTER || kind == GOTYPE_MAP ||
	       kind == GOTYPE_CHAN || kind == GOTYPE_FUNC;
}

bool value_int(const struct shape *shape, const struct value_source *source, int64_t *out)
{
	struct value_at at = value_of(shape);

	return is_integer(at.type->kind) && value_read_number(source, &at, out) == VALUE_GOT;
}
