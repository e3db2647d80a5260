// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracegen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/states.h"
#include "gotrace/eventexpr_internal.h"
#include "gotrace/tracegen_after_internal.h"
#include "gotrace/tracegen_internal.h"
#include "gotrace/tracegen_key_internal.h"
#include "gotrace/tracegen_plan_internal.h"
#include "gotrace/tracegen_states_internal.h"
#include "gotrace/tracegen_step_internal.h"
#include "gotrace/tracegen_told_internal.h"
#include "gotrace/tracegen_uses_internal.h"
#include "values/format.h"

enum { RECORD_ALIGN = 8, TASK_COMM = 16 };

/* A return probe's values that need no results are read at entry and kept with the call: so they
 * are known even if the call panics. */
static struct ctext *enter_phase(struct gen *gen, unsigned uses)
{
	struct ctext *before = gen->out;

	if (gen->probe->spec->at_return && !(uses & GEN_USES_RETURN)) {
		gen->out = &gen->save;
		gen->returning = false;
	}
	return before;
}

static void leave_phase(struct gen *gen, struct ctext *before)
{
	gen->out = before;
	gen->returning = gen->probe->spec->at_return;
}

/* An argument that does not exist: its shape only tells what it would be. */
static void absent_arg(struct gen *gen, const struct gotype *type,
		       const struct shape_limits *limits, struct tracegen_arg *arg)
{
	uint32_t end = 0;

	arg->kind = TRACEGEN_ABSENT;
	arg->shape = shape_new(gen->memory, type, limits, &end);
}

/* a slice whose end needs a result, as b[:goret1] */
static int cut_arg(struct gen *gen, const struct expr *expr, const struct shape_limits *limits,
		   struct tracegen_arg *arg)
{
	arg->kind = TRACEGEN_VALUE;
	arg->at_return = true;
	arg->shape = gen_cut_value(gen, expr, limits, &arg->at);
	arg->is_guess = gen->guess;
	return arg->shape ? 0 : -1;
}

static int value_arg(struct gen *gen, const struct expr *expr, bool follow,
		     struct tracegen_arg *arg)
{
	struct shape_limits limits = gen->probe->limits;
	unsigned uses = gen_uses(gen, expr);
	struct ctext *before = enter_phase(gen, uses);
	struct place place;

	limits.follow = follow;
	gen->guess = false;
	gen_reset(gen);
	if (gen_is_cut_later(gen, expr))
		return cut_arg(gen, expr, &limits, arg);
	if (gen_place(gen, expr, &place))
		return -1;
	arg->is_guess = gen->guess;
	if (place.value && !abi_covers(place.value, place.type, place.off)) {
		absent_arg(gen, place.type, &limits, arg);
		leave_phase(gen, before);
		return 0;
	}
	arg->kind = TRACEGEN_VALUE;
	arg->at_return = gen->returning;
	if (place.kept) {
		arg->shape = gen_kept_value(gen, &place, &limits, &arg->at);
		leave_phase(gen, before);
		return 0;
	}
	arg->at = *gen_end(gen);
	*gen_end(gen) += RECORD_ALIGN;
	arg->shape = shape_new(gen->memory, place.type, &limits, gen_end(gen));
	gen_value(gen, &place, arg->shape, arg->at);
	leave_phase(gen, before);
	return 0;
}

static void cut(struct ctext *text, const struct ctext *before)
{
	text->depth = before->depth;
	text->len = before->len;
	if (text->text)
		text->text[text->len] = 0;
}

/* Removes the code written for an argument that turned out not to exist, and frees its room. */
static void take_back(struct gen *gen, const struct gen *before)
{
	cut(&gen->save, &before->save);
	cut(&gen->fill, &before->fill);
	gen_steps_cut(&gen->save_steps, &before->save_steps);
	gen_steps_cut(&gen->fill_steps, &before->fill_steps);
	gen->saved_end = before->saved_end;
	gen->record_end = before->record_end;
	gen->saved_later = before->saved_later;
	gen->filled_later = before->filled_later;
	gen->uses = before->uses;
	gen->keeps_sp = before->keeps_sp;
	gen->absent = gen->after = false;
	leave_phase(gen, &gen->fill);
}

static int number_arg(struct gen *gen, const struct expr *expr, struct tracegen_arg *arg)
{
	struct ctext *before = enter_phase(gen, gen_uses(gen, expr));
	struct number number;

	gen->guess = false;
	ctext_line(gen->out, "bad = 0;");
	if (gen_number(gen, expr, &number))
		return -1;
	arg->is_guess = gen->guess;
	arg->kind = TRACEGEN_NUMBER;
	arg->at_return = gen->returning;
	arg->is_bool = number.is_bool;
	arg->is_unsigned = number.is_unsigned;
	arg->at = *gen_end(gen);
	*gen_end(gen) += 16;
	ctext_line(gen->out, "*(u64 *)(rec + %u) = %s;", arg->at, number.text);
	ctext_line(gen->out, "*(s64 *)(rec + %u) = bad;", arg->at + 8);
	leave_phase(gen, before);
	return 0;
}

/* What the event tells anyway is computed when it is printed: the code is for its checks alone. */
static int event_arg(struct gen *gen, const struct expr *expr, struct tracegen_arg *arg)
{
	const struct gen before = *gen;

	if (number_arg(gen, expr, arg))
		return -1;
	unsigned parent = gen->uses & TRACEGEN_PARENT;

	take_back(gen, &before);
	gen->uses |= parent;
	arg->kind = TRACEGEN_COMPUTED;
	arg->expr = expr;
	return 0;
}

/* Has the parameter or result a place? Argument tables may list a parameter without one. */
static bool is_placed(const struct gen *gen, bool is_result, size_t n)
{
	const struct abi_layout *abi = gen->probe->abi;
	const struct gofunc *fn = gen->probe->fn;

	return gen->probe->is_copy || (is_result ? abi->results : abi->params)[n].count ||
	       !(is_result ? fn->results : fn->params)[n].type->size;
}

static bool is_bytes(const struct gotype *type)
{
	return type->kind == GOTYPE_SLICE && type->elem && type->elem->kind == GOTYPE_UINT &&
	       type->elem->size == 1;
}

/* Is it a pointer to a value that leads to no further pointers? */
static bool is_to_plain(const struct gotype *type)
{
	const struct gotype *to = type->kind == GOTYPE_POINTER ? type->elem : NULL;

	if (!to)
		return false;
	return (to->kind >= GOTYPE_BOOL && to->kind <= GOTYPE_SLICE) ||
	       (to->kind == GOTYPE_ARRAY && to->elem && to->elem->kind == GOTYPE_UINT &&
		to->elem->size == 1);
}

/* What the pointer, which is in the record, points to now. */
static struct tracegen_arg *target_arg(struct gen *gen, const struct tracegen_arg *pointer)
{
	struct tracegen_arg *arg = gotypes_alloc(gen->memory, 1, sizeof(*arg));
	struct shape_limits limits = gen->probe->limits;

	limits.follow = false;
	*arg = (struct tracegen_arg){
		.kind = TRACEGEN_VALUE, .at_return = gen->returning, .is_guess = pointer->is_guess};
	arg->shape =
		gen_target(gen, pointer->shape->type->elem, pointer->shape->at, &limits, &arg->at);
	return arg;
}

/* A parameter that the call may fill is read once more when it returns. */
static int after_arg(struct gen *gen, const struct gotype *type, struct expr *param,
		     struct tracegen_arg *arg)
{
	struct expr after = {.kind = EXPR_AFTER, .a = param};

	if (arg->kind != TRACEGEN_VALUE)
		return 0;
	if (is_bytes(type)) {
		arg->after = gotypes_alloc(gen->memory, 1, sizeof(*arg->after));
		return value_arg(gen, &after, false, arg->after);
	}
	if (is_to_plain(type) && arg->shape->size == type->size) {
		struct ctext *before = enter_phase(gen, GEN_USES_ENTRY);

		gen_keep_sp(gen);
		arg->before = target_arg(gen, arg);
		leave_phase(gen, before);
		arg->after = target_arg(gen, arg);
	}
	return 0;
}

/* Is it a pointer to a struct of which something is known? */
static bool is_to_struct(const struct gotype *type)
{
	return type->kind == GOTYPE_POINTER && type->elem && type->elem->kind == GOTYPE_STRUCT &&
	       type->elem->field_count;
}

/* How an item of a list is printed. Users ask for what a call is given: the object that a method
 * is called on would stand in front of that, with thousands of bytes. */
static void plan_item(const struct gen *gen, const struct goparam *param, bool result, bool follow,
		      struct tracegen_arg *item)
{
	const struct tracegen_probe *probe = gen->probe;
	bool receiver = probe->is_method && !result && param == probe->fn->params;
	bool plain = (!probe->format || probe->lists_alike) && is_to_struct(param->type);

	item->deep = !receiver && (follow || (plain && probe->follows));
	item->typed = plain && probe->says_types && !item->deep && !result;
}

static int list_arg(struct gen *gen, bool results, bool follow, struct tracegen_arg *arg)
{
	const struct gofunc *fn = gen->probe->fn;
	size_t count = results ? fn->result_count : fn->param_count;

	arg->kind = TRACEGEN_LIST;
	arg->at_return = results;
	if (fn->source == GOFUNC_NONE)
		return 0;
	arg->count = count;
	arg->items = gotypes_alloc(gen->memory, count, sizeof(*arg->items));
	for (size_t i = 0; i < count; i++) {
		struct expr expr = {.kind = results ? EXPR_RESULT : EXPR_PARAM, .number = i + 1};

		if (!is_placed(gen, results, i)) {
			arg->items[i].kind = TRACEGEN_MISSING;
			continue;
		}
		struct tracegen_arg how = {0};

		plan_item(gen, &(results ? fn->results : fn->params)[i], results, follow, &how);
		if (value_arg(gen, &expr, how.deep, &arg->items[i]))
			return -1;
		arg->items[i].deep = how.deep;
		arg->items[i].typed = how.typed;
		arg->items[i].text = results ? fn->results[i].name : fn->params[i].name;
		if (!results && gen->probe->spec->at_return && !gen->probe->format &&
		    after_arg(gen, fn->params[i].type, &expr, &arg->items[i]))
			return -1;
	}
	return 0;
}

static int special_arg(struct gen *gen, const struct expr *expr, struct tracegen_arg *arg)
{
	arg->kind = TRACEGEN_SPECIAL;
	arg->special = expr->number;
	if (expr->number >= SPECIAL_STATES)
		arg->at = gen_state_at(expr->number);
	if (expr->number == SPECIAL_PARENT_GOID)
		gen->uses |= TRACEGEN_PARENT;
	return 0;
}

/* A variable in a key: text that the function alone tells is in none. */
static int key_special(struct gen *gen, const struct expr *expr, struct tracegen_arg *arg)
{
	struct ctext *before;

	if (gen->probe->log2 || (expr->number != SPECIAL_COMM && expr->number != SPECIAL_FUNC))
		return number_arg(gen, expr, arg);
	arg->kind = TRACEGEN_SPECIAL;
	arg->special = expr->number;
	if (expr->number == SPECIAL_FUNC)
		return 0;
	before = enter_phase(gen, 0);
	arg->at = *gen_end(gen);
	*gen_end(gen) += TASK_COMM;
	ctext_line(gen->out, "bpf_get_current_comm(rec + %u, %u);", arg->at, TASK_COMM);
	leave_phase(gen, before);
	return 0;
}

static int make_arg(struct gen *gen, const struct expr *expr, bool follow, struct tracegen_arg *arg)
{
	if (gen->probe->keyed && expr->kind == EXPR_SPECIAL)
		return key_special(gen, expr, arg);
	if (gen->probe->log2)
		return number_arg(gen, expr, arg);
	switch (expr->kind) {
	case EXPR_PARAMS:
	case EXPR_RESULTS:
		return list_arg(gen, expr->kind == EXPR_RESULTS, follow, arg);
	case EXPR_SPECIAL:
		return special_arg(gen, expr, arg);
	case EXPR_STRING:
		arg->kind = TRACEGEN_TEXT;
		arg->text = gotypes_text(gen->memory, expr->text, expr->len);
		return 0;
	default:
		if (gen_is_place(expr))
			return value_arg(gen, expr, follow, arg);
		if (!gen->probe->keyed && eventexpr_is(expr))
			return event_arg(gen, expr, arg);
		return number_arg(gen, expr, arg);
	}
}

static void arg_as_format(const struct tracegen_arg *arg, struct format_arg *out)
{
	static const bool text[] = {
		[SPECIAL_COMM] = true, [SPECIAL_FUNC] = true, [SPECIAL_UNKNOWN] = false};
	bool is_text =
		arg->kind == TRACEGEN_TEXT || (arg->kind == TRACEGEN_SPECIAL && text[arg->special]);

	*out = (struct format_arg){.kind = FORMAT_INT,
				   .is_bool = arg->is_bool,
				   .is_unsigned = arg->is_unsigned,
				   .shape = arg->shape};
	if (is_text)
		out->kind = FORMAT_TEXT;
	else if (arg->kind == TRACEGEN_VALUE || (arg->kind == TRACEGEN_ABSENT && arg->shape))
		out->kind = FORMAT_SHAPE;
	else if (arg->kind == TRACEGEN_LIST)
		out->kind = FORMAT_LIST;
	else if (arg->kind == TRACEGEN_MISSING)
		out->kind = FORMAT_MISSING;
}

/* Of several functions, one without the name prints "?": nothing would tell that none can have it.
 */
static void warn_of_dollar(const struct gen *gen, const struct expr *expr)
{
	const struct tracegen_told *told = gen->probe->told;
	int special = expr->kind == EXPR_NAME ? expr_special_without_dollar(expr->text) : -1;

	if (!told || special < 0)
		return;
	char *text =
		mem_printf("\"%s\" is \"?\" where no parameter or result is called so; did you "
			   "mean %s?",
			   expr->text, expr_special_text(special));

	told->warn(told->ctx, text);
	free(text);
}

static int checked_arg(struct gen *gen, size_t n, struct tracegen_arg *arg)
{
	const struct tracegen_probe *probe = gen->probe;
	const struct expr *expr = probe->spec->args[n];
	const struct gen before = *gen;
	struct format_arg as;

	if (make_arg(gen, expr, format_follows(probe->format, n), arg)) {
		/* only an argument itself can be absent: a number computed from it is an error */
		bool absent = gen->absent && gen_is_place(expr);

		if (!probe->several && !absent)
			return -1;
		if (!absent)
			warn_of_dollar(gen, expr);
		take_back(gen, &before);
		*arg = (struct tracegen_arg){.kind = absent ? TRACEGEN_ABSENT : TRACEGEN_MISSING};
		return 0;
	}
	arg_as_format(arg, &as);
	return format_check(probe->format, n, &as, probe->spec->arg_texts[n], gen->err);
}

static int make_args(struct gen *gen, struct tracegen_plan *plan)
{
	const struct probespec *spec = gen->probe->spec;

	leave_phase(gen, &gen->fill);
	plan->arg_count = gen->probe->format ? spec->arg_count : 1u + spec->at_return;
	plan->args = gotypes_alloc(gen->memory, plan->arg_count, sizeof(*plan->args));
	if (gen->probe->format && plan->arg_count != format_verbs(gen->probe->format))
		return errmsg_set(gen->err, "col %u: the format takes %zu arguments, there are %zu",
				  spec->format_cols[spec->format_len],
				  format_verbs(gen->probe->format), plan->arg_count);
	for (size_t i = 0; i < plan->arg_count; i++)
		if (gen->probe->format ? checked_arg(gen, i, &plan->args[i])
				       : list_arg(gen, i > 0, false, &plan->args[i]))
			return -1;
	return 0;
}

static int make_predicate(struct gen *gen, struct tracegen_plan *plan)
{
	const struct probespec *spec = gen->probe->spec;
	struct number number;

	plan->wants_at_entry = !(gen_uses(gen, spec->predicate) & GEN_USES_RETURN);
	if (!spec->predicate)
		return 0;
	gen->out = &gen->wanted;
	gen->returning = spec->at_return && !plan->wants_at_entry;
	gen->guess = false;
	if (gen_number(gen, spec->predicate, &number))
		return -1;
	if (gen->guess) { /* a call that was dropped wrongly could not be marked as a guess */
		errmsg_set(gen->err,
			   "col %u: the place of an argument in the predicate is only a guess",
			   spec->predicate->col);
		errmsg_hint(gen->err, "give a SIGNATURE");
		return -1;
	}
	ctext_line(gen->out, "want = %s != 0;", number.text);
	return 0;
}

/* What is kept with the call is the beginning of its record: its length is known only after
 * everything was generated once. */
static int generate(struct gen *gen, struct tracegen_plan *plan, uint32_t saved_size)
{
	gen->record_end = saved_size;
	if (gen->probe->has_states)
		gen->saved_end = sizeof(struct state_times);
	gen->save.depth = gen->wanted.depth = gen->fill.depth = 1;
	if (make_predicate(gen, plan) || make_args(gen, plan))
		return -1;
	gen->key.depth = 1;
	if (gen->probe->keyed)
		gen_key(gen, plan);
	return 0;
}

static void free_text(struct gen *gen)
{
	ctext_free(&gen->save);
	ctext_free(&gen->wanted);
	ctext_free(&gen->fill);
	ctext_free(&gen->key);
	free(gen->save_steps.items);
	free(gen->fill_steps.items);
}

int tracegen_plan(struct gotypes *memory, const struct tracegen_probe *probe,
		  struct tracegen_plan *out, struct errmsg *err)
{
	struct gen gen;
	uint32_t saved_size = 0;

	for (int pass = 0; pass < 2; pass++) {
		gen = (struct gen){.probe = probe, .memory = memory, .err = err};
		*out = (struct tracegen_plan){0};
		if (generate(&gen, out, saved_size)) {
			free_text(&gen);
			return -1;
		}
		saved_size = gen.saved_end;
		if (pass == 0)
			free_text(&gen);
	}
	out->saved_size = gen.saved_end;
	out->record_size = gen.record_end;
	out->uses = gen.uses;
	gen_steps_take(&gen, out);
	out->save = ctext_take(&gen.save);
	out->wanted = ctext_take(&gen.wanted);
	out->fill = ctext_take(&gen.fill);
	out->key = probe->keyed ? ctext_take(&gen.key) : NULL;
	free(gen.save_steps.items);
	free(gen.fill_steps.items);
	return 0;
}

void tracegen_free(struct tracegen_plan *plan)
{
	free(plan->save);
	free(plan->wanted);
	free(plan->fill);
	free(plan->key);
	free(plan->steps);
}
