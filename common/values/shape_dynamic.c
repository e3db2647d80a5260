// SPDX-License-Identifier: Apache-2.0
/* Values in interfaces: as their types are known only when an event comes, the kernel side reads
 * them by tables, into areas of one size. */
#include <stddef.h>
#include <string.h>

#include "bpf-src/shared/trace.h"
#include "values/shape_internal.h"
#include "values/shape_walk_internal.h"

enum { STATE = 8 };

/* What the object area holds: the value, or what it points to; or nothing with `word`, if the data
 * word is the value. */
struct held {
	const struct gotype *type;
	uint32_t size; /* bytes of the object */
	bool word;     /* the value is the data word */
};

/* which part of a value is read next: that of the highest priority */
enum priority { NOTHING, POINTER, LIST, OTHER, ERROR };

struct finding {
	struct trace_dyntype *out;
	enum priority priority; /* of what was found */
};

static uint32_t string_max(const struct shape_limits *limits)
{
	return limits->dynamic_max ? limits->dynamic_max : limits->string_max;
}

static uint32_t ref_size(const struct shape_limits *limits)
{
	return STATE + shape_round(string_max(limits));
}

/* of one interface, without those within */
static uint32_t level_size(const struct shape_limits *limits)
{
	return sizeof(struct trace_dynamic) + TRACE_DYN_REFS * ref_size(limits);
}

uint32_t shape_dynamic_size(const struct shape_limits *limits, uint32_t levels)
{
	return levels * level_size(limits);
}

static struct held held_by(const struct gotype *type, bool direct)
{
	struct held held = {.type = type, .word = true};

	switch (type->kind) {
	case GOTYPE_FUNC:
	case GOTYPE_MAP:
		held.size = 8; /* a func's code address; a map's number of entries */
		break;
	case GOTYPE_POINTER:
		if (!type->elem)
			break;
		held = (struct held){.type = type->elem, .size = TRACE_DYN_OBJECT};
		break;
	default:
		if (!direct)
			held = (struct held){.type = type, .size = TRACE_DYN_OBJECT};
	}
	if (!held.word && held.type->size < held.size)
		held.size = (uint32_t)held.type->size;
	return held;
}

static uint32_t element_size(const struct gotype *type)
{
	if (type->kind == GOTYPE_STRING)
		return 1;
	return type->elem && type->elem->size <= UINT32_MAX ? (uint32_t)type->elem->size : 0;
}

static enum priority priority_of(const struct gotype *type)
{
	if (type->kind == GOTYPE_POINTER)
		return type->rtype && shape_walk_is_followed(type->elem) ? POINTER : NOTHING;
	if (type->kind == GOTYPE_SLICE)
		return type->elem && type->elem->kind == GOTYPE_INTERFACE && type->elem->has_methods
			       ? LIST
			       : NOTHING;
	if (type->kind != GOTYPE_INTERFACE || !type->has_methods)
		return NOTHING;
	return strcmp(type->name, "error") ? OTHER : ERROR;
}

static bool note_type(const struct gotype *type, uint32_t off, void *ctx)
{
	struct finding *finding = ctx;
	struct trace_dyntype *out = finding->out;

	if (type->kind == GOTYPE_STRING || type->kind == GOTYPE_SLICE) {
		uint32_t elem = element_size(type);

		if (out->refs < TRACE_DYN_REFS && elem) {
			out->ref[out->refs].off = off;
			out->ref[out->refs++].elem = elem;
		}
	}
	enum priority priority = priority_of(type);

	/* of equal priority, the last interface counts, but the first of anything else */
	if (priority > finding->priority || (priority == OTHER && finding->priority == OTHER)) {
		finding->priority = priority;
		out->inner = (int)off;
		out->inner_type = priority == POINTER ? type->rtype
				  : priority == LIST  ? TRACE_DYN_LIST
						      : 0;
	}
	return true;
}

void shape_dyntype(const struct gotype *type, bool direct, const struct shape_limits *limits,
		   struct trace_dyntype *out)
{
	struct held held = held_by(type, direct);
	struct finding finding = {.out = out};

	memset(out, 0, sizeof(*out));
	out->inner = -1;
	out->size = held.size;
	out->direct = held.word && !held.size;
	if (!held.word)
		shape_walk(held.type, held.size, note_type, &finding);
	if (!string_max(limits))
		out->refs = 0;
}

struct refs { /* of a held value, being listed */
	const struct shape_limits *limits;
	struct shape *shape;
	uint32_t at;     /* in the record: struct trace_dynamic */
	uint32_t levels; /* levels left, this one included */
	size_t slots;    /* how many strings there is room for */
	size_t bytes;    /* how many there are so far */
	int inner;       /* offset of what is read next; -1: nothing */
	struct gotypes *memory;
};

static void add_ref(struct refs *refs, struct shape_ref ref)
{
	refs->shape->refs[refs->shape->ref_count++] = ref;
}

/* adds the inner interface, or what the pointer leads to */
static void add_inner(struct refs *refs, const struct gotype *type, struct shape_ref ref)
{
	ref.levels = refs->levels - 1;
	ref.at = ref.state_at = refs->at + level_size(refs->limits);
	ref.what = SHAPE_DYNAMIC;
	ref.max = shape_dynamic_size(refs->limits, ref.levels);
	if (type->kind == GOTYPE_POINTER) {
		ref.what = SHAPE_POINTEE;
		ref.elems = shape_of_dynamic(refs->memory, type, true, ref.levels, refs->limits,
					     ref.at);
		ref.elem_count = 1;
		ref.state_at += offsetof(struct trace_dynamic, state);
		ref.at += offsetof(struct trace_dynamic, object);
		ref.max = TRACE_DYN_OBJECT;
	}
	add_ref(refs, ref);
}

static bool list(const struct gotype *type, uint32_t off, void *ctx)
{
	struct refs *refs = ctx;
	struct shape_ref ref = {.type = type, .off = off};

	if (type->kind == GOTYPE_STRING || type->kind == GOTYPE_SLICE) {
		if (refs->bytes >= refs->slots || !element_size(type))
			return true;
		ref.what = SHAPE_BYTES;
		ref.state_at = refs->at + (uint32_t)sizeof(struct trace_dynamic) +
			       (uint32_t)refs->bytes++ * ref_size(refs->limits);
		ref.at = ref.state_at + STATE;
		ref.max = string_max(refs->limits);
		add_ref(refs, ref);
	} else if ((type->kind == GOTYPE_INTERFACE || type->kind == GOTYPE_POINTER) &&
		   (int)off == refs->inner) {
		add_inner(refs, type, ref);
	}
	return true;
}

/* a func's code address, a map's count: they are in the object area */
static void add_word_ref(struct refs *refs)
{
	struct shape_ref ref = {
		.what = refs->shape->type->kind == GOTYPE_FUNC ? SHAPE_CODE : SHAPE_MAP,
		.type = refs->shape->type,
		.state_at = refs->at + offsetof(struct trace_dynamic, state),
		.at = refs->at + offsetof(struct trace_dynamic, object),
		.max = 8,
	};

	add_ref(refs, ref);
}

static void list_object(struct refs *refs, const struct held *held)
{
	refs->shape->type = held->type;
	if (held->word) {
		refs->shape->at = refs->at + offsetof(struct trace_dynamic, word);
		refs->shape->size = 8;
		if (held->size)
			add_word_ref(refs);
		return;
	}
	refs->shape->at = refs->at + offsetof(struct trace_dynamic, object);
	refs->shape->size = held->size;
	shape_walk(held->type, held->size, list, refs);
}

struct shape *shape_of_dynamic(struct gotypes *memory, const struct gotype *type, bool direct,
			       uint32_t levels, const struct shape_limits *limits, uint32_t at)
{
	struct held held = held_by(type, direct);
	struct shape *shape = gotypes_alloc(memory, 1, sizeof(*shape));
	struct trace_dyntype dyntype;
	struct refs refs = {.limits = limits,
			    .shape = shape,
			    .at = at,
			    .levels = levels,
			    .inner = -1,
			    .memory = memory};

	shape_dyntype(type, direct, limits, &dyntype);
	refs.slots = dyntype.refs;
	if (levels > 1)
		refs.inner = dyntype.inner;
	shape->refs = gotypes_alloc(memory, TRACE_DYN_REFS + 1, sizeof(*shape->refs));
	list_object(&refs, &held);
	return shape;
}
