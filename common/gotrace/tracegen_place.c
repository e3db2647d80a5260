// SPDX-License-Identifier: Apache-2.0
/* Paths: goarg1, req.URL.Path, x[3], *p, len(x). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "gotrace/tracegen_after_internal.h"
#include "gotrace/tracegen_assert_internal.h"
#include "gotrace/tracegen_context_internal.h"
#include "gotrace/tracegen_internal.h"
#include "gotrace/tracegen_label_internal.h"
#include "gotrace/tracegen_register_internal.h"

enum { FIELD_STEPS = 8 }; /* embedded pointers followed on the way to one field */

uint32_t *gen_end(struct gen *gen)
{
	return gen->probe->spec->at_return && gen->out == &gen->save ? &gen->saved_end
								     : &gen->record_end;
}

void gen_var(struct gen *gen, char name[NAME_MAX_LEN])
{
	snprintf(name, NAME_MAX_LEN, "v%u", gen->vars++);
}

static int is_absent(struct gen *gen, unsigned col)
{
	gen->absent = true;
	return gen_failed(
		errmsg_set(gen->err, "col %u: it is optimised out in this inlined copy", col));
}

int gen_load(struct gen *gen, const struct place *place, uint64_t off, unsigned size,
	     bool is_signed, unsigned col, char name[NAME_MAX_LEN])
{
	if (place->kept)
		return gen_load_kept(gen, place, off, size, is_signed, col, name);
	if (place->words) {
		snprintf(name, NAME_MAX_LEN, "%s", place->words->word[off / 8 % 3]);
		return 0;
	}
	gen_var(gen, name);
	if (place->value &&
	    !gen_load_register(gen, place->value, place->off + off, size, is_signed, name))
		return 0;
	if (place->value && gen->probe->is_copy &&
	    !gen_is_there(place->value, place->off + off, size))
		return is_absent(gen, col);
	if (place->value)
		return gen_failed(errmsg_set(
			gen->err, "col %u: a floating-point register cannot be read", col));
	ctext_line(gen->out, "u64 %s = fetch_word(&bad, %u, %s + %" PRIu64 ");", name, size,
		   place->base, place->off + off);
	if (is_signed && size < 8)
		ctext_line(gen->out, "%s = (s%u)%s;", name, 8 * size, name);
	return 0;
}

/* Replaces a place with a pointer by the place that it points to. */
int gen_follow(struct gen *gen, struct place *place, unsigned col)
{
	const struct gotype *elem = place->type->elem;

	if (!elem)
		return gen_failed(errmsg_set(gen->err, "col %u: what %s points to is not known",
					     col, place->type->name));
	struct place to = {.type = elem};

	if (gen_load(gen, place, 0, 8, false, col, to.base))
		return -1;
	ctext_line(gen->out, "must_not_be_nil(&bad, %s);", to.base);
	*place = to;
	return 0;
}

static int no_field(struct gen *gen, const struct place *place, const struct expr *expr)
{
	const struct gotype *type = place->type;
	char known[256] = "";
	size_t len = 0;

	if (type->kind != GOTYPE_STRUCT)
		return gen_failed(
			errmsg_set(gen->err, "col %u: %s has no fields", expr->col, type->name));
	for (size_t i = 0; i < type->field_count && len < sizeof(known); i++)
		len += snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "",
				type->fields[i].name);
	errmsg_set(gen->err, "col %u: %s has no field \"%s\"", expr->col, type->name, expr->text);
	if (len)
		errmsg_hint(gen->err, "it has %s", known);
	return -1;
}

static int field_place(struct gen *gen, const struct expr *expr, struct place *place)
{
	const struct gotype_field *field, *through;
	uint64_t off;

	if (gen_place(gen, expr->a, place))
		return -1;
	if (place->type->kind == GOTYPE_POINTER && gen_follow(gen, place, expr->col))
		return -1;
	for (int steps = 0; steps < FIELD_STEPS; steps++) {
		field = gotype_field(place->type, expr->text, &off, &through);
		if (!field)
			break;
		place->off += off;
		place->type = through ? through->type : field->type;
		if (!through)
			return 0;
		if (gen_follow(gen, place, expr->col))
			return -1;
	}
	return no_field(gen, place, expr);
}

static bool constant_value(const struct expr *expr, uint64_t *value)
{
	*value = expr->number;
	return expr->kind == EXPR_INT;
}

/* The place of an element in memory: `base` + index * size, with bounds checked */
static int element_at(struct gen *gen, struct place *place, const char *base, uint64_t disp,
		      const char *length, const struct expr *index)
{
	struct number n;
	char name[NAME_MAX_LEN];

	if (gen_number(gen, index, &n))
		return -1;
	gen_var(gen, name);
	ctext_line(gen->out, "u64 %s = element(&bad, %s + %" PRIu64 ", %s, %s, %" PRIu64 ");", name,
		   base, disp, n.text, length, place->type->size);
	*place = (struct place){.type = place->type};
	snprintf(place->base, sizeof(place->base), "%s", name);
	return 0;
}

/* An element of an array in registers, which has one element or none. */
static int register_element(struct gen *gen, const struct gotype *array, const struct expr *index)
{
	struct number n;

	if (gen_number(gen, index, &n))
		return -1;
	if (!array->count)
		return gen_failed(errmsg_set(gen->err, "col %u: %s has no elements", index->col,
					     array->name));
	if (array->count > 1)
		return is_absent(gen, index->col);
	ctext_line(gen->out, "element(&bad, 0, %s, %" PRIu64 ", 0);", n.text, array->count);
	return 0;
}

static int array_element(struct gen *gen, struct place *place, const struct expr *index)
{
	const struct gotype *array = place->type;
	uint64_t n;
	char length[32], base[NAME_MAX_LEN];

	place->type = array->elem;
	if (constant_value(index, &n)) {
		if (n >= array->count)
			return gen_failed(errmsg_set(gen->err, "col %u: %s has no element %" PRIu64,
						     index->col, array->name, n));
		place->off += n * array->elem->size;
		return 0;
	}
	if (place->kept && array->count > 1)
		return gen_failed(errmsg_set(
			gen->err,
			"col %u: only a constant can be the index of a parameter that is "
			"an array itself, in after()",
			index->col));
	if (place->value)
		return register_element(gen, array, index);
	snprintf(length, sizeof(length), "%" PRIu64, array->count);
	snprintf(base, sizeof(base), "%s", place->base);
	return element_at(gen, place, base, place->off, length, index);
}

static int index_place(struct gen *gen, const struct expr *expr, struct place *place)
{
	char base[NAME_MAX_LEN], length[NAME_MAX_LEN];

	if (gen_place(gen, expr->a, place))
		return -1;
	if (place->type->kind == GOTYPE_POINTER && place->type->elem &&
	    place->type->elem->kind == GOTYPE_ARRAY && gen_follow(gen, place, expr->col))
		return -1;
	if (place->type->kind == GOTYPE_ARRAY && place->type->elem)
		return array_element(gen, place, expr->b);
	if (place->type->kind != GOTYPE_STRING && place->type->kind != GOTYPE_SLICE)
		return gen_failed(errmsg_set(gen->err, "col %u: %s cannot be indexed", expr->col,
					     place->type->name));
	if (gen_load(gen, place, 0, 8, false, expr->col, base) ||
	    gen_load(gen, place, 8, 8, false, expr->col, length))
		return -1;
	place->type = place->type->kind == GOTYPE_STRING ? gotypes_basic(gen->memory, "uint8")
							 : place->type->elem;
	if (!place->type)
		return gen_failed(
			errmsg_set(gen->err, "col %u: its elements are not known", expr->col));
	return element_at(gen, place, base, 0, length, expr->b);
}

static int deref_place(struct gen *gen, const struct expr *expr, struct place *place)
{
	if (gen_place(gen, expr->a, place))
		return -1;
	if (place->type->kind != GOTYPE_POINTER)
		return gen_failed(errmsg_set(gen->err, "col %u: %s is not a pointer", expr->col,
					     place->type->name));
	return gen_follow(gen, place, expr->col);
}

static int after_place(struct gen *gen, const struct expr *expr, struct place *out)
{
	bool before = gen->after;

	gen->after = true;
	int ret = gen_place(gen, expr->a, out);

	gen->after = before;
	return ret;
}

bool gen_is_place(const struct expr *expr)
{
	if (expr->kind == EXPR_AFTER)
		return gen_is_place(expr->a);
	return expr->kind == EXPR_SLICE || expr->kind == EXPR_NAME || expr->kind == EXPR_PARAM ||
	       expr->kind == EXPR_RESULT || expr->kind == EXPR_ERROR || expr->kind == EXPR_LABEL ||
	       expr->kind == EXPR_FIELD || expr->kind == EXPR_INDEX || expr->kind == EXPR_ASSERT ||
	       expr->kind == EXPR_DEREF || expr->kind == EXPR_TRACEID || expr->kind == EXPR_CTX;
}

int gen_place(struct gen *gen, const struct expr *expr, struct place *out)
{
	switch (expr->kind) {
	case EXPR_NAME:
	case EXPR_PARAM:
	case EXPR_RESULT:
	case EXPR_ERROR:
		return gen_symbol_place(gen, expr, out);
	case EXPR_LABEL:
		return gen_label_place(gen, expr, out);
	case EXPR_TRACEID:
	case EXPR_CTX:
		return gen_context_place(gen, expr, out);
	case EXPR_FIELD:
		return field_place(gen, expr, out);
	case EXPR_INDEX:
		return index_place(gen, expr, out);
	case EXPR_ASSERT:
		return gen_assert_place(gen, expr, out);
	case EXPR_DEREF:
		return deref_place(gen, expr, out);
	case EXPR_SLICE:
		return gen_slice_place(gen, expr, out);
	case EXPR_AFTER:
		return after_place(gen, expr, out);
	default:
		return gen_failed(errmsg_set(gen->err, "col %u: this has no fields and no elements",
					     expr->col));
	}
}

/* Maps and channels begin with their number of elements; a channel's capacity follows it.
 * (Go's src/runtime/chan.go, map.go; src/internal/runtime/maps/map.go) */
static int behind_pointer(struct gen *gen, const struct place *place, unsigned off, unsigned col,
			  struct number *out)
{
	char pointer[NAME_MAX_LEN];

	if (gen_load(gen, place, 0, 8, false, col, pointer))
		return -1;
	gen_var(gen, out->text);
	ctext_line(gen->out, "u64 %s = 0;", out->text);
	ctext_open(gen->out, "if (%s)", pointer);
	ctext_line(gen->out, "%s = fetch_word(&bad, 8, %s + %u);", out->text, pointer, off);
	ctext_close(gen->out);
	return 0;
}

int gen_length(struct gen *gen, const struct expr *expr, struct number *out)
{
	bool cap = expr->kind == EXPR_CAP;
	struct place place;

	*out = (struct number){0};
	if (gen_place(gen, expr->a, &place))
		return -1;
	enum gotype_kind kind = place.type->kind;

	if (kind == GOTYPE_ARRAY) {
		snprintf(out->text, sizeof(out->text), "%" PRIu64 "ULL", place.type->count);
		return 0;
	}
	if (kind == GOTYPE_SLICE || ((kind == GOTYPE_STRING || kind == GOTYPE_PAIR) && !cap))
		return gen_load(gen, &place, cap ? 16 : 8, 8, false, expr->col, out->text);
	if (kind == GOTYPE_CHAN || (kind == GOTYPE_MAP && !cap))
		return behind_pointer(gen, &place, cap ? 8 : 0, expr->col, out);
	return gen_failed(errmsg_set(gen->err, "col %u: %s has no %s", expr->col, place.type->name,
				     cap ? "capacity" : "length"));
}
