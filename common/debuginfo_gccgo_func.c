// SPDX-License-Identifier: Apache-2.0
/* Signatures from GCC's DWARF. Several results are one struct; a receiver that is no pointer is one
 * all the same, and a variable holds what it points to. */
#include <stdio.h>
#include <string.h>

#include "debuginfo_gccgo.h"
#include "funcname.h"

enum { MAX_PARAMS = 1000, MAX_CHILDREN = 1 << 16 };

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
static const char *plain_name(struct debuginfo *dbg, const struct die *die)
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

	out->name = plain_name(dbg, die);
	out->type = debuginfo_type_of(dbg, die);
	if (!name || !is_pointer_name(name) || !die_reference(die, DIE_TYPE, &pointer) ||
	    !die_reference(&pointer, DIE_TYPE, &elem))
		return;
	if (find_variable(func, die, &variable) && type_is(&variable, &elem)) {
		out->name = plain_name(dbg, &variable);
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
		param->name = plain_name(dbg, &die);
		param->type = debuginfo_type_of(dbg, &die);
	}
}

/* --- results --- */

/* Several results are a struct without a name, whose members were declared where the variables
 * were that hold them. */
static bool is_several(const struct die *func, const struct die *type)
{
	struct die member, variable;
	size_t count = 0;

	if (die_tag(type) != DIE_STRUCT || debuginfo_gccgo_kind(type) != GOTYPE_STRUCT)
		return false;
	for (bool more = die_child(type, &member); more; more = die_sibling(&member, &member)) {
		const char *name = die_name(&member);

		if (die_tag(&member) != DIE_MEMBER)
			continue;
		if (count++ == MAX_PARAMS || !name ||
		    (strcmp(name, "UNNAMED") != 0 && !find_variable(func, &member, &variable)))
			return false;
	}
	return count > 1;
}

static void add_result(struct debuginfo *dbg, const struct die *die, const char *name,
		       struct gofunc *out)
{
	struct goparam *result = &out->results[out->result_count];
	char number[32];

	if (!name || strpbrk(name, ".$") || !strcmp(name, "_") || !strcmp(name, "UNNAMED")) {
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

int debuginfo_gccgo_signature(struct debuginfo *dbg, const struct die *func, const char *name,
			      struct gofunc *out)
{
	struct die named = named_instance(func);
	struct funcname parts;

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

static bool is_word(const struct gotype *type)
{
	switch (type->kind) {
	case GOTYPE_BOOL:
	case GOTYPE_INT:
	case GOTYPE_UINT:
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_CHAN:
	case GOTYPE_FUNC:
		return true;
	default:
		return false;
	}
}

void debuginfo_gccgo_place(const struct die *func, uint64_t addr, size_t param,
			   const struct gotype *type, struct abi_value *out)
{
	struct die origin, named, copy;
	struct die_place place;

	if (!is_word(type) || !out->pieces || !die_reference(func, DIE_ORIGIN, &origin) ||
	    !nth_param(&origin, param, &named) || !copy_of(func, &named, &copy) ||
	    !die_place(&copy, addr, &place) || !place.in_register || place.size)
		return;
	out->pieces[0] = (struct abi_piece){ABI_HARDWARE, place.n, 0, type->size, 0};
	out->count = 1;
}
