// SPDX-License-Identifier: Apache-2.0
/* Signatures from GCC's DWARF. Several results are one struct. A receiver that is no pointer is a
 * pointer there all the same, and a variable holds what it points to. */
#include <stdio.h>
#include <string.h>

#include "dwarf/debuginfo_gccgo_internal.h"
#include "dwarf/dietree_place_internal.h"
#include "golang/funcname.h"
#include "machine/registers.h"
#include "dwarf/dietree_internal.h"

enum {
	MAX_PARAMS = 1000,
	MAX_CHILDREN = 1 << 12, /* results' variables come first */
	MAX_PIECES = 16,
	WORD = 8,
};

/* The instance that lists parameters, results and variables by name */
static struct die named_instance(const struct die *func)
{
	struct die origin;

	return die_reference(func, DIE_ORIGIN, &origin) ? origin : *func;
}

static bool same_line(const struct die *a, const struct die *b)
{
	uint64_t lines[2], columns[2];

	return die_number(a, DIE_LINE, &lines[0]) && die_number(b, DIE_LINE, &lines[1]) &&
	       die_number(a, DIE_COLUMN, &columns[0]) && die_number(b, DIE_COLUMN, &columns[1]) &&
	       lines[0] == lines[1] && columns[0] == columns[1];
}

/* A variable of the function that was declared where `at` was. */
static bool find_variable(const struct die *func, const struct die *at, struct die *out)
{
	unsigned left = MAX_CHILDREN;

	for (bool more = die_child(func, out); more && left; more = die_sibling(out, out)) {
		left--;
		if (die_tag(out) == DIE_VARIABLE && same_line(out, at))
			return true;
	}
	return false;
}

static bool type_is(const struct die *die, const struct die *type)
{
	struct die has;

	return die_reference(die, DIE_TYPE, &has) && die_off(&has) == die_off(type);
}

/* What gccgo names itself: p.0, r.0, $this1. */
static const char *source_name(struct debuginfo *dbg, const struct die *die)
{
	const char *name = die_name(die);

	if (!name || strpbrk(name, ".$"))
		return "_";
	return gotypes_text(dbg->types, name, strlen(name));
}

/* --- the receiver --- */

static bool is_pointer_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return strcmp(dot ? dot + 1 : name, "pointer") == 0;
}

/* "pointer" is what gccgo calls the parameter that leads to a receiver; but so may a user. */
static void add_receiver(struct debuginfo *dbg, const struct die *func, const struct die *die,
			 struct goparam *out)
{
	const char *name = die_name(die);
	struct die pointer, elem, variable;

	out->name = source_name(dbg, die);
	out->type = debuginfo_type_of(dbg, die);
	if (!name || !is_pointer_name(name) || !die_reference(die, DIE_TYPE, &pointer) ||
	    !die_reference(&pointer, DIE_TYPE, &elem))
		return;
	if (find_variable(func, die, &variable) && type_is(&variable, &elem)) {
		out->name = source_name(dbg, &variable);
		out->type = debuginfo_type_of(dbg, &variable);
		out->by_address = true;
	} else if (strchr(name, '.')) {
		out->type = debuginfo_type_of(dbg, &pointer);
		out->by_address = true;
	}
}

static void add_params(struct debuginfo *dbg, const struct die *func, struct gofunc *out)
{
	struct die die;
	unsigned left = MAX_CHILDREN;
	size_t count = 0;

	for (bool more = die_child(func, &die); more && left;
	     more = die_sibling(&die, &die), left--)
		count += die_tag(&die) == DIE_PARAMETER && count < MAX_PARAMS;
	out->params = gotypes_alloc(dbg->types, count, sizeof(*out->params));
	for (bool more = die_child(func, &die); more && out->param_count < count;
	     more = die_sibling(&die, &die)) {
		struct goparam *param = &out->params[out->param_count];

		if (die_tag(&die) != DIE_PARAMETER)
			continue;
		if (!out->param_count++) {
			add_receiver(dbg, func, &die, param);
			continue;
		}
		param->name = source_name(dbg, &die);
		param->type = debuginfo_type_of(dbg, &die);
	}
}

/* --- results --- */

static bool is_unnamed(const char *name)
{
	return !strcmp(name, "UNNAMED") || !strcmp(name, "_");
}

/* Is there a variable that holds a result? It has the result's name, or is called $ret0. `name`
 * NULL: any name. */
static bool has_variable(const struct die *func, const char *name, const struct die *type)
{
	unsigned left = MAX_CHILDREN;
	struct die die;

	for (bool more = die_child(func, &die); more && left; more = die_sibling(&die, &die)) {
		const char *other = die_tag(&die) == DIE_VARIABLE ? die_name(&die) : NULL;

		left--;
		if (other && type_is(&die, type) &&
		    (!name || !strcmp(name, other) ||
		     (is_unnamed(name) && !strncmp(other, "$ret", 4))))
			return true;
	}
	return false;
}

/* Is it the type of several results? That is a struct without a name, and a variable holds each. */
static bool is_several(const struct die *func, const struct die *type)
{
	struct die member, of;
	size_t count = 0;

	if (die_tag(type) != DIE_STRUCT || debuginfo_gccgo_kind(type) != GOTYPE_STRUCT ||
	    has_variable(func, NULL, type) || !die_child(type, &member))
		return false;
	for (bool more = true; more; more = die_sibling(&member, &member)) {
		if (die_tag(&member) != DIE_MEMBER)
			continue;
		if (count++ == MAX_PARAMS || !die_name(&member) ||
		    !die_reference(&member, DIE_TYPE, &of) ||
		    !has_variable(func, die_name(&member), &of))
			return false;
	}
	return count > 1;
}

static void add_result(struct debuginfo *dbg, const struct die *die, const char *name,
		       struct gofunc *out)
{
	struct goparam *result = &out->results[out->result_count];
	char number[32];

	if (!name || strpbrk(name, ".$") || is_unnamed(name)) {
		snprintf(number, sizeof(number), "~r%zu", out->result_count);
		name = number;
	}
	result->name = gotypes_text(dbg->types, name, strlen(name));
	result->type = debuginfo_type_of(dbg, die);
	out->result_count++;
}

static void add_several(struct debuginfo *dbg, const struct die *type, struct gofunc *out)
{
	struct die member;

	out->results = gotypes_alloc(dbg->types, MAX_PARAMS + 1, sizeof(*out->results));
	for (bool more = die_child(type, &member); more; more = die_sibling(&member, &member))
		if (die_tag(&member) == DIE_MEMBER && out->result_count <= MAX_PARAMS)
			add_result(dbg, &member, die_name(&member), out);
}

/* The first variable that is not the receiver's is the result's. */
static const char *result_name(const struct die *func)
{
	unsigned left = MAX_CHILDREN;
	struct die die, first = {0};
	bool has_first = false;

	for (bool more = die_child(func, &die); more && left; more = die_sibling(&die, &die)) {
		left--;
		if (die_tag(&die) == DIE_PARAMETER && !has_first) {
			first = die;
			has_first = true;
		}
		if (die_tag(&die) == DIE_VARIABLE && !(has_first && same_line(&die, &first)))
			return die_name(&die);
	}
	return NULL;
}

static void add_results(struct debuginfo *dbg, const struct die *func, struct gofunc *out)
{
	struct die type;

	if (!die_reference(func, DIE_TYPE, &type))
		return;
	if (is_several(func, &type)) {
		add_several(dbg, &type, out);
		return;
	}
	out->results = gotypes_alloc(dbg->types, 1, sizeof(*out->results));
	add_result(dbg, func, result_name(func), out);
}

int debuginfo_gccgo_signature(struct debuginfo *dbg, const struct die *func, uint64_t addr,
			      const char *name, struct gofunc *out)
{
	struct die named = named_instance(func);
	struct funcname parts;

	(void)addr;
	if (!debuginfo_gccgo_has_types(dbg, func))
		return -1;
	funcname_parse(name, &parts);
	*out = (struct gofunc){.dictionary = -1, .source = GOFUNC_DEBUGINFO};
	add_params(dbg, &named, out);
	add_results(dbg, &named, out);
	out->receiver = parts.receiver && out->param_count;
	return 0;
}

/* --- places --- */

static bool nth_param(const struct die *func, size_t n, struct die *out)
{
	unsigned left = MAX_CHILDREN;

	for (bool more = die_child(func, out); more && left; more = die_sibling(out, out), left--)
		if (die_tag(out) == DIE_PARAMETER && !n--)
			return true;
	return false;
}

/* The copy of a parameter in an instance: by its origin, since not all need have one. */
static bool copy_of(const struct die *func, const struct die *param, struct die *out)
{
	unsigned left = MAX_CHILDREN;
	struct die origin;

	for (bool more = die_child(func, out); more && left; more = die_sibling(out, out), left--)
		if (die_tag(out) == DIE_PARAMETER && die_reference(out, DIE_ORIGIN, &origin) &&
		    die_off(&origin) == die_off(param))
			return true;
	return false;
}

/* Bytes [off, off + size) of a value that begin in a register, in parts that can be read at once.
 */
static bool add_register(struct abi_value *out, size_t max, uint64_t n, uint64_t off, uint64_t size)
{
	int vector = registers_float(ARCH_AMD64, n);

	if (size > WORD || (vector < 0 && !registers_by_dwarf(ARCH_AMD64, n)))
		return false;
	for (uint64_t from = 0; from < size && out->count < max;) {
		uint32_t part = WORD;

		while (from % part || from + part > size)
			part /= 2;
		out->pieces[out->count++] = (struct abi_piece){
			vector >= 0 ? ABI_FLOAT : ABI_HARDWARE, vector >= 0 ? (unsigned)vector : n,
			off + from, part, from};
		from += part;
	}
	return true;
}

/* The CFA is the address of the first stack argument. */
static bool add_piece(struct abi_value *out, size_t max, const struct die_piece *piece)
{
	if (piece->in_register)
		return add_register(out, max, piece->n, piece->off, piece->size);
	if (piece->n < 0 || piece->n > INT32_MAX || out->count == max)
		return false;
	out->pieces[out->count++] =
		(struct abi_piece){ABI_SLOT, piece->n, piece->off, piece->size, 0};
	return true;
}

struct location {
	uint64_t addr;
	struct die_pieces pieces; /* while the instruction there is about to be executed */
};

static void on_location(uint64_t from, uint64_t to, const struct die_pieces *pieces, void *ctx)
{
	struct location *location = ctx;

	if (from <= location->addr && location->addr < to)
		location->pieces = *pieces;
}

bool debuginfo_gccgo_place(const struct die *func, uint64_t addr, size_t param,
			   const struct gotype *type, struct abi_value *out)
{
	struct abi_piece kept[3 * MAX_PIECES]; /* 7 bytes are three parts */
	struct abi_value value = {.pieces = kept};
	struct location location = {.addr = addr};
	struct die origin, named, copy;
	struct die_place place;

	if (!die_reference(func, DIE_ORIGIN, &origin) || !nth_param(&origin, param, &named) ||
	    !copy_of(func, &named, &copy))
		return false;
	die_each_location(&copy, on_location, &location);
	if (!location.pieces.count && die_place(&copy, addr, &place) && place.is_fixed &&
	    !place.in_register && place.size == UINT64_MAX) /* on the stack, all the time */
		location.pieces = (struct die_pieces){.items = {{.n = place.n, .size = type->size}},
						      .count = 1};
	for (size_t i = 0; i < location.pieces.count; i++) {
		struct die_piece piece = location.pieces.items[i];

		if (piece.off >= type->size)
			break;
		if (piece.size > type->size - piece.off)
			piece.size = type->size - piece.off;
		if (!add_piece(&value, 3 * MAX_PIECES, &piece))
			return false;
	}
	abi_keep_pieces(out, kept, value.count);
	return value.count;
}
