// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "bpf-src/shared/trace.h"
#include "values/shape_internal.h"

enum { RTYPE_FIRST = 0x1000, RTYPE_STEP = 0x100 };

#define BIAS 0x500000ull

static const struct gotype *type_of(void *ctx, uint64_t rtype, bool *direct)
{
	struct capture *capture = ctx;
	uint64_t index = (rtype - RTYPE_FIRST) / RTYPE_STEP;

	if (rtype < RTYPE_FIRST || index >= capture->held_count)
		return NULL;
	*direct = capture->held[index].direct;
	return capture->held[index].type;
}

static const char *func_of(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr == 0x401000 ? "main.main.func1" : NULL;
}

void capture_init(struct capture *capture, const struct shape_limits *limits)
{
	memset(capture, 0, sizeof(*capture));
	capture->types = gotypes_new();
	capture->limits = *limits;
	capture->source = (struct value_source){
		.record = capture->record,
		.bias = BIAS,
		.limits = *limits,
		.type = type_of,
		.func = func_of,
		.ctx = capture,
	};
}

void capture_free(struct capture *capture)
{
	gotypes_free(capture->types);
}

uint64_t capture_rtype(struct capture *capture, const struct gotype *type, bool direct)
{
	for (size_t i = 0; i < capture->held_count; i++) {
		if (capture->held[i].type == type)
			return RTYPE_FIRST + i * RTYPE_STEP;
	}
	assert(capture->held_count < CAPTURE_TYPES);
	capture->held[capture->held_count].type = type;
	capture->held[capture->held_count].direct = direct;
	return RTYPE_FIRST + capture->held_count++ * RTYPE_STEP;
}

static const void *pointer_to(uint64_t addr)
{
	const void *pointer;

	memcpy(&pointer, &addr, sizeof(pointer));
	return pointer;
}

static uint64_t word_at(const void *memory, size_t off)
{
	uint64_t word;

	memcpy(&word, (const char *)memory + off, sizeof(word));
	return word;
}

static void put_state(struct capture *capture, uint32_t at, int64_t state)
{
	memcpy(capture->record + at, &state, sizeof(state));
}

/* pages below 64 KiB stand for those that are not in memory */
static int64_t read_memory(struct capture *capture, uint32_t at, uint64_t addr, uint64_t size)
{
	if (!addr)
		return TRACE_NIL;
	if (addr < 0x10000)
		return TRACE_FAULT;
	memcpy(capture->record + at, pointer_to(addr), size);
	return (int64_t)size;
}

static void fill(struct capture *capture, const struct shape *shape);

static uint64_t size_of(const struct shape_ref *ref, const uint8_t *own)
{
	if (ref->what != SHAPE_BYTES)
		return ref->max;
	uint64_t elem = ref->type->elem ? ref->type->elem->size : 1;
	uint64_t size = word_at(own, 8) * elem;

	return size < ref->max ? size : ref->max;
}

static uint64_t group_of(const struct capture *capture, const struct shape_ref *map)
{
	const uint8_t *header = capture->record + map->at;
	uint64_t at = word_at(header, 16);

	if (!map->type->swiss || !word_at(header, 24))
		return at;
	at = word_at(pointer_to(at), 0);
	return word_at(pointer_to(at), 16);
}

static uint64_t descriptor(const struct gotype *type, uint64_t tab)
{
	return type->has_methods && tab ? word_at(pointer_to(tab), 8) : tab;
}

/* Reads the object and what it refers to, by the dynamic type's row of the table. Returns the
 * object's state: bytes read, or an error. */
static int64_t fill_level(struct capture *capture, uint32_t at, uint64_t data,
			  const struct trace_dyntype *dyn)
{
	const uint32_t string = 8 + (capture->limits.string_max + 7) / 8 * 8;
	const uint32_t object = at + offsetof(struct trace_dynamic, object);
	int64_t state = dyn->direct ? 0 : read_memory(capture, object, data, dyn->size);

	put_state(capture, at + offsetof(struct trace_dynamic, state), state);
	for (uint32_t i = 0; state > 0 && i < dyn->refs; i++) {
		const uint8_t *words = capture->record + object + dyn->ref[i].off;
		uint32_t state_at = at + (uint32_t)sizeof(struct trace_dynamic) + i * string;
		uint64_t bytes = word_at(words, 8) * dyn->ref[i].elem;

		if (bytes > capture->limits.string_max)
			bytes = capture->limits.string_max;
		put_state(capture, state_at,
			  read_memory(capture, state_at + 8, word_at(words, 0), bytes));
	}
	return state;
}

/* as fetch_dynamic() of gotrace.bpf.c */
static void fill_dynamic(struct capture *capture, bool has_methods, uint32_t at, const void *iface,
			 uint32_t levels)
{
	struct gotype asked = {.has_methods = has_methods};
	uint64_t word = word_at(iface, 0), data = word_at(iface, 8), list = 0, left = 0;
	uint64_t rtype = descriptor(&asked, word);
	uint32_t elements = 0, element = 0;

	asked.has_methods = true;
	for (uint32_t level = 0; level < levels; level++) {
		struct trace_dynamic out = {.rtype = rtype, .word = data, .element = element};
		struct trace_dynamic *head = (void *)(capture->record + at);
		struct trace_dyntype dyn = {.inner = -1};
		const uint8_t *inner = NULL;
		bool direct;
		const struct gotype *type = type_of(capture, rtype, &direct);

		memcpy(head, &out, offsetof(struct trace_dynamic, object));
		if (type)
			shape_dyntype(type, direct, &capture->limits, &dyn);
		if (type && fill_level(capture, at, data, &dyn) > 0 && dyn.inner >= 0)
			inner = (uint8_t *)head->object + dyn.inner;
		word = inner ? word_at(inner, 0) : 0;
		data = inner ? word_at(inner, 8) : 0;
		rtype = dyn.inner_type;
		element = 0;
		if (word && rtype == TRACE_DYN_LIST) {
			list = left ? list : word;
			elements = left ? elements : (levels - level) << 16;
			left = left ? left : data;
			word = 0;
		} else if (rtype) {
			data = word;
		}
		if (!word && left && list >= 0x10000 && level + 1 < levels) {
			word = word_at(pointer_to(list), 0);
			data = word_at(pointer_to(list), 8);
			list += 16;
			left--;
			element = ++elements;
			rtype = 0;
		}
		if (!word)
			break;
		if (!rtype)
			rtype = descriptor(&asked, word);
		head->more = level + 1 < levels;
		at += shape_dynamic_size(&capture->limits, 1);
	}
}

static void fill_ref(struct capture *capture, const struct shape *shape,
		     const struct shape_ref *ref)
{
	const uint8_t *own = capture->record + shape->at + ref->off;

	if (ref->what == SHAPE_DYNAMIC) {
		const uint64_t none[2] = {0, 0};
		bool direct;

		/* a PAIR counts as an interface only if it begins with a type: itabs are not
		 * recognised here */
		if (ref->type->kind == GOTYPE_PAIR && !type_of(capture, word_at(own, 0), &direct))
			own = (const uint8_t *)none;
		fill_dynamic(capture, ref->type->has_methods, ref->at, own, ref->levels);
		return;
	}
	uint64_t size = size_of(ref, own);
	int64_t state = read_memory(capture, ref->at, word_at(own, 0), size);

	put_state(capture, ref->state_at, state);
	for (size_t i = 0; state > 0 && i < ref->elem_count; i++) {
		const struct shape *elem = &ref->elems[i];

		if (elem->at + elem->size <= ref->at + (uint64_t)state)
			fill(capture, elem);
	}
	if (state > 0 && ref->group) {
		state = read_memory(capture, ref->group->at, group_of(capture, ref),
				    ref->group->max);
		put_state(capture, ref->group->state_at, state);
		for (size_t i = 0; state > 0 && i < ref->group->elem_count; i++)
			fill(capture, &ref->group->elems[i]);
	}
}

static void fill(struct capture *capture, const struct shape *shape)
{
	for (size_t i = 0; i < shape->ref_count; i++)
		fill_ref(capture, shape, &shape->refs[i]);
}

const struct shape *capture_value(struct capture *capture, const struct gotype *type,
				  const void *value)
{
	const struct shape *shape =
		shape_new(capture->types, type, &capture->limits, &capture->end);

	assert(capture->end <= CAPTURE_RECORD);
	memcpy(capture->record + shape->at, value, shape->size);
	fill(capture, shape);
	capture->source.len = capture->end;
	return shape;
}

const struct gotype *capture_struct(struct capture *capture, const char *name, size_t count,
				    const struct gotype_field *fields)
{
	struct gotype *type = gotypes_add(capture->types, GOTYPE_STRUCT, name);

	type->defined = strncmp(name, "struct", 6);
	type->align = 1;
	type->fields = gotypes_alloc(capture->types, count, sizeof(*fields));
	type->field_count = count;
	for (size_t i = 0; i < count; i++) {
		uint32_t align = fields[i].type->align ? fields[i].type->align : 1;

		type->fields[i] = fields[i];
		type->fields[i].off = (type->size + align - 1) / align * align;
		type->size = type->fields[i].off + fields[i].type->size;
		type->align = align > type->align ? align : type->align;
	}
	type->size = (type->size + type->align - 1) / type->align * type->align;
	return type;
}

const struct gotype *capture_map(struct capture *capture, const char *name, const char *key,
				 const struct gotype *value, bool swiss)
{
	struct gotype *type = gotypes_add(capture->types, GOTYPE_MAP, name);

	type->size = type->align = 8;
	type->key = gotypes_basic(capture->types, key);
	type->elem = value;
	type->swiss = swiss;
	return type;
}

const struct gotype *capture_defined(struct capture *capture, const char *name, const char *of)
{
	const struct gotype *basic = gotypes_basic(capture->types, of);
	struct gotype *type = gotypes_add(capture->types, basic->kind, name);

	type->size = basic->size;
	type->align = basic->align;
	type->defined = true;
	return type;
}
