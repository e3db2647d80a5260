// SPDX-License-Identifier: Apache-2.0
#include "dwarf/debuginfo_gccgo_internal.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "dwarf/debuginfo_dialect_internal.h"
#include "dwarf/dietree_internal.h"

enum { MAX_CHAIN = 32, MEMBERS = 3, WORD = 8 };

bool debuginfo_gccgo_skip(struct die *die)
{
	for (unsigned i = 0; i < MAX_CHAIN; i++) {
		if (die_tag(die) != DIE_OTHER)
			return true;
		if (!die_reference(die, DIE_TYPE, die))
			return false;
	}
	return false;
}

bool debuginfo_gccgo_bare(struct die *die)
{
	for (unsigned i = 0; i < MAX_CHAIN; i++) {
		if (die_tag(die) != DIE_OTHER && die_tag(die) != DIE_TYPEDEF)
			return true;
		if (!die_reference(die, DIE_TYPE, die))
			return false;
	}
	return false;
}

static enum gotype_kind base_kind(const struct die *die)
{
	static const enum gotype_kind kinds[] = {
		/* by DW_ATE_* */
		[2] = GOTYPE_BOOL, [3] = GOTYPE_COMPLEX, [4] = GOTYPE_FLOAT, [5] = GOTYPE_INT,
		[6] = GOTYPE_INT,  [7] = GOTYPE_UINT,    [8] = GOTYPE_UINT};
	uint64_t encoding = 0;

	die_number(die, DIE_ENCODING, &encoding);
	return encoding < sizeof(kinds) / sizeof(*kinds) ? kinds[encoding] : GOTYPE_UNKNOWN;
}

/* Names of the first members; returns how many there are, MEMBERS + 1 at most. */
static size_t first_members(const struct die *die, const char *names[MEMBERS])
{
	struct die child;
	size_t count = 0;

	for (bool more = die_child(die, &child); more && count <= MEMBERS;
	     more = die_sibling(&child, &child)) {
		if (die_tag(&child) != DIE_MEMBER)
			continue;
		const char *name = die_name(&child);

		if (count < MEMBERS)
			names[count] = name ? name : "";
		count++;
	}
	return count;
}

static bool has_members(const struct die *die, size_t count, const char *const names[MEMBERS])
{
	const char *own[MEMBERS];

	if (first_members(die, own) != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(own[i], names[i]) != 0)
			return false;
	return true;
}

bool debuginfo_gccgo_is_time(const struct die *die)
{
	static const char *const names[MEMBERS] = {"wall", "ext", "loc"};

	return die_tag(die) == DIE_STRUCT && has_members(die, 3, names);
}

static enum gotype_kind struct_kind(const struct die *die)
{
	static const struct {
		size_t count;
		const char *names[MEMBERS];
		enum gotype_kind kind;
	} rows[] = {
		{2, {"__data", "__length"}, GOTYPE_STRING},
		{3, {"__values", "__count", "__capacity"}, GOTYPE_SLICE},
		{2, {"__methods", "__object"}, GOTYPE_INTERFACE},
		{2, {"__type_descriptor", "__object"}, GOTYPE_INTERFACE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (has_members(die, rows[i].count, rows[i].names))
			return rows[i].kind;
	return GOTYPE_STRUCT;
}

static enum gotype_kind pointer_kind(const struct die *die)
{
	static const struct {
		const char *name;
		enum gotype_kind kind;
	} rows[] = {{"runtime.hmap", GOTYPE_MAP},
		    {"__go_channel", GOTYPE_CHAN},
		    {"__go_descriptor", GOTYPE_FUNC}};
	struct die to;
	const char *name;

	if (!die_reference(die, DIE_TYPE, &to) || die_tag(&to) != DIE_TYPEDEF ||
	    !(name = die_name(&to)))
		return GOTYPE_POINTER;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (!strcmp(name, rows[i].name))
			return rows[i].kind;
	return GOTYPE_POINTER;
}

enum gotype_kind debuginfo_gccgo_kind(const struct die *die)
{
	switch (die_tag(die)) {
	case DIE_BASE_TYPE:
		return base_kind(die);
	case DIE_STRUCT:
		return struct_kind(die);
	case DIE_POINTER:
		return pointer_kind(die);
	case DIE_ARRAY:
		return GOTYPE_ARRAY;
	default:
		return GOTYPE_UNKNOWN;
	}
}

static bool is_number(enum gotype_kind kind)
{
	return kind == GOTYPE_BOOL || kind == GOTYPE_INT || kind == GOTYPE_UINT ||
	       kind == GOTYPE_FLOAT || kind == GOTYPE_COMPLEX;
}

/* May a number of this kind have this size? */
static bool is_right_size(enum gotype_kind kind, uint64_t size)
{
	uint64_t least = kind == GOTYPE_FLOAT ? 4 : kind == GOTYPE_COMPLEX ? 8 : 1;
	uint64_t most = kind == GOTYPE_BOOL ? 1 : kind == GOTYPE_COMPLEX ? 16 : 8;

	return size >= least && size <= most && !(size & (size - 1));
}

static uint64_t size_of(const struct die *die, enum gotype_kind kind)
{
	uint64_t size = 0;

	switch (kind) {
	case GOTYPE_STRING:
	case GOTYPE_INTERFACE:
		return 2 * WORD;
	case GOTYPE_SLICE:
		return 3 * WORD;
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_CHAN:
	case GOTYPE_FUNC:
		return WORD;
	case GOTYPE_ARRAY:
		return DEBUGINFO_SIZE_LATER;
	default:
		die_number(die, DIE_BYTE_SIZE, &size);
		return size <= GOTYPE_SIZE_MAX ? size : 0;
	}
}

static uint32_t align_of(enum gotype_kind kind, uint64_t size)
{
	if (kind == GOTYPE_STRUCT || kind == GOTYPE_ARRAY)
		return 0; /* as long as their parts are not known */
	if (kind == GOTYPE_COMPLEX)
		return size / 2;
	return is_number(kind) ? size : kind == GOTYPE_UNKNOWN ? 1 : WORD;
}

static struct gotype *gccgo_type(struct debuginfo *dbg, const struct die *die)
{
	const struct debuginfo_desc *desc = NULL;
	const char *names[MEMBERS], *own = die_name(die), *said = NULL;
	struct die bare = *die;
	bool is_known = debuginfo_gccgo_bare(&bare);
	enum gotype_kind kind = is_known ? debuginfo_gccgo_kind(&bare) : GOTYPE_UNKNOWN;
	uint64_t size = is_known ? size_of(&bare, kind) : 0;

	if (is_number(kind) && !is_right_size(kind, size))
		kind = GOTYPE_UNKNOWN;

	struct gotype *type = gotypes_add(dbg->types, kind, "");

	type->size = size;
	type->align = align_of(kind, size);
	type->has_methods = kind == GOTYPE_INTERFACE && first_members(&bare, names) == 2 &&
			    !strcmp(names[0], "__methods");
	if (die_tag(die) == DIE_TYPEDEF && own) {
		type->defined = *own == '.' || isupper((unsigned char)*own) || *own & 0x80 ||
				!strcmp(own, "error");
		desc = debuginfo_gccgo_desc(dbg, die);
		said = desc ? debuginfo_gccgo_desc_name(dbg, desc, kind, size) : NULL;
	}
	type->rtype = said ? desc->addr : 0;
	if (type->defined && !said)
		said = debuginfo_gccgo_foreign_name(dbg, die, kind, size);
	type->name = said ? said : debuginfo_gccgo_name(dbg, die);
	return type;
}

/* --- parts --- */

static bool is_padding(const struct gotype *type, const char *name, uint64_t off)
{
	const struct gotype_field *last =
		type->field_count ? &type->fields[type->field_count - 1] : NULL;

	return last && last->off == off && !strcmp(name, "_");
}

static void add_field(struct debuginfo *dbg, struct gotype *type, const struct die *member)
{
	struct gotype_field *field = &type->fields[type->field_count];
	const char *name = die_name(member), *dot = name ? strrchr(name, '.') : NULL;
	uint64_t off;

	if (!die_number(member, DIE_MEMBER_OFF, &off) || off > type->size)
		return;
	name = dot ? dot + 1 : name ? name : "";
	if (is_padding(type, name, off)) /* after a last field without a size */
		return;
	field->name = gotypes_text(dbg->types, name, strlen(name));
	field->type = debuginfo_part(dbg, member, DIE_TYPE);
	field->off = off;
	type->field_count++;
}

size_t debuginfo_gccgo_dims(const struct die *array, uint64_t lengths[DEBUGINFO_DIMS])
{
	struct die child;
	size_t count = 0;
	uint64_t last;

	for (bool more = die_child(array, &child); more && count < DEBUGINFO_DIMS;
	     more = die_sibling(&child, &child))
		if (die_tag(&child) == DIE_SUBRANGE && die_number(&child, DIE_UPPER_BOUND, &last))
			lengths[count++] = last + 1;
	return count;
}

/* GCC writes an array of arrays as one with several lengths. */
static void add_dims(struct debuginfo *dbg, struct gotype *type, const struct die *die)
{
	uint64_t lengths[DEBUGINFO_DIMS];
	size_t count = debuginfo_gccgo_dims(die, lengths);
	const char *name = count > 1 ? debuginfo_gccgo_name(dbg, die) : NULL;
	struct gotype *inner = type;

	for (size_t i = 0; i < count; i++) {
		inner->count = lengths[i];
		if (i + 1 == count)
			break;
		name = strchr(name, ']') ? strchr(name, ']') + 1 : name;
		struct gotype *next = gotypes_add(dbg->types, GOTYPE_ARRAY, name);

		next->align = 0;
		next->size = DEBUGINFO_SIZE_LATER;
		inner->elem = next;
		inner = next;
		debuginfo_queue(dbg, next, die);
	}
	inner->elem = debuginfo_part(dbg, die, DIE_TYPE);
}

bool debuginfo_gccgo_elem(const struct die *slice, struct die *out)
{
	struct die member;

	return die_child(slice, &member) && die_reference(&member, DIE_TYPE, &member) &&
	       debuginfo_gccgo_bare(&member) && die_reference(&member, DIE_TYPE, out);
}

static void gccgo_parts(struct debuginfo *dbg, struct gotype *type, const struct die *die)
{
	struct die bare = *die, member;

	if (!debuginfo_gccgo_bare(&bare))
		return;
	switch (type->kind) {
	case GOTYPE_POINTER:
		if (die_reference(&bare, DIE_TYPE, &member))
			type->elem = debuginfo_part(dbg, &bare, DIE_TYPE);
		break;
	case GOTYPE_SLICE:
		if (die_child(&bare, &member) && die_reference(&member, DIE_TYPE, &member) &&
		    debuginfo_gccgo_bare(&member))
			type->elem = debuginfo_part(dbg, &member, DIE_TYPE);
		break;
	case GOTYPE_ARRAY:
		if (!type->elem)
			add_dims(dbg, type, &bare);
		break;
	case GOTYPE_STRUCT:
		debuginfo_fields(dbg, type, &bare, add_field);
		break;
	default:
		break;
	}
}

static const char *gccgo_name(struct debuginfo *dbg, const struct die *die)
{
	const struct debuginfo_desc *desc =
		die_tag(die) == DIE_TYPEDEF ? debuginfo_gccgo_desc(dbg, die) : NULL;

	return desc ? desc->full : NULL;
}

const struct debuginfo_dialect debuginfo_gccgo = {
	.signature = debuginfo_gccgo_signature,
	.place = debuginfo_gccgo_place,
	.skip = debuginfo_gccgo_skip,
	.type = gccgo_type,
	.parts = gccgo_parts,
	.name = gccgo_name,
};
