// SPDX-License-Identifier: Apache-2.0
#include "values/value_read_internal.h"

#include <stddef.h>
#include <string.h>

#include "bpf-src/shared/trace.h"
#include "values/shape_internal.h"

const char *value_why(enum value_got got)
{
	switch (got) {
	case VALUE_FAULT:
		return "<fault>";
	case VALUE_IN_REGISTER:
		return "<float in register>";
	case VALUE_NIL:
		return "nil";
	default:
		return "...";
	}
}

struct value_at value_of(const struct shape *shape)
{
	return (struct value_at){.shape = shape, .type = shape->type};
}

static bool in_record(const struct value_source *source, uint64_t at, uint64_t size)
{
	return at <= source->len && size <= source->len - at;
}

static bool has_hole(const struct shape *shape, uint64_t off, uint64_t size)
{
	for (uint64_t word = off / 4; word < 64 && word * 4 < off + size; word++) {
		if (shape->holes >> word & 1)
			return true;
	}
	return false;
}

enum value_got value_read(const struct value_source *source, const struct value_at *at,
			  uint32_t skip, void *out, uint32_t size)
{
	uint64_t off = (uint64_t)at->off + skip;

	if (has_hole(at->shape, off, size))
		return VALUE_IN_REGISTER;
	if (off + size > at->shape->size || !in_record(source, at->shape->at + off, size))
		return VALUE_CUT;
	memcpy(out, source->record + at->shape->at + off, size);
	return VALUE_GOT;
}

enum value_got value_read_word(const struct value_source *source, const struct value_at *at,
			       uint32_t skip, uint64_t *out)
{
	return value_read(source, at, skip, out, 8);
}

enum value_got value_read_number(const struct value_source *source, const struct value_at *at,
				 int64_t *out)
{
	uint64_t size = at->type->size, word = 0;

	if (!size || size > 8)
		return VALUE_CUT;
	enum value_got got = value_read(source, at, 0, &word, (uint32_t)size);

	if (at->type->kind == GOTYPE_INT && size < 8) {
		unsigned unused = 64 - 8 * (unsigned)size;

		*out = (int64_t)(word << unused) >> unused;
	} else {
		*out = (int64_t)word;
	}
	return got;
}

enum value_got value_read_floats(const struct value_source *source, const struct value_at *at,
				 double *out, unsigned count)
{
	uint32_t size = at->type->size == 4 * count ? 4 : 8;

	for (unsigned i = 0; i < count; i++) {
		uint8_t bytes[8];
		float single;
		enum value_got got = value_read(source, at, i * size, bytes, size);

		if (got != VALUE_GOT)
			return got;
		memcpy(size == 4 ? (void *)&single : (void *)&out[i], bytes, size);
		if (size == 4)
			out[i] = single;
	}
	return VALUE_GOT;
}

const struct shape_ref *value_ref(const struct value_at *at, enum shape_what what)
{
	for (size_t i = 0; i < at->shape->ref_count; i++) {
		const struct shape_ref *ref = &at->shape->refs[i];

		if (ref->off == at->off && ref->what == what)
			return ref;
	}
	return NULL;
}

enum value_got value_ref_bytes(const struct value_source *source, const struct shape_ref *ref,
			       uint32_t *len)
{
	int64_t state;

	*len = 0;
	if (!in_record(source, ref->state_at, sizeof(state)))
		return VALUE_CUT;
	memcpy(&state, source->record + ref->state_at, sizeof(state));
	if (state == TRACE_NIL)
		return VALUE_NIL;
	if (state < 0)
		return VALUE_FAULT;
	if (ref->at > source->len)
		return VALUE_CUT;
	*len = state < ref->max ? (uint32_t)state : ref->max;
	if (*len > source->len - ref->at)
		*len = source->len - ref->at;
	return VALUE_GOT;
}

/* VALUE_NIL: a nil slice */
enum value_got value_read_bytes(const struct value_source *source, const struct value_at *at,
				struct value_bytes *out)
{
	uint64_t pointer;

	*out = (struct value_bytes){0};
	enum value_got got = value_read_word(source, at, 8, &out->count);

	if (got == VALUE_GOT)
		got = value_read_word(source, at, 0, &pointer);
	if (got != VALUE_GOT)
		return got;
	if (!out->count)
		return pointer || at->type->kind == GOTYPE_STRING ? VALUE_GOT : VALUE_NIL;
	if (out->count > INT64_MAX) /* no valid length: the registers hold something else */
		return VALUE_FAULT;
	out->ref = value_ref(at, SHAPE_BYTES);
	if (!out->ref)
		return VALUE_GOT;
	got = value_ref_bytes(source, out->ref, &out->len);
	out->bytes = source->record + out->ref->at;
	return got == VALUE_NIL ? VALUE_FAULT : got;
}

enum value_got value_read_pointee(const struct value_source *source, const struct value_at *at,
				  struct value_pointee *out)
{
	const struct shape_ref *ref = value_ref(at, SHAPE_POINTEE);
	uint64_t pointer;
	uint32_t len;
	enum value_got got = value_read_word(source, at, 0, &pointer);

	if (got == VALUE_GOT && !pointer)
		return VALUE_NIL;
	if (got == VALUE_GOT && (!ref || !ref->elem_count))
		return VALUE_CUT;
	if (got == VALUE_GOT)
		got = value_ref_bytes(source, ref, &len);
	if (got != VALUE_GOT)
		return got == VALUE_NIL ? VALUE_CUT : got;
	out->shape = ref->elems[0];
	if (out->shape.size > len)
		out->shape.size = len;
	out->at = value_of(&out->shape);
	return VALUE_GOT;
}

static void copy_word(const struct value_source *source, uint64_t at, void *out)
{
	memset(out, 0, 8);
	if (in_record(source, at, 8))
		memcpy(out, source->record + at, 8);
}

/* Where the level of a list's element is, in the record; `at`: of the list's own level. *levels:
 * how many are left, from the list's level on, then from the element's. 0: it was not read. */
static uint32_t find_element(const struct value_source *source, uint32_t at, uint32_t element,
			     uint32_t *levels)
{
	const uint32_t mark = trace_element(*levels, element + 1);

	for (uint64_t words = 0; *levels > 1; --*levels) {
		copy_word(source, at + offsetof(struct trace_dynamic, element), &words);
		if (!(words >> 32)) /* `more` */
			return 0;
		at += shape_dynamic_size(&source->limits, 1);
		copy_word(source, at + offsetof(struct trace_dynamic, element), &words);
		if ((uint32_t)words == mark)
			return at;
	}
	return 0;
}

/* Gives a list of interfaces, whose elements the kernel side has read, the shapes of these. */
static void read_list(const struct value_source *source, const struct shape_ref *dynamic,
		      struct gotypes *memory, struct shape_ref *list)
{
	const struct gotype *elem = list->type->elem;

	list->elem_count =
		list->max / elem->size < SHAPE_ELEMS ? list->max / elem->size : SHAPE_ELEMS;
	list->elems = gotypes_alloc(memory, list->elem_count, sizeof(*list->elems));
	for (uint32_t i = 0; i < list->elem_count; i++) {
		uint32_t levels = dynamic->levels, size = (uint32_t)elem->size;
		struct shape_ref *ref = gotypes_alloc(memory, 1, sizeof(*ref));
		uint32_t at = find_element(source, dynamic->at, i, &levels);

		*ref = (struct shape_ref){.what = SHAPE_DYNAMIC,
					  .type = elem,
					  .at = at,
					  .state_at = at,
					  .max = shape_dynamic_size(&source->limits, levels - 1),
					  .levels = levels - 1};
		list->elems[i] = (struct shape){.type = elem,
						.at = list->at + i * size,
						.size = size,
						.refs = ref,
						.ref_count = at ? 1 : 0};
	}
}

static bool is_list(const struct shape_ref *ref)
{
	const struct gotype *elem = ref->type->elem;

	return ref->what == SHAPE_BYTES && ref->type->kind == GOTYPE_SLICE && elem &&
	       elem->kind == GOTYPE_INTERFACE && elem->has_methods && elem->size;
}

static void read_object(const struct value_source *source, const struct shape_ref *ref, bool direct,
			struct value_held *out)
{
	int64_t state = 0;
	struct shape *shape;

	copy_word(source, ref->at + offsetof(struct trace_dynamic, state), &state);
	out->memory = gotypes_new();
	shape = shape_of_dynamic(out->memory, out->type, direct, ref->levels, &source->limits,
				 ref->at);
	out->pointer = out->type->kind == GOTYPE_POINTER;
	out->fault = state == TRACE_FAULT;
	if (shape->at >= ref->at + offsetof(struct trace_dynamic, object) &&
	    state < (int64_t)shape->size)
		shape->size = state > 0 ? (uint32_t)state : 0;
	for (size_t i = 0; i < shape->ref_count; i++) {
		if (is_list(&shape->refs[i]))
			read_list(source, ref, out->memory, &shape->refs[i]);
	}
	out->value = value_of(shape);
}

enum value_got value_read_held(const struct value_source *source, const struct value_at *at,
			       struct value_held *out)
{
	const struct shape_ref *ref = value_ref(at, SHAPE_DYNAMIC);
	uint64_t first;
	bool direct = false;
	enum value_got got = value_read_word(source, at, 0, &first);

	*out = (struct value_held){0};
	if (got != VALUE_GOT)
		return got;
	if (!first)
		return VALUE_NIL;
	if (!ref)
		return VALUE_CUT;
	copy_word(source, ref->at + offsetof(struct trace_dynamic, rtype), &out->rtype);
	copy_word(source, ref->at + offsetof(struct trace_dynamic, word), &out->word);
	if (!out->rtype || out->rtype == UINT64_MAX) /* the itab was not read */
		return VALUE_FAULT;
	out->is_error = !strcmp(at->type->name, "error");
	if (source->type)
		out->type = source->type(source->ctx, out->rtype, &direct);
	if (out->type)
		read_object(source, ref, direct, out);
	return VALUE_GOT;
}

void value_held_free(struct value_held *held)
{
	gotypes_free(held->memory);
	held->memory = NULL;
}

bool value_field(const struct value_at *at, const char *name, struct value_at *out)
{
	const struct gotype *type = at->type;

	for (size_t i = 0; type->kind == GOTYPE_STRUCT && i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (strcmp(field->name, name) || field->off > UINT32_MAX - at->off)
			continue;
		*out = (struct value_at){at->shape, field->type, at->off + (uint32_t)field->off};
		return true;
	}
	return false;
}

bool value_is_byte(const struct gotype *type)
{
	return type && type->kind == GOTYPE_UINT && type->size == 1;
}
