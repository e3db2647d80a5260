// SPDX-License-Identifier: Apache-2.0
#include "values/shape_internal.h"

#include <string.h>

#include "bpf-src/shared/trace.h"
#include "values/shape_walk_internal.h"

enum {
	OWN_MAX = 512,    /* bytes of a value itself that are kept */
	BYTES_MAX = 1024, /* of a slice's elements, unless strings may be longer */
	GROUP_MAX = 2048,
	REFS_MAX = 48,    /* of one value */
	MAP_HEADER = 48,  /* bytes, for both kinds of maps */
	MAP_SLOTS = 8,    /* in a group, in a bucket */
	MAP_INLINE = 128, /* bytes: larger keys and values are kept behind a pointer */
	STATE = 8,        /* bytes of a reference's state */
};

struct layout {
	struct gotypes *memory;
	struct shape_limits limits;
	uint32_t *end;
	unsigned depth;
	struct shape_ref refs[REFS_MAX];
	size_t ref_count;
};

static void init_at_depth(struct gotypes *memory, const struct gotype *type, uint32_t at,
			  const struct shape_limits *limits, uint32_t *end, unsigned depth,
			  struct shape *out);

static uint32_t least(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

/* Takes `size` bytes of the record; false: there is no room left. */
static bool reserve(const struct shape_limits *limits, uint32_t *end, uint32_t size, uint32_t *at)
{
	uint64_t start = ((uint64_t)*end + 7) & ~7ull;
	uint64_t stop = start + (((uint64_t)size + 7) & ~7ull);

	if (stop > limits->record_max) {
		if (limits->missing)
			++*limits->missing;
		return false;
	}
	*at = (uint32_t)start;
	*end = (uint32_t)stop;
	return true;
}

static uint32_t slice_max(const struct gotype *elem, const struct shape_limits *limits)
{
	uint32_t max = limits->string_max, most = max > BYTES_MAX ? max : BYTES_MAX;

	if (!elem || !elem->size || elem->size > most)
		return 0;
	uint64_t elems = SHAPE_ELEMS * elem->size;

	if (elems > max || shape_walk_any(elem, least(elem->size, OWN_MAX)))
		max = least(elems, most);
	else
		max = shape_round(max);
	return max / elem->size * elem->size;
}

/* What a reference leads to, and the most bytes to read of it; 0: it is not followed. */
static uint32_t target_of(const struct gotype *type, const struct shape_limits *limits,
			  uint32_t levels, enum shape_what *what)
{
	switch (type->kind) {
	case GOTYPE_STRING:
		*what = SHAPE_BYTES;
		return limits->string_max;
	case GOTYPE_SLICE:
		*what = SHAPE_BYTES;
		return slice_max(type->elem, limits);
	case GOTYPE_POINTER:
		*what = SHAPE_POINTEE;
		if (!limits->follow && !shape_walk_is_followed(type->elem))
			return 0;
		return type->elem ? least(type->elem->size, OWN_MAX) : 0;
	case GOTYPE_FUNC:
		*what = SHAPE_CODE;
		return 8;
	case GOTYPE_MAP:
		*what = SHAPE_MAP;
		return MAP_HEADER;
	case GOTYPE_INTERFACE:
	case GOTYPE_PAIR:
		*what = SHAPE_DYNAMIC;
		return shape_dynamic_size(limits, levels);
	default:
		return 0;
	}
}

static bool place(const struct shape_limits *limits, uint32_t *end, struct shape_ref *ref)
{
	uint32_t state = ref->what == SHAPE_DYNAMIC ? 0 : STATE;

	if (!reserve(limits, end, state + ref->max, &ref->state_at))
		return false;
	ref->at = ref->state_at + state;
	return true;
}

/* A pair of words may be a string, not only an interface. */
static void add_text(struct layout *layout, const struct gotype *pair, uint32_t off)
{
	struct shape_ref ref = {
		.what = SHAPE_BYTES, .type = pair, .off = off, .max = layout->limits.string_max};

	if (ref.max && place(&layout->limits, layout->end, &ref))
		layout->refs[layout->ref_count++] = ref;
}

/* how many levels of interfaces within each other are read: fewer as the record fills up, to leave
 * room for later ones */
static uint32_t levels_of(const struct layout *layout)
{
	uint32_t quarter = layout->limits.record_max / 4;

	if (layout->depth || *layout->end > 3 * quarter)
		return TRACE_DYN_LEVELS_OF_ELEMENTS;
	return *layout->end > quarter ? TRACE_DYN_LEVELS_FEW : TRACE_DYN_LEVELS;
}

static bool add_ref(const struct gotype *type, uint32_t off, void *ctx)
{
	struct layout *layout = ctx;
	struct shape_ref ref = {.type = type, .off = off};
	uint32_t levels = levels_of(layout);

	if (type->kind == GOTYPE_PAIR && layout->ref_count + 1 < REFS_MAX)
		add_text(layout, type, off);
	ref.max = target_of(type, &layout->limits, levels, &ref.what);
	if (ref.what == SHAPE_DYNAMIC)
		ref.levels = levels;
	if (ref.max && place(&layout->limits, layout->end, &ref))
		layout->refs[layout->ref_count++] = ref;
	return layout->ref_count < REFS_MAX;
}

static void add_elems(struct layout *layout, struct shape_ref *ref)
{
	const struct gotype *elem = ref->type->elem;
	uint32_t count = ref->what == SHAPE_POINTEE ? 1 : least(ref->max / elem->size, SHAPE_ELEMS);
	struct shape_limits limits = layout->limits;

	if (ref->what == SHAPE_BYTES && !shape_walk_any(elem, least(elem->size, OWN_MAX)))
		return;
	limits.follow = false;
	ref->elems = gotypes_alloc(layout->memory, count, sizeof(*ref->elems));
	ref->elem_count = count;
	for (uint32_t i = 0; i < count; i++)
		init_at_depth(layout->memory, elem, ref->at + i * (uint32_t)elem->size, &limits,
			      layout->end, layout->depth + 1, &ref->elems[i]);
}

/* The layout of a map's group or bucket: sizes, first offsets and strides of keys and values, and
 * its size. */
struct group {
	const struct gotype *part[2]; /* key, value */
	uint64_t size[2], off[2], stride[2], bytes;
};

static bool group_parts(const struct gotype *map, struct group *group)
{
	group->part[0] = map->key;
	group->part[1] = map->elem;
	for (int i = 0; i < 2; i++) {
		if (!group->part[i])
			return false;
		group->size[i] = group->part[i]->size > MAP_INLINE ? 8 : group->part[i]->size;
	}
	return true;
}

static uint64_t part_align(const struct group *group, int part)
{
	uint64_t align = group->part[part]->size > MAP_INLINE ? 8 : group->part[part]->align;

	return align && align <= 8 ? align : 1;
}

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) / align * align;
}

static void group_layout(bool swiss, struct group *group)
{
	uint64_t key = part_align(group, 0), value = part_align(group, 1);
	uint64_t align = key > value ? key : value;

	group->off[0] = MAP_SLOTS; /* after MAP_SLOTS control bytes, or top bytes of hashes */
	if (swiss) {
		uint64_t value_off = align_up(group->size[0], value);
		uint64_t slot = align_up(value_off + group->size[1], align);

		if (!group->size[1]) /* Go pads after a last field without size */
			slot = align_up(value_off + 1, align);
		group->off[1] = group->off[0] + value_off;
		group->stride[0] = group->stride[1] = slot;
		group->bytes = MAP_SLOTS + MAP_SLOTS * slot;
	} else {
		group->off[1] = group->off[0] + MAP_SLOTS * group->size[0];
		group->stride[0] = group->size[0];
		group->stride[1] = group->size[1];
		group->bytes = group->off[1] + MAP_SLOTS * group->size[1];
	}
}

static void add_slots(struct layout *layout, const struct group *group, struct shape_ref *ref)
{
	struct shape_limits limits = layout->limits;

	limits.follow = false;
	ref->elem_count = 2 * MAP_SLOTS;
	ref->elems = gotypes_alloc(layout->memory, ref->elem_count, sizeof(*ref->elems));
	for (size_t i = 0; i < ref->elem_count; i++) {
		int part = i % 2;
		uint32_t at = ref->at + group->off[part] + i / 2 * group->stride[part];

		if (group->part[part]->size > MAP_INLINE) /* behind a pointer: not read */
			ref->elems[i] = (struct shape){.type = group->part[part], .at = at};
		else
			init_at_depth(layout->memory, group->part[part], at, &limits, layout->end,
				      layout->depth + 1, &ref->elems[i]);
	}
}

static void add_group(struct layout *layout, struct shape_ref *map)
{
	struct group group;
	struct shape_ref ref = {.what = SHAPE_GROUP, .type = map->type, .off = map->off};

	if (!layout->limits.follow || !group_parts(map->type, &group))
		return;
	group_layout(map->type->swiss, &group);
	if (group.bytes > GROUP_MAX)
		return;
	ref.max = (uint32_t)group.bytes;
	if (!place(&layout->limits, layout->end, &ref))
		return;
	add_slots(layout, &group, &ref);
	map->group = gotypes_alloc(layout->memory, 1, sizeof(ref));
	*map->group = ref;
}

/* lays out what references lead to after the references themselves: if the record is full, only the
 * innermost values are missing */
static void add_inner(struct layout *layout)
{
	for (size_t i = 0; i < layout->ref_count; i++) {
		struct shape_ref *ref = &layout->refs[i];

		if (ref->what == SHAPE_MAP)
			add_group(layout, ref);
		else if (ref->what == SHAPE_POINTEE ||
			 (ref->what == SHAPE_BYTES && ref->type->elem))
			add_elems(layout, ref);
	}
}

static void init_at_depth(struct gotypes *memory, const struct gotype *type, uint32_t at,
			  const struct shape_limits *limits, uint32_t *end, unsigned depth,
			  struct shape *out)
{
	struct layout layout = {.memory = memory, .limits = *limits, .end = end, .depth = depth};

	*out = (struct shape){.type = type, .at = at, .size = least(type->size, OWN_MAX)};
	if (depth >= SHAPE_DEPTH)
		return;
	shape_walk(type, out->size, add_ref, &layout);
	add_inner(&layout);
	out->ref_count = layout.ref_count;
	if (!layout.ref_count)
		return;
	out->refs = gotypes_alloc(memory, layout.ref_count, sizeof(*out->refs));
	memcpy(out->refs, layout.refs, layout.ref_count * sizeof(*out->refs));
}

void shape_init(struct gotypes *memory, const struct gotype *type, uint32_t at,
		const struct shape_limits *limits, uint32_t *end, struct shape *out)
{
	init_at_depth(memory, type, at, limits, end, 0, out);
}

struct shape *shape_new(struct gotypes *memory, const struct gotype *type,
			const struct shape_limits *limits, uint32_t *end)
{
	struct shape *shape = gotypes_alloc(memory, 1, sizeof(*shape));
	uint32_t at;

	if (reserve(limits, end, least(type->size, OWN_MAX), &at))
		shape_init(memory, type, at, limits, end, shape);
	else
		*shape = (struct shape){.type = type, .at = *end};
	return shape;
}
