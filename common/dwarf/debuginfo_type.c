// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "dwarf/debuginfo_dialect_internal.h"
#include "dwarf/debuginfo_gccgo_internal.h"
#include "dwarf/debuginfo_params_internal.h"
#include "elf/image.h"
#include "golang/gokind.h"
#include "program/functab.h"
#include "dwarf/dietree_internal.h"

enum {
	MAX_TYPES = 1 << 19, /* beyond these, types are unknown */
	MAX_FIELDS = 1 << 14,
	MAX_CHAIN = 32,   /* typedefs of typedefs */
	MAX_NESTING = 64, /* structs and arrays within each other */
	WORD = 8,
};

struct debuginfo_known { /* a DIE's offset and its type */
	uint64_t off;
	struct gotype *type;
};

/* Go declares a type by a typedef without a kind, which leads to the type itself. */
static bool skip_typedefs(struct die *die)
{
	uint64_t kind;

	for (unsigned i = 0; i < MAX_CHAIN; i++) {
		if (die_tag(die) != DIE_TYPEDEF || die_number(die, DIE_GO_KIND, &kind))
			return true;
		if (!die_reference(die, DIE_TYPE, die))
			return false;
	}
	return false;
}

static const char *name_of_type(const struct die *die)
{
	const char *name = die_name(die);

	return name ? name : "";
}

const char *debuginfo_full_name(const struct die *die)
{
	struct die type;

	return die_reference(die, DIE_TYPE, &type) && skip_typedefs(&type) ? name_of_type(&type)
									   : "";
}

/* --- a type without its parts --- */

static enum gotype_kind kind_of(const struct die *die)
{
	uint64_t number;

	if (die_number(die, DIE_GO_KIND, &number) && number & GOKIND_MASK)
		return gokind_type(number & GOKIND_MASK);
	switch (die_tag(die)) {
	case DIE_STRUCT:
		return GOTYPE_STRUCT;
	case DIE_POINTER:
		return GOTYPE_POINTER;
	case DIE_ARRAY:
		return GOTYPE_ARRAY;
	case DIE_SUBROUTINE_TYPE:
		return GOTYPE_FUNC;
	default:
		return GOTYPE_UNKNOWN;
	}
}

static bool is_defined(const char *name, enum gotype_kind kind)
{
	if (kind == GOTYPE_UNKNOWN || kind == GOTYPE_POINTER || kind == GOTYPE_SLICE ||
	    kind == GOTYPE_ARRAY)
		return *name && !strchr("*[", *name) && strcmp(name, "unsafe.Pointer") != 0;
	if (strcmp(name, "error") == 0)
		return true;
	if (strncmp(name, "go.shape.", 9) == 0 || strncmp(name, "map[", 4) == 0 ||
	    strncmp(name, "func(", 5) == 0 || strncmp(name, "chan ", 5) == 0 ||
	    strncmp(name, "struct {", 8) == 0 || strncmp(name, "interface {", 11) == 0 ||
	    strncmp(name, "chan<- ", 7) == 0)
		return false;
	return *name != '<' && strchr(name, '.');
}

static uint64_t size_of(const struct die *die, enum gotype_kind kind)
{
	uint64_t size = 0;

	switch (kind) {
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_CHAN:
	case GOTYPE_FUNC:
		return WORD;
	case GOTYPE_STRING:
	case GOTYPE_INTERFACE:
		return 2 * WORD;
	case GOTYPE_SLICE:
		return 3 * WORD;
	default:
		die_number(die, DIE_BYTE_SIZE, &size);
		return size <= GOTYPE_SIZE_MAX ? size : 0;
	}
}

/* May a number of this kind have this size? Always true of other kinds. */
static bool is_right_size(enum gotype_kind kind, uint64_t size)
{
	switch (kind) {
	case GOTYPE_BOOL:
		return size == 1;
	case GOTYPE_INT:
	case GOTYPE_UINT:
		return size == 1 || size == 2 || size == 4 || size == 8;
	case GOTYPE_FLOAT:
		return size == 4 || size == 8;
	case GOTYPE_COMPLEX:
		return size == 8 || size == 16;
	default:
		return true;
	}
}

static uint32_t align_of(const struct gotype *type)
{
	switch (type->kind) {
	case GOTYPE_STRUCT: /* as long as their parts are not known */
	case GOTYPE_ARRAY:
		return 0;
	case GOTYPE_UNKNOWN:
		return 1;
	case GOTYPE_COMPLEX:
		return type->size / 2;
	default:
		return type->size < WORD ? type->size : WORD;
	}
}

/* Go's linker writes the descriptor's offset from moduledata.types; up to Go 1.15, for some types,
 * its address. It is used only if there is a descriptor of this size and kind. */
static uint64_t find_rtype(struct debuginfo *dbg, const struct die *die, const struct gotype *type)
{
	uint64_t value, size, types;

	if (!dbg->types_addr || !die_number(die, DIE_GO_RUNTIME_TYPE, &value) || !value)
		return 0;
	types = value < dbg->types_addr ? dbg->types_addr : 0;

	const uint8_t *kind = image_at(dbg->img, types + value + 23, 1);

	if (!kind || !image_u64(dbg->img, types + value, &size) || size != type->size)
		return 0;
	return gokind_type(*kind & GOKIND_MASK) == type->kind ? types + value : 0;
}

static bool refers_to(const struct die *die, const char *prefix)
{
	struct die to;

	return die_reference(die, DIE_TYPE, &to) &&
	       strncmp(name_of_type(&to), prefix, strlen(prefix)) == 0;
}

static struct gotype *add_type(struct debuginfo *dbg, const struct die *die)
{
	enum gotype_kind kind = kind_of(die);
	const char *full = name_of_type(die);
	uint64_t size = size_of(die, kind);

	if (!is_right_size(kind, size))
		kind = GOTYPE_UNKNOWN;

	struct gotype *type = gotypes_add(dbg->types, kind, "");

	type->name = debuginfo_short_name(dbg, full);
	type->size = size;
	type->align = align_of(type);
	type->defined = is_defined(type->name, kind);
	type->has_methods = kind == GOTYPE_INTERFACE && !refers_to(die, "runtime.eface");
	type->swiss = kind == GOTYPE_MAP && refers_to(die, "*map<");
	type->rtype = find_rtype(dbg, die, type);
	return type;
}

static const struct gotype *unknown_type(struct debuginfo *dbg)
{
	if (!dbg->unknown)
		dbg->unknown = gotypes_add(dbg->types, GOTYPE_UNKNOWN, "?");
	return dbg->unknown;
}

void debuginfo_queue(struct debuginfo *dbg, struct gotype *type, const struct die *die)
{
	dbg->queue = mem_grow(dbg->queue, dbg->queue_count, &dbg->queue_cap, sizeof(*dbg->queue));
	dbg->queue[dbg->queue_count++] = (struct debuginfo_part){type, *die};
}

/* The type of a DIE; its parts are found later, when it is its turn in the queue. */
static const struct gotype *known_type(struct debuginfo *dbg, struct die die)
{
	if (!dbg->dialect->skip(&die))
		return unknown_type(dbg);

	uint64_t off = die_off(&die), hash = index_hash(0, off);
	size_t n = index_first(&dbg->by_off, hash);

	while (n != INDEX_NONE && dbg->known[n].off != off)
		n = index_next(&dbg->by_off, n);
	if (n != INDEX_NONE)
		return dbg->known[n].type;
	if (dbg->by_off.count >= MAX_TYPES)
		return unknown_type(dbg);

	struct gotype *type = dbg->dialect->type(dbg, &die);

	n = index_add(&dbg->by_off, hash);
	dbg->known = mem_grow(dbg->known, n, &dbg->known_cap, sizeof(*dbg->known));
	dbg->known[n] = (struct debuginfo_known){off, type};
	debuginfo_queue(dbg, type, &die);
	return type;
}

/* --- its parts --- */

const struct gotype *debuginfo_part(struct debuginfo *dbg, const struct die *die,
				    enum die_attr attr)
{
	struct die to;

	return die_reference(die, attr, &to) ? known_type(dbg, to) : unknown_type(dbg);
}

static size_t count_members(const struct die *die)
{
	struct die child;
	size_t count = 0;

	for (bool more = die_child(die, &child); more && count < MAX_FIELDS;
	     more = die_sibling(&child, &child))
		count += die_tag(&child) == DIE_MEMBER;
	return count;
}

void debuginfo_fields(struct debuginfo *dbg, struct gotype *type, const struct die *die,
		      debuginfo_field_fn *add)
{
	size_t count = count_members(die);
	struct die child;

	type->fields = gotypes_alloc(dbg->types, count, sizeof(*type->fields));
	for (bool more = die_child(die, &child); more && type->field_count < count;
	     more = die_sibling(&child, &child))
		if (die_tag(&child) == DIE_MEMBER)
			add(dbg, type, &child);
}

static void add_field(struct debuginfo *dbg, struct gotype *type, const struct die *member)
{
	struct gotype_field *field = &type->fields[type->field_count];
	const char *name = name_of_type(member), *dot = strrchr(name, '.');
	uint64_t embedded = 0;

	if (!die_number(member, DIE_MEMBER_OFF, &field->off) || field->off > type->size)
		return;
	die_number(member, DIE_GO_EMBEDDED, &embedded);
	name = dot ? dot + 1 : name;
	field->name = gotypes_text(dbg->types, name, strlen(name));
	field->type = debuginfo_part(dbg, member, DIE_TYPE);
	field->embedded = embedded;
	type->field_count++;
}

static void add_count(struct gotype *type, const struct die *die)
{
	struct die child;

	for (bool more = die_child(die, &child); more; more = die_sibling(&child, &child))
		if (die_tag(&child) == DIE_SUBRANGE) {
			die_number(&child, DIE_COUNT, &type->count);
			return;
		}
}

static void add_parts(struct debuginfo *dbg, struct gotype *type, const struct die *die)
{
	struct die to;

	switch (type->kind) {
	case GOTYPE_POINTER:
		type->elem = die_reference(die, DIE_TYPE, &to) ? known_type(dbg, to) : NULL;
		break;
	case GOTYPE_MAP:
		type->key = debuginfo_part(dbg, die, DIE_GO_KEY);
		type->elem = debuginfo_part(dbg, die, DIE_GO_ELEM);
		break;
	case GOTYPE_SLICE:
	case GOTYPE_CHAN:
		type->elem = debuginfo_part(dbg, die, DIE_GO_ELEM);
		break;
	case GOTYPE_ARRAY:
		type->elem = debuginfo_part(dbg, die, DIE_TYPE);
		add_count(type, die);
		break;
	case GOTYPE_STRUCT:
		debuginfo_fields(dbg, type, die, add_field);
		break;
	default:
		break;
	}
}

/* --- sizes and alignment of structs and arrays, once all of their parts are there --- */

/* A type that contradicts itself becomes an unknown one. */
static void give_up(struct gotype *type)
{
	type->kind = GOTYPE_UNKNOWN;
	if (type->size == DEBUGINFO_SIZE_LATER)
		type->size = 0;
	type->align = 1;
	type->elem = NULL;
	type->count = 0;
	type->fields = NULL;
	type->field_count = 0;
}

static void settle_array(struct gotype *type)
{
	uint64_t size;

	if (!type->elem->align)
		return;
	if (__builtin_mul_overflow(type->elem->size, type->count, &size) ||
	    size > GOTYPE_SIZE_MAX || (type->size != DEBUGINFO_SIZE_LATER && size != type->size)) {
		give_up(type);
		return;
	}
	type->size = size;
	type->align = type->elem->align;
}

static void settle_struct(struct gotype *type)
{
	uint32_t align = 1;

	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (!field->type->align)
			return;
		if (field->type->size > type->size - field->off) {
			give_up(type);
			return;
		}
		if (field->type->align > align)
			align = field->type->align;
	}
	type->align = align;
}

/* An alignment of 0 says that a type's parts are not settled themselves. Types that are part of
 * themselves never are. */
static void settle(struct debuginfo_part *parts, size_t count)
{
	bool left = true;

	for (unsigned pass = 0; left && pass < MAX_NESTING; pass++) {
		left = false;
		for (size_t i = count; i-- > 0;) {
			struct gotype *type = parts[i].type;

			if (!type->align && type->kind == GOTYPE_ARRAY)
				settle_array(type);
			else if (!type->align)
				settle_struct(type);
			left |= !type->align;
		}
	}
	for (size_t i = 0; left && i < count; i++)
		if (!parts[i].type->align)
			give_up(parts[i].type);
}

/* --- whole types --- */

static const struct gotype *complete(struct debuginfo *dbg, const struct gotype *type)
{
	for (size_t i = 0; i < dbg->queue_count; i++) {
		struct debuginfo_part todo = dbg->queue[i]; /* the queue grows and moves */

		dbg->dialect->parts(dbg, todo.type, &todo.die);
	}
	settle(dbg->queue, dbg->queue_count);
	dbg->queue_count = 0;
	return type;
}

const struct gotype *debuginfo_type_of(struct debuginfo *dbg, const struct die *die)
{
	return complete(dbg, debuginfo_part(dbg, die, DIE_TYPE));
}

const struct gotype *debuginfo_type_at(struct debuginfo *dbg, uint64_t off)
{
	struct die die;

	if (!dietree_at(dbg->tree, off, &die))
		return NULL;

	const struct gotype *type = complete(dbg, known_type(dbg, die));

	return type->kind != GOTYPE_UNKNOWN ? type : NULL;
}

/* --- as gc's linker writes it --- */

static const char *gc_name(struct debuginfo *dbg, const struct die *die)
{
	enum die_tag tag = die_tag(die);

	(void)dbg;
	return tag == DIE_OTHER || tag == DIE_SUBPROGRAM || tag == DIE_VARIABLE ? NULL
										: die_name(die);
}

const struct debuginfo_dialect debuginfo_gc = {
	.signature = debuginfo_signature,
	.skip = skip_typedefs,
	.type = add_type,
	.parts = add_parts,
	.name = gc_name,
	.one_has_all = true,
};
