// SPDX-License-Identifier: Apache-2.0
/* x[i:j]: words computed from x's words. Elements beyond the end are left out. */
#include <inttypes.h>
#include <stdio.h>

#include "base/errmsg.h"
#include "gotrace/tracegen_after_internal.h"

struct sliced { /* what is sliced */
	struct gen_words words;
	const struct gotype *type; /* of the slice */
	uint64_t elem_size;
};

static int cannot_slice(struct gen *gen, const struct gotype *type, const struct expr *expr)
{
	return gen_failed(
		errmsg_set(gen->err, "col %u: %s cannot be sliced", expr->col, type->name));
}

/* Opens an array in memory, or one that a pointer points to. */
static int open_array(struct gen *gen, struct place *place, const struct expr *expr,
		      struct sliced *out)
{
	const struct gotype *array = place->type;

	if (place->value || !array->elem)
		return cannot_slice(gen, array, expr);
	out->type = gotypes_slice(gen->memory, array->elem);
	gen_var(gen, out->words.word[0]);
	ctext_line(gen->out, "u64 %s = %s + %" PRIu64 ";", out->words.word[0], place->base,
		   place->off);
	for (int i = 1; i < 3; i++)
		snprintf(out->words.word[i], NAME_MAX_LEN, "%" PRIu64 "ULL", array->count);
	return 0;
}

static int open_sliced(struct gen *gen, const struct expr *expr, struct sliced *out)
{
	struct place place;

	if (gen_place(gen, expr->a, &place))
		return -1;
	if (place.type->kind == GOTYPE_POINTER && place.type->elem &&
	    place.type->elem->kind == GOTYPE_ARRAY && gen_follow(gen, &place, expr->col))
		return -1;
	enum gotype_kind kind = place.type->kind;

	if (kind == GOTYPE_ARRAY && open_array(gen, &place, expr, out))
		return -1;
	if (kind != GOTYPE_ARRAY && kind != GOTYPE_STRING && kind != GOTYPE_SLICE)
		return cannot_slice(gen, place.type, expr);
	if (kind != GOTYPE_ARRAY)
		out->type = place.type;
	for (int i = 0; kind != GOTYPE_ARRAY && i < 3; i++)
		if (gen_load(gen, &place, i == 2 && kind == GOTYPE_STRING ? 8 : 8 * i, 8, false,
			     expr->col, out->words.word[i]))
			return -1;
	if (kind != GOTYPE_STRING && !out->type->elem)
		return cannot_slice(gen, place.type, expr);
	out->elem_size = kind == GOTYPE_STRING ? 1 : out->type->elem->size;
	return 0;
}

/* The slice's beginning: 0, or a number. */
static int low_end(struct gen *gen, const struct expr *expr, struct number *out)
{
	*out = (struct number){.text = "0ULL"};
	return expr->b ? gen_number(gen, expr->b, out) : 0;
}

/* The words from `low` to `end`. */
static void make_words(struct gen *gen, const struct sliced *of, const char *low, const char *end,
		       struct place *out)
{
	struct gen_words *words = gotypes_alloc(gen->memory, 1, sizeof(*words));

	for (int i = 0; i < 3; i++)
		gen_var(gen, words->word[i]);
	ctext_line(gen->out, "u64 %s = %s + %s * %" PRIu64 ";", words->word[0], of->words.word[0],
		   low, of->elem_size);
	ctext_line(gen->out, "u64 %s = %s - %s;", words->word[1], end, low);
	ctext_line(gen->out, "u64 %s = %s - %s;", words->word[2], of->words.word[2], low);
	*out = (struct place){.type = of->type, .words = words};
}

int gen_slice_place(struct gen *gen, const struct expr *expr, struct place *out)
{
	struct sliced of = {0};
	struct number low, high;
	char end[NAME_MAX_LEN];

	if (open_sliced(gen, expr, &of) || low_end(gen, expr, &low))
		return -1;
	snprintf(high.text, sizeof(high.text), "%s", of.words.word[1]);
	if (expr->c && gen_number(gen, expr->c, &high))
		return -1;
	gen_var(gen, end);
	ctext_line(gen->out, "u64 %s = slice_end(&bad, %s, %s, %s);", end, low.text, high.text,
		   of.words.word[2]);
	make_words(gen, &of, low.text, end, out);
	return 0;
}

bool gen_is_cut_later(const struct gen *gen, const struct expr *expr)
{
	return expr->kind == EXPR_SLICE && gen->returning && expr->c &&
	       gen_uses(gen, expr->a) == GEN_USES_ENTRY &&
	       !(gen_uses(gen, expr->b) & GEN_USES_RETURN) &&
	       gen_uses(gen, expr->c) & GEN_USES_RETURN;
}

struct shape *gen_cut_value(struct gen *gen, const struct expr *expr,
			    const struct shape_limits *limits, uint32_t *state_at)
{
	struct ctext *before = gen_enter_entry(gen);
	struct sliced of = {0};
	struct number low, high;
	struct place all;
	char end[NAME_MAX_LEN];

	ctext_line(gen->out, "bad = 0;");
	if (open_sliced(gen, expr, &of) || low_end(gen, expr, &low))
		return NULL;
	gen_var(gen, end);
	ctext_line(gen->out, "u64 %s = slice_end(&bad, %s, %s, %s);", end, low.text,
		   of.words.word[2], of.words.word[2]);
	make_words(gen, &of, low.text, end, &all);
	*state_at = *gen_end(gen);
	*gen_end(gen) += 8;
	struct shape *shape = shape_new(gen->memory, all.type, limits, gen_end(gen));

	gen_value(gen, &all, shape, *state_at);
	gen_leave_entry(gen, before, low.text);
	if (gen_number(gen, expr->c, &high))
		return NULL;
	gen_var(gen, end);
	ctext_line(gen->out, "u64 %s = slice_end(&bad, %s, %s, %s + *(u64 *)(rec + %u));", end,
		   low.text, high.text, low.text, shape->at + 8);
	ctext_line(gen->out, "*(u64 *)(rec + %u) = %s - %s;", shape->at + 8, end, low.text);
	ctext_line(gen->out, "*(s64 *)(rec + %u) = bad ? bad : *(s64 *)(rec + %u);", *state_at,
		   *state_at);
	if (shape->ref_count)
		ctext_line(
			gen->out,
			"*(s64 *)(rec + %u) = slice_state(*(s64 *)(rec + %u), (%s - %s) * %" PRIu64
			");",
			shape->refs[0].state_at, shape->refs[0].state_at, end, low.text,
			of.elem_size);
	return shape;
}
