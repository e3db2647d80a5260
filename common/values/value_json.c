// SPDX-License-Identifier: Apache-2.0
/* Values as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "values/value_internal.h"
#include "values/value_text_internal.h"
#include "values/value_read_internal.h"

enum {
	DEPTH_MAX = 16,
	COUNT_MAX = 4096,
};

struct writer {
	struct json *json;
	const struct value_source *source;
	unsigned depth, count;
};

static void write_value(struct writer *writer, const struct value_at *at);

/* writes the value as a string in Go's notation */
static void write_in_style(struct writer *writer, const struct value_at *at, enum value_style style)
{
	char *text = NULL;
	size_t len;
	struct value_printer printer = {.source = writer->source, .style = style};

	printer.out = open_memstream(&text, &len);
	if (!printer.out) {
		json_null(writer->json);
		return;
	}
	value_print_part(&printer, at);
	fclose(printer.out);
	json_bytes(writer->json, text, len);
	free(text);
}

/* as a string; of a map with the entries that were read */
static void write_notation(struct writer *writer, const struct value_at *at)
{
	write_in_style(writer, at, at->type->kind == GOTYPE_MAP ? VALUE_DEEP : VALUE_GO);
}

static void write_why(struct writer *writer, enum value_got got)
{
	json_string(writer->json, got == VALUE_NIL ? NULL : value_why(got));
}

static void write_number(struct writer *writer, const struct value_at *at)
{
	int64_t n;
	enum value_got got = value_read_number(writer->source, at, &n);

	if (got != VALUE_GOT)
		write_why(writer, got);
	else if (at->type->kind == GOTYPE_BOOL)
		json_bool(writer->json, n);
	else if (at->type->kind == GOTYPE_INT)
		json_i64(writer->json, n);
	else
		json_u64(writer->json, (uint64_t)n);
}

static void write_float(struct writer *writer, const struct value_at *at)
{
	char *text = NULL;
	size_t len;
	double value;
	enum value_got got = value_read_floats(writer->source, at, &value, 1);

	if (got != VALUE_GOT || !isfinite(value)) { /* JSON has no infinity */
		write_notation(writer, at);
		return;
	}
	FILE *out = open_memstream(&text, &len);

	if (!out) {
		json_null(writer->json);
		return;
	}
	value_print_float(out, value, at->type->size == 4 ? 32 : 64, false);
	fclose(out);
	json_number(writer->json, text);
	free(text);
}

static void write_text(struct writer *writer, const struct value_bytes *bytes)
{
	if (bytes->len >= bytes->count) {
		json_bytes(writer->json, (const char *)bytes->bytes, (size_t)bytes->count);
		return;
	}
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out) {
		json_null(writer->json);
		return;
	}
	if (bytes->len)
		fwrite(bytes->bytes, 1,
		       value_whole_characters((const char *)bytes->bytes, bytes->len), out);
	fputs("...", out);
	fclose(out);
	json_bytes(writer->json, text, len);
	free(text);
}

static void write_string(struct writer *writer, const struct value_at *at)
{
	struct value_bytes bytes;
	enum value_got got = value_read_bytes(writer->source, at, &bytes);

	if (got == VALUE_GOT)
		write_text(writer, &bytes);
	else
		write_why(writer, got);
}

static void write_elements(struct writer *writer, const struct value_at *at,
			   const struct value_bytes *bytes)
{
	uint64_t there = value_slice_there(bytes, at->type->elem);

	json_array(writer->json);
	for (uint64_t i = 0; i < there; i++) {
		struct value_element element;

		value_slice_element(bytes, at->type->elem, i, &element);
		write_value(writer, &element.at);
	}
	if (there < bytes->count)
		json_string(writer->json, "...");
	json_array_end(writer->json);
}

static void write_slice(struct writer *writer, const struct value_at *at)
{
	struct value_bytes bytes;
	enum value_got got = value_read_bytes(writer->source, at, &bytes);

	if (got != VALUE_GOT || !at->type->elem)
		write_why(writer, got == VALUE_GOT ? VALUE_CUT : got);
	else if (!value_is_byte(at->type->elem))
		write_elements(writer, at, &bytes);
	else if (value_is_printable((const char *)bytes.bytes, bytes.len))
		write_text(writer, &bytes);
	else
		write_notation(writer, at);
}

static bool is_beyond(const struct value_at *at, uint64_t off, uint64_t size)
{
	return size && at->off + off >= at->shape->size;
}

static void write_array(struct writer *writer, const struct value_at *at)
{
	const struct gotype *elem = at->type->elem;

	json_array(writer->json);
	for (uint64_t i = 0; elem && i < at->type->count; i++) {
		struct value_at part = {at->shape, elem, at->off + (uint32_t)(i * elem->size)};

		if (is_beyond(at, i * elem->size, elem->size) || writer->count > COUNT_MAX) {
			json_string(writer->json, "...");
			break;
		}
		write_value(writer, &part);
	}
	json_array_end(writer->json);
}

static void write_struct(struct writer *writer, const struct value_at *at)
{
	/* where only raw words are known, they have no names */
	bool named = !at->type->field_count || *at->type->fields[0].name;

	(named ? json_object : json_array)(writer->json);
	for (size_t i = 0; i < at->type->field_count && writer->count <= COUNT_MAX; i++) {
		const struct gotype_field *field = &at->type->fields[i];
		struct value_at part = {at->shape, field->type, at->off + (uint32_t)field->off};

		if (named)
			json_key(writer->json, field->name);
		if (is_beyond(at, field->off, field->type->size))
			json_string(writer->json, "...");
		else
			write_value(writer, &part);
	}
	(named ? json_object_end : json_array_end)(writer->json);
}

static void write_struct_or_time(struct writer *writer, const struct value_at *at)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool is_time = out && value_print_rfc3339(out, writer->source, at);

	if (out)
		fclose(out);
	if (is_time)
		json_bytes(writer->json, text, len);
	else
		write_struct(writer, at);
	free(text);
}

static bool is_nil(struct writer *writer, const struct value_at *at)
{
	uint64_t word;

	return value_read_word(writer->source, at, 0, &word) == VALUE_GOT && !word;
}

static bool write_pointee(struct writer *writer, const struct value_at *at)
{
	struct value_pointee pointee;

	if (value_read_pointee(writer->source, at, &pointee) != VALUE_GOT)
		return false;
	write_value(writer, &pointee.at);
	return true;
}

static void write_pointer(struct writer *writer, const struct value_at *at)
{
	if (is_nil(writer, at))
		json_null(writer->json);
	else if (at->type->kind != GOTYPE_POINTER || !write_pointee(writer, at))
		write_notation(writer, at);
}

/* an error's message; else the value that the interface holds, as if it were there directly */
static void write_held(struct writer *writer, const struct value_at *at,
		       const struct value_held *held)
{
	size_t len;
	char *message = value_message(writer->source, held, &len);

	if (message)
		json_bytes(writer->json, message, len);
	else if (held->pointer && !held->is_error)
		write_in_style(writer, at,
			       VALUE_DEEP); /* with what it points to, if that was read */
	else if (!held->type || held->pointer || held->fault || held->type->kind == GOTYPE_CHAN)
		write_notation(writer, at);
	else
		write_value(writer, &held->value);
	free(message);
}

static void write_interface(struct writer *writer, const struct value_at *at)
{
	struct value_held held;
	enum value_got got = value_read_held(writer->source, at, &held);

	if (got != VALUE_GOT) {
		write_why(writer, got);
		return;
	}
	write_held(writer, at, &held);
	value_held_free(&held);
}

static void write_words(struct writer *writer, const struct value_at *at)
{
	json_array(writer->json);
	for (uint32_t off = 0; off < 16; off += 8) {
		uint64_t word;
		enum value_got got = value_read_word(writer->source, at, off, &word);

		if (got == VALUE_GOT)
			json_u64(writer->json, word);
		else
			write_why(writer, got);
	}
	json_array_end(writer->json);
}

/* {"guess": "bob"} */
static void write_pair(struct writer *writer, const struct value_at *at)
{
	enum value_pair is = value_pair_is(writer->source, at);
	struct value_at text = value_pair_text(at);

	if (is == VALUE_PAIR_INTERFACE) {
		write_interface(writer, at);
	} else if (is == VALUE_PAIR_TEXT) {
		json_object(writer->json);
		json_key(writer->json, "guess");
		write_string(writer, &text);
		json_object_end(writer->json);
	} else {
		write_words(writer, at);
	}
}

typedef void write_fn(struct writer *writer, const struct value_at *at);

/* as a string, as its String() method gives it */
static bool write_known(struct writer *writer, const struct value_at *at)
{
	size_t len;
	char *text = value_known_text(writer->source, at, &len);

	if (text)
		json_bytes(writer->json, text, len);
	free(text);
	return text;
}

static write_fn *writer_of(enum gotype_kind kind)
{
	static write_fn *const of_kind[] = {
		[GOTYPE_UNKNOWN] = write_number,      [GOTYPE_BOOL] = write_number,
		[GOTYPE_INT] = write_number,          [GOTYPE_UINT] = write_number,
		[GOTYPE_FLOAT] = write_float,         [GOTYPE_COMPLEX] = write_notation,
		[GOTYPE_STRING] = write_string,       [GOTYPE_SLICE] = write_slice,
		[GOTYPE_ARRAY] = write_array,         [GOTYPE_STRUCT] = write_struct_or_time,
		[GOTYPE_POINTER] = write_pointer,     [GOTYPE_MAP] = write_pointer,
		[GOTYPE_CHAN] = write_pointer,        [GOTYPE_FUNC] = write_pointer,
		[GOTYPE_INTERFACE] = write_interface, [GOTYPE_PAIR] = write_pair,
	};

	return of_kind[kind];
}

static void write_value(struct writer *writer, const struct value_at *at)
{
	if (writer->depth >= DEPTH_MAX || writer->count++ > COUNT_MAX) {
		json_string(writer->json, "...");
		return;
	}
	writer->depth++;
	if (!write_known(writer, at))
		writer_of(at->type->kind)(writer, at);
	writer->depth--;
}

void value_json(struct json *json, const struct shape *shape, const struct value_source *source)
{
	struct writer writer = {.json = json, .source = source};
	struct value_at at = value_of(shape);

	write_value(&writer, &at);
}
