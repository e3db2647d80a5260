// SPDX-License-Identifier: Apache-2.0
/* Parameters and results, by name or number. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "gotrace/tracegen_after_internal.h"
#include "gotrace/tracegen_internal.h"
#include "gotrace/tracegen_register_internal.h"
#include "program/toolchain.h"

enum { C_WORDS_MAX = 64 };

static bool find_named(const struct gofunc *fn, const char *name, struct gen_symbol *out)
{
	for (int results = 0; results < 2; results++) {
		const struct goparam *list = results ? fn->results : fn->params;
		size_t count = results ? fn->result_count : fn->param_count;

		for (size_t i = 0; i < count; i++)
			if (list[i].name && !strcmp(list[i].name, name)) {
				*out = (struct gen_symbol){results, i};
				return true;
			}
	}
	return false;
}

static bool is_error(const struct gotype *type)
{
	return type->kind == GOTYPE_INTERFACE && !strcmp(type->name, "error");
}

/* $err */
static bool find_error(const struct gofunc *fn, struct gen_symbol *out)
{
	if (!fn->result_count || !is_error(fn->results[fn->result_count - 1].type))
		return false;
	*out = (struct gen_symbol){true, fn->result_count - 1};
	return true;
}

bool gen_find(const struct gen *gen, const struct expr *expr, struct gen_symbol *out)
{
	const struct gofunc *fn = gen->probe->fn;

	if (expr->kind == EXPR_ERROR)
		return find_error(fn, out);
	if (expr->kind == EXPR_NAME)
		return find_named(fn, expr->text, out);
	out->is_result = expr->kind == EXPR_RESULT;
	out->index = expr->number - 1;
	return expr->number &&
	       expr->number <= (out->is_result ? fn->result_count : fn->param_count);
}

/* "s string, key main.Key, goret1 error": all parameters and results, with their types */
static void list_symbols(const struct gofunc *fn, bool results, char *text, size_t size)
{
	size_t count = fn->param_count + (results ? fn->result_count : 0), len = 0;

	*text = 0;
	for (size_t i = 0; i < count && len < size; i++) {
		bool is_result = i >= fn->param_count;
		size_t n = is_result ? i - fn->param_count : i;
		const struct goparam *param = is_result ? &fn->results[n] : &fn->params[n];
		const char *before = len ? ", " : "";
		bool typed = *param->type->name && *param->type->name != '?';

		if (goparam_has_name(param))
			len += snprintf(text + len, size - len, "%s%s", before, param->name);
		else
			len += snprintf(text + len, size - len, "%s%s%zu", before,
					is_result ? "goret" : "goarg", n + 1);
		if (typed && len < size)
			len += snprintf(text + len, size - len, " %s", param->type->name);
	}
}

/* For a name that is a variable without its dollar, as "latency". False: it is none. */
static bool hint_variable(struct gen *gen, const char *name)
{
	const char *more = gen->probe->spec->at_return ? "" : ", and begin the PROBE with r:";
	struct gen_symbol unused;
	int special = expr_special_without_dollar(name);

	if (special >= 0)
		errmsg_hint(gen->err, "write %s%s", expr_special_text(special),
			    expr_special_at_return(special) ? more : "");
	else if (!strcmp(name, "err") && find_error(gen->probe->fn, &unused))
		errmsg_hint(gen->err, "write $err, which is the last result%s", more);
	else
		return false;
	return true;
}

/* Sets the error for an unknown name or number, with what there is instead. */
static int no_such(struct gen *gen, const struct expr *expr)
{
	const struct gofunc *fn = gen->probe->fn;
	bool results = expr->kind == EXPR_RESULT || expr->kind == EXPR_ERROR;
	size_t count = results ? fn->result_count : fn->param_count;
	char known[400];

	if (gen->probe->is_line)
		return errmsg_set(gen->err,
				  "col %u: at a line variables are not known, but for $goid and "
				  "its like",
				  expr->col);
	if (gen->probe->is_copy && fn->source == GOFUNC_NONE)
		return errmsg_set(gen->err,
				  "col %u: the arguments of this inlined copy are not known",
				  expr->col);
	if (results && gen->probe->is_copy && !fn->result_count)
		return errmsg_set(gen->err, "col %u: what an inlined copy returns is not known",
				  expr->col);
	if (results && (fn->source == GOFUNC_ARGINFO || fn->source == GOFUNC_NONE)) {
		errmsg_set(gen->err, "col %u: the function's results are not known", expr->col);
		errmsg_hint(gen->err, "give a SIGNATURE");
		return -1;
	}
	if (expr->kind == EXPR_ERROR)
		return errmsg_set(gen->err, "col %u: the function's last result is not an error",
				  expr->col);
	if (expr->kind != EXPR_NAME)
		return errmsg_set(gen->err, "col %u: the function has %zu %s%s", expr->col, count,
				  results ? "result" : "parameter", count == 1 ? "" : "s");
	list_symbols(fn, gen->probe->spec->at_return, known, sizeof(known));
	errmsg_set(gen->err, "col %u: no parameter or result is called \"%s\"", expr->col,
		   expr->text);
	if (hint_variable(gen, expr->text))
		return -1;
	if (fn->source == GOFUNC_NONE)
		errmsg_hint(gen->err,
			    "the program has no debug information: give a SIGNATURE, or "
			    "use goarg1%s%s, goarg2, ...",
			    fn->receiver ? " " : "", fn->receiver ? fn->params[0].type->name : "");
	else if (*known)
		errmsg_hint(gen->err, "it has %s", known);
	return -1;
}

/* Sets the error for a number if it is not certain which parameter that is. (Items of goargs have
 * no column: they are allowed.) */
static int guessed(struct gen *gen, const struct expr *expr)
{
	errmsg_set(gen->err, "col %u: it is not certain which parameter is number %" PRIu64,
		   expr->col, expr->number);
	errmsg_hint(gen->err, "use its name");
	return -1;
}

static int unknown_place(struct gen *gen, const struct expr *expr)
{
	errmsg_set(gen->err, "col %u: the place of this argument is not known", expr->col);
	if (gen->probe->is_clone)
		errmsg_hint(gen->err, "GCC made a copy of the function that is called in another "
				      "way (.constprop or .isra in its symbol)");
	return -1;
}

void gen_value_place(struct gen *gen, const struct gotype *type, const struct abi_value *value,
		     struct place *out)
{
	const struct abi_piece *first = value->count ? &value->pieces[0] : NULL;
	char reg[NAME_MAX_LEN];

	*out = (struct place){.type = type, .value = value};
	if (first && (first->where == ABI_SLOT || first->where == ABI_SP) && !first->off &&
	    first->size >= type->size) {
		out->value = NULL;
		out->off = gen_slot(first);
		snprintf(out->base, sizeof(out->base), "hit->sp");
	} else if (first && first->where == ABI_AT) {
		out->value = NULL;
		out->off = first->from;
		gen_register(gen, first, reg, sizeof(reg));
		gen_var(gen, out->base);
		ctext_line(gen->out, "u64 %s = %s;", out->base, reg);
	}
}

/* The parameter's place at entry; in after(), where its value at entry is kept. */
static void param_place(struct gen *gen, const struct gotype *type, const struct abi_value *value,
			struct place *out)
{
	if (gen->returning)
		*out = (struct place){.type = type, .value = value, .kept = type};
	else
		gen_value_place(gen, type, value, out);
}

/* Where C's ABI is used, argN is the N-th word that C passes, but goargN is Go's N-th parameter. */
static bool is_c_word(const struct gen *gen, const struct expr *expr)
{
	return gen->probe->toolchain->c_abi && expr->kind == EXPR_PARAM && expr->text &&
	       !strncmp(expr->text, "arg", 3);
}

static int c_word_place(struct gen *gen, const struct expr *expr, struct place *out)
{
	struct abi_value *value = gotypes_alloc(gen->memory, 1, sizeof(*value));

	if (gen->returning && !gen->after)
		return gen_at_entry_only(gen, expr);
	if (gen->probe->is_clone)
		return unknown_place(gen, expr);
	if (expr->number > C_WORDS_MAX)
		return errmsg_set(gen->err, "col %u: no function takes so many words", expr->col);
	value->pieces = gotypes_alloc(gen->memory, 1, sizeof(*value->pieces));
	value->pieces[0] = abi_c_word(expr->number - 1);
	value->count = 1;
	param_place(gen, gotypes_basic(gen->memory, "int"), value, out);
	return 0;
}

int gen_symbol_place(struct gen *gen, const struct expr *expr, struct place *out)
{
	const struct tracegen_probe *probe = gen->probe;
	struct gen_symbol sym;

	if (is_c_word(gen, expr))
		return c_word_place(gen, expr, out);
	if (!gen_find(gen, expr, &sym))
		return no_such(gen, expr);
	if (sym.is_result && !probe->spec->at_return)
		return errmsg_set(gen->err,
				  "col %u: results are known at return only: use r:", expr->col);
	if (!sym.is_result && gen->returning && !gen->after)
		return gen_at_entry_only(gen, expr);
	const struct goparam *param =
		sym.is_result ? &probe->fn->results[sym.index] : &probe->fn->params[sym.index];
	const struct abi_value *value =
		sym.is_result ? &probe->abi->results[sym.index] : &probe->abi->params[sym.index];

	if (!value->count && param->type->size && !probe->is_copy)
		return unknown_place(gen, expr);
	if (param->is_guess && expr->kind == EXPR_PARAM && expr->col)
		return guessed(gen, expr);
	gen->guess |= param->place == GOPARAM_GUESSED;
	if (sym.is_result)
		gen_value_place(gen, param->type, value, out);
	else
		param_place(gen, param->type, value, out);
	return 0;
}
