// SPDX-License-Identifier: Apache-2.0
/* Two words of unknown type. If the first is a type or an itab of the program, which the kernel
 * side finds out, they are an interface. If they lead to text, they are taken for a string: a
 * guess, shown as ?"bob", since a struct may also begin with a pointer to text. Else the words are
 * shown. */
#include <inttypes.h>

#include "values/value_internal.h"
#include "values/value_text_internal.h"
#include "values/value_read_internal.h"

enum { LENGTH_BITS = 47 }; /* no process has longer text: its address space is not larger */

static bool is_pointer_like(const struct gotype *type)
{
	return type->kind == GOTYPE_POINTER || type->kind == GOTYPE_MAP ||
	       type->kind == GOTYPE_CHAN || type->kind == GOTYPE_FUNC;
}

static bool is_interface(const struct value_source *source, const struct value_at *at)
{
	struct value_held held;

	if (!value_ref(at, SHAPE_DYNAMIC) || value_read_held(source, at, &held) != VALUE_GOT)
		return false;
	/* a value that is not printed as a pointer must have been read */
	bool proven = held.type && (is_pointer_like(held.type) ||
				    (!held.fault && (held.value.shape->size || !held.type->size)));

	value_held_free(&held);
	return proven;
}

static bool is_text_at(const struct value_source *source, const struct value_at *at)
{
	struct value_bytes bytes;

	if (value_read_bytes(source, at, &bytes) != VALUE_GOT || !bytes.ref || !bytes.len ||
	    bytes.count >> LENGTH_BITS)
		return false;
	if (bytes.len >= bytes.count)
		return value_is_text((const char *)bytes.bytes, bytes.count);
	size_t len = value_whole_characters((const char *)bytes.bytes, bytes.len);

	return bytes.len == bytes.ref->max && value_is_text((const char *)bytes.bytes, len);
}

enum value_pair value_pair_is(const struct value_source *source, const struct value_at *at)
{
	if (is_interface(source, at))
		return VALUE_PAIR_INTERFACE;
	return is_text_at(source, at) ? VALUE_PAIR_TEXT : VALUE_PAIR_WORDS;
}

struct value_at value_pair_text(const struct value_at *at)
{
	static const struct gotype string = {.kind = GOTYPE_STRING, .size = 16, .name = "string"};

	return (struct value_at){at->shape, &string, at->off};
}

static void print_words(struct value_printer *printer, const struct value_at *at)
{
	for (uint32_t off = 0; off < 16; off += 8) {
		uint64_t word;
		enum value_got got = value_read_word(printer->source, at, off, &word);

		fputs(off ? ", " : "{", printer->out);
		if (got == VALUE_GOT)
			fprintf(printer->out, "0x%" PRIx64, word);
		else
			fputs(value_why(got), printer->out);
	}
	putc('}', printer->out);
}

void value_print_pair(struct value_printer *printer, const struct value_at *at)
{
	enum value_pair is = value_pair_is(printer->source, at);
	struct value_at text = value_pair_text(at);

	if (is == VALUE_PAIR_INTERFACE) {
		value_print_interface(printer, at);
	} else if (is == VALUE_PAIR_TEXT) {
		putc('?', printer->out);
		value_print_at(printer, &text);
	} else {
		print_words(printer, at);
	}
}

bool value_is_marked(const struct shape *shape, const struct value_source *source)
{
	struct value_at at = value_of(shape);

	return shape->type->kind == GOTYPE_PAIR && value_pair_is(source, &at) == VALUE_PAIR_TEXT;
}
