// SPDX-License-Identifier: Apache-2.0
/* after(): parameters as they were at entry, at return. */
#include "gotrace/tracegen_after_internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/errmsg.h"
#include "values/shape_walk.h"

struct ctext *gen_enter_entry(struct gen *gen)
{
	struct ctext *before = gen->out;

	gen->out = &gen->save;
	gen->returning = false;
	return before;
}

void gen_leave_entry(struct gen *gen, struct ctext *before, char name[NAME_MAX_LEN])
{
	uint32_t at = *gen_end(gen);

	*gen_end(gen) += 16;
	ctext_line(gen->out, "*(u64 *)(rec + %u) = %s;", at, name);
	ctext_line(gen->out, "*(s64 *)(rec + %u) = bad;", at + 8);
	gen->out = before;
	gen->returning = true;
	gen_var(gen, name);
	ctext_line(gen->out, "u64 %s = *(u64 *)(rec + %u);", name, at);
	ctext_line(gen->out, "must(&bad, *(s64 *)(rec + %u));", at + 8);
}

int gen_at_entry_only(struct gen *gen, const struct expr *expr)
{
	errmsg_set(gen->err, "col %u: arguments are read at entry, when results are not known yet",
		   expr->col);
	errmsg_hint(gen->err, "after(EXPR) reads them at return");
	return -1;
}

void gen_keep_sp(struct gen *gen)
{
	if (gen->keeps_sp)
		return;
	gen->keeps_sp = true;
	gen->kept_sp_at = *gen_end(gen);
	*gen_end(gen) += 8;
	ctext_line(gen->out, "*(u64 *)(rec + %u) = hit->sp;", gen->kept_sp_at);
	gen_step(gen, &(struct trace_step){.what = TRACE_STEP_SP, .at = gen->kept_sp_at});
}

/* The offset of the pointer in a value that refers to something. */
static uint32_t pointer_in(const struct gotype *type)
{
	return type->kind == GOTYPE_INTERFACE ? 8 : 0;
}

static bool is_pointer(const struct gotype *type, uint64_t off)
{
	switch (type->kind) {
	case GOTYPE_STRING:
	case GOTYPE_SLICE:
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_CHAN:
	case GOTYPE_FUNC:
	case GOTYPE_INTERFACE:
	case GOTYPE_PAIR:
		return off == pointer_in(type);
	default:
		return false;
	}
}

/* The place where the value was at entry. */
static void place_then(struct gen *gen, const struct place *place, struct place *out)
{
	gen_value_place(gen, place->kept, place->value, out);
	out->type = place->type;
	out->off += place->off;
}

int gen_load_kept(struct gen *gen, const struct place *place, uint64_t off, unsigned size,
		  bool is_signed, unsigned col, char name[NAME_MAX_LEN])
{
	struct ctext *before = gen_enter_entry(gen);
	bool moves = size == 8 && is_pointer(place->type, off);
	struct place then;

	ctext_line(gen->out, "bad = 0;");
	place_then(gen, place, &then);
	if (gen_load(gen, &then, off, size, is_signed, col, name))
		return -1;
	if (moves)
		gen_keep_sp(gen);
	gen_leave_entry(gen, before, name);
	if (moves)
		ctext_line(gen->out, "%s = after_move(hit, *(u64 *)(rec + %u), %s);", name,
			   gen->kept_sp_at, name);
	return 0;
}

struct mover {
	struct gen *gen;
	uint32_t at;
};

static bool move_pointer(const struct gotype *type, uint32_t off, void *ctx)
{
	const struct mover *mover = ctx;
	struct gen *gen = mover->gen;
	uint32_t at = mover->at + off + pointer_in(type);

	ctext_line(gen->out,
		   "*(u64 *)(rec + %u) = after_move(hit, *(u64 *)(rec + %u), *(u64 *)(rec + %u));",
		   at, gen->kept_sp_at, at);
	gen_step(gen,
		 &(struct trace_step){
			 .what = TRACE_STEP_MOVED, .own = at, .at = at, .state = gen->kept_sp_at});
	return true;
}

struct shape *gen_kept_value(struct gen *gen, const struct place *place,
			     const struct shape_limits *limits, uint32_t *state_at)
{
	struct ctext *before = gen_enter_entry(gen);
	struct shape *shape = gotypes_alloc(gen->memory, 1, sizeof(*shape));
	struct place then;

	gen_reset(gen);
	place_then(gen, place, &then);
	gen_keep_sp(gen);
	*state_at = *gen_end(gen);
	shape_init(gen->memory, place->type, *state_at + 8, limits, &gen->record_end, shape);
	if (shape->at + shape->size > limits->record_max) { /* as shape_new() does */
		*shape = (struct shape){.type = place->type, .at = shape->at};
		if (limits->missing)
			++*limits->missing;
	}
	*gen_end(gen) += 8 + (shape->size + 7) / 8 * 8;
	gen_own(gen, &then, shape, *state_at);
	gen->out = before;
	gen->returning = true;
	shape_walk(place->type, shape->size, move_pointer,
		   &(struct mover){.gen = gen, .at = shape->at});
	gen_refs(gen, shape);
	return shape;
}
