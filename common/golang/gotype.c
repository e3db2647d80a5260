// SPDX-License-Identifier: Apache-2.0
#include "golang/gotype_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"

enum {
	BLOCK_SIZE = 16384, /* bytes that small allocations share */
	NAME_MAX_LEN = 4096,
	FIELD_QUEUE = 256, /* structs that are looked at for one field */
	WORD = 8,
};

struct block {
	struct block *next;
	size_t used, size;
	max_align_t bytes[];
};

struct gotypes {
	struct block *blocks;
	struct gotype *basic; /* BASIC_COUNT of them */
	const struct gotype **derived;
	size_t derived_cap;
	struct index by_parts; /* of `derived`, which has by_parts.count entries */
};

static const struct basic {
	const char *alias, *name; /* what is typed, what Go prints */
	enum gotype_kind kind;
	uint8_t size, align;
} BASIC[] = {
	{"bool", "bool", GOTYPE_BOOL, 1, 1},
	{"int", "int", GOTYPE_INT, 8, 8},
	{"int8", "int8", GOTYPE_INT, 1, 1},
	{"int16", "int16", GOTYPE_INT, 2, 2},
	{"int32", "int32", GOTYPE_INT, 4, 4},
	{"rune", "int32", GOTYPE_INT, 4, 4},
	{"int64", "int64", GOTYPE_INT, 8, 8},
	{"uint", "uint", GOTYPE_UINT, 8, 8},
	{"uint8", "uint8", GOTYPE_UINT, 1, 1},
	{"byte", "uint8", GOTYPE_UINT, 1, 1},
	{"uint16", "uint16", GOTYPE_UINT, 2, 2},
	{"uint32", "uint32", GOTYPE_UINT, 4, 4},
	{"uint64", "uint64", GOTYPE_UINT, 8, 8},
	{"uintptr", "uintptr", GOTYPE_UINT, 8, 8},
	{"float32", "float32", GOTYPE_FLOAT, 4, 4},
	{"float64", "float64", GOTYPE_FLOAT, 8, 8},
	{"complex64", "complex64", GOTYPE_COMPLEX, 8, 4},
	{"complex128", "complex128", GOTYPE_COMPLEX, 16, 8},
	{"string", "string", GOTYPE_STRING, 16, 8},
	{"unsafe.Pointer", "unsafe.Pointer", GOTYPE_POINTER, 8, 8},
	{"error", "error", GOTYPE_INTERFACE, 16, 8},
	{"any", "interface {}", GOTYPE_INTERFACE, 16, 8},
	{"interface {}", "interface {}", GOTYPE_INTERFACE, 16, 8},
	{"interface{}", "interface {}", GOTYPE_INTERFACE, 16, 8},
};

enum { BASIC_COUNT = sizeof(BASIC) / sizeof(BASIC[0]) };

static size_t first_of_name(size_t index)
{
	size_t first = 0;

	while (strcmp(BASIC[first].name, BASIC[index].name))
		first++;
	return first;
}

static void add_basic(struct gotypes *types)
{
	types->basic = gotypes_alloc(types, BASIC_COUNT, sizeof(*types->basic));
	for (size_t i = 0; i < BASIC_COUNT; i++) {
		bool is_error = !strcmp(BASIC[i].name, "error");

		types->basic[i] = (struct gotype){
			.kind = BASIC[i].kind,
			.name = BASIC[i].name,
			.size = BASIC[i].size,
			.align = BASIC[i].align,
			.defined = is_error,
			.has_methods = is_error,
		};
	}
}

struct gotypes *gotypes_new(void)
{
	struct gotypes *types = mem_zalloc(1, sizeof(*types));

	add_basic(types);
	return types;
}

void gotypes_free(struct gotypes *types)
{
	if (!types)
		return;
	for (struct block *block = types->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(types->derived);
	index_free(&types->by_parts);
	free(types);
}

static struct block *add_block(struct gotypes *types, size_t size)
{
	struct block *block = mem_zalloc(1, sizeof(*block) + size);

	block->size = size;
	/* a block for one large allocation is full at once: the one being filled stays first */
	if (types->blocks && size > BLOCK_SIZE) {
		block->next = types->blocks->next;
		types->blocks->next = block;
	} else {
		block->next = types->blocks;
		types->blocks = block;
	}
	return block;
}

void *gotypes_alloc(struct gotypes *types, size_t count, size_t size)
{
	const size_t grain = _Alignof(max_align_t);
	struct block *block = types->blocks;

	if (size && count > (SIZE_MAX / 4) / size) /* mem_zalloc() ends the program */
		return mem_zalloc(SIZE_MAX / 4, 4);
	size_t need = (count * size + grain - 1) / grain * grain;

	if (!block || block->size - block->used < need)
		block = add_block(types, need > BLOCK_SIZE / 4 ? need : BLOCK_SIZE);
	void *memory = (char *)block->bytes + block->used;

	block->used += need;
	return memory;
}

const char *gotypes_text(struct gotypes *types, const char *text, size_t len)
{
	char *copy = gotypes_alloc(types, len + 1, 1);

	memcpy(copy, text, len);
	return copy;
}

struct gotype *gotypes_add(struct gotypes *types, enum gotype_kind kind, const char *name)
{
	struct gotype *type = gotypes_alloc(types, 1, sizeof(*type));

	type->kind = kind;
	type->align = 1;
	type->name = gotypes_text(types, name, strlen(name));
	return type;
}

const struct gotype *gotypes_basic(struct gotypes *types, const char *name)
{
	for (size_t i = 0; i < BASIC_COUNT; i++)
		if (!strcmp(BASIC[i].alias, name))
			return &types->basic[first_of_name(i)];
	return NULL;
}

/* Bounds the name's length, as types may be nested without end. */
static const char *derived_name(struct gotypes *types, const char *prefix, const char *name)
{
	bool is_long = strlen(name) > NAME_MAX_LEN;
	char *text = mem_printf("%s%.*s%s", prefix, NAME_MAX_LEN, name, is_long ? "..." : "");
	const char *copy = gotypes_text(types, text, strlen(text));

	free(text);
	return copy;
}

static bool is_same_type(const struct gotype *a, const struct gotype *b)
{
	return a->kind == b->kind && a->elem == b->elem && a->count == b->count;
}

static const struct gotype *derive(struct gotypes *types, struct gotype want, const char *prefix)
{
	uint64_t hash = index_hash(index_hash(want.count, want.kind), (uintptr_t)want.elem);
	size_t n = index_first(&types->by_parts, hash);

	while (n != INDEX_NONE && !is_same_type(types->derived[n], &want))
		n = index_next(&types->by_parts, n);
	if (n != INDEX_NONE)
		return types->derived[n];
	struct gotype *type = gotypes_alloc(types, 1, sizeof(*type));

	*type = want;
	type->name = derived_name(types, prefix, want.elem->name);
	n = index_add(&types->by_parts, hash);
	types->derived =
		mem_grow(types->derived, n, &types->derived_cap, sizeof(const struct gotype *));
	return types->derived[n] = type;
}

const struct gotype *gotypes_pointer(struct gotypes *types, const struct gotype *elem)
{
	struct gotype want = {.kind = GOTYPE_POINTER, .elem = elem, .size = WORD, .align = WORD};

	return derive(types, want, "*");
}

const struct gotype *gotypes_slice(struct gotypes *types, const struct gotype *elem)
{
	struct gotype want = {.kind = GOTYPE_SLICE, .elem = elem, .size = 3 * WORD, .align = WORD};

	return derive(types, want, "[]");
}

const struct gotype *gotypes_array(struct gotypes *types, const struct gotype *elem, uint64_t count)
{
	struct gotype want = {.kind = GOTYPE_ARRAY, .elem = elem, .count = count};
	char prefix[32];

	want.align = elem->align;
	if (__builtin_mul_overflow(elem->size, count, &want.size) || want.size > GOTYPE_SIZE_MAX) {
		want.kind = GOTYPE_UNKNOWN;
		want.size = 0;
	}
	snprintf(prefix, sizeof(prefix), "[%llu]", (unsigned long long)count);
	return derive(types, want, prefix);
}

/* A struct that a search for a field has come to. */
struct place {
	const struct gotype *type;
	const struct gotype_field *through; /* the first embedded pointer on the way; or NULL */
	uint64_t off;                       /* of the struct, or of that pointer */
	unsigned depth;
};

struct search {
	const char *name;
	struct place queue[FIELD_QUEUE];
	size_t count;
	bool pointers; /* look through embedded pointers */
	const struct gotype_field *found;
	struct place at; /* the struct that has it */
	bool ambiguous;
};

/* A struct met on a shallower level hides the same struct on deeper ones. */
static bool was_met_above(const struct search *search, const struct gotype *type, unsigned depth)
{
	for (size_t i = 0; i < search->count && search->queue[i].depth < depth; i++)
		if (search->queue[i].type == type)
			return true;
	return false;
}

static void enqueue_embedded(struct search *search, const struct place *from,
			     const struct gotype_field *field)
{
	struct place next = *from;
	bool is_pointer = field->type->kind == GOTYPE_POINTER;

	next.depth++;
	next.type = is_pointer ? field->type->elem : field->type;
	if (!from->through)
		next.off += field->off;
	if (is_pointer && !from->through)
		next.through = field;
	if (!next.type || next.type->kind != GOTYPE_STRUCT || (is_pointer && !search->pointers))
		return;
	if (search->count < FIELD_QUEUE && !was_met_above(search, next.type, next.depth))
		search->queue[search->count++] = next;
}

static void look_in(struct search *search, struct place place)
{
	for (size_t i = 0; i < place.type->field_count; i++) {
		const struct gotype_field *field = &place.type->fields[i];

		if (field->name && !strcmp(field->name, search->name)) {
			search->ambiguous = search->found != NULL;
			search->found = field;
			search->at = place;
		}
		if (field->embedded && field->type)
			enqueue_embedded(search, &place, field);
	}
}

/* By Go's language specification, "Selectors": the shallowest one, if it is the only one there. */
const struct gotype_field *gotype_field(const struct gotype *type, const char *name, uint64_t *off,
					const struct gotype_field **through)
{
	struct search search = {.name = name, .count = 1, .pointers = through != NULL};

	search.queue[0] = (struct place){.type = type};
	if (through)
		*through = NULL;
	if (type->kind != GOTYPE_STRUCT || !strcmp(name, "_"))
		return NULL;
	for (size_t i = 0; i < search.count && !search.ambiguous; i++) {
		if (search.found && search.queue[i].depth > search.at.depth)
			break;
		look_in(&search, search.queue[i]);
	}
	if (!search.found || search.ambiguous)
		return NULL;
	if (through)
		*through = search.at.through;
	*off = search.at.off + (search.at.through ? 0 : search.found->off);
	return search.found;
}
