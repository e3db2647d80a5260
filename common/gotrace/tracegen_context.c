// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracegen_context_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/number.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/tracegen_after_internal.h"
#include "gotrace/tracegen_assert_internal.h"
#include "gotrace/tracegen_label_internal.h"
#include "gotrace/tracegen_uses_internal.h"
#include "program/toolchain.h"

enum { TRACE_ID = 16 };

struct context_words { /* names of C variables: the words of an interface */
	char itab[NAME_MAX_LEN], data[NAME_MAX_LEN];
};

/* --- where the context is --- */

/* The field that has a context, of a struct that is pointed to; NULL: none. */
static const struct gotype_field *context_field(const struct gotype *type)
{
	const struct gotype *to = type->kind == GOTYPE_POINTER ? type->elem : NULL;

	for (size_t i = 0; to && to->kind == GOTYPE_STRUCT && i < to->field_count; i++)
		if (gen_is_context(to->fields[i].type))
			return &to->fields[i];
	return NULL;
}

static int load_words(struct gen *gen, const struct place *place, unsigned col,
		      struct context_words *out)
{
	return gen_load(gen, place, 0, 8, false, col, out->itab) ||
			       gen_load(gen, place, 8, 8, false, col, out->data)
		       ? -1
		       : 0;
}

/* The context in a place, or in what it points to. */
static int context_in(struct gen *gen, struct place *place, unsigned col, struct context_words *out)
{
	const struct gotype_field *field = context_field(place->type);

	if (field) {
		if (gen_follow(gen, place, col))
			return -1;
		place->off += field->off;
		place->type = field->type;
	}
	if (place->type->kind == GOTYPE_PAIR ||
	    (place->type->kind == GOTYPE_INTERFACE && place->type->has_methods))
		return load_words(gen, place, col, out);
	errmsg_set(gen->err, "col %u: %s is no context", col, place->type->name);
	errmsg_hint(gen->err, "a context.Context, or a pointer to a struct with one");
	return -1;
}

static int param_place(struct gen *gen, size_t n, unsigned col, struct place *out)
{
	const struct goparam *param = &gen->probe->fn->params[n];
	bool named = goparam_has_name(param);
	/* the name, as it may not be certain which one is number n */
	struct expr expr = {.kind = named ? EXPR_NAME : EXPR_PARAM,
			    .number = n + 1,
			    .text = named ? (char *)param->name : NULL,
			    .col = col};

	return gen_symbol_place(gen, &expr, out);
}

/* A function's only context is its first parameter, by Go's custom; else one that the request has.
 * -1: none of the parameters has one. */
static int find_param(const struct gofunc *fn)
{
	for (size_t i = 0; i < fn->param_count; i++)
		if (gen_is_context(fn->params[i].type))
			return (int)i;
	/* the receiver last: what it carries may be older than the call */
	for (size_t i = 1; i <= fn->param_count; i++)
		if (context_field(fn->params[i % fn->param_count].type))
			return (int)(i % fn->param_count);
	return -1;
}

/* Parameters of two words each, of which it is not known what they are. */
static size_t find_pairs(const struct gofunc *fn, size_t found[2])
{
	size_t count = 0;

	for (size_t i = 0; i < fn->param_count && count < 2; i++)
		if (fn->params[i].type->kind == GOTYPE_PAIR)
			found[count++] = i;
	return count;
}

static int no_context(struct gen *gen, unsigned col)
{
	bool known = gen->probe->fn->source != GOFUNC_NONE;

	errmsg_set(gen->err, "col %u: %s", col,
		   known ? "the function is called with no context"
			 : "it is not known which parameter is the context");
	if (known)
		errmsg_hint(gen->err,
			    "say where one is: $traceid(EXPR), $ctx(EXPR, \"main.keyType\")");
	else
		errmsg_hint(gen->err, "give a SIGNATURE: (ctx context.Context)");
	return -1;
}

/* What the pairs hold is seen when the function is called: so it does not matter if their places
 * are guesses. */
static int either_pair(struct gen *gen, const size_t pairs[2], size_t count, unsigned col,
		       struct context_words *out)
{
	struct context_words words[2];
	struct place place;
	bool guess = gen->guess;
	char either[NAME_MAX_LEN];

	for (size_t i = 0; i < count; i++)
		if (param_place(gen, pairs[i], col, &place) ||
		    load_words(gen, &place, col, &words[i]))
			return -1;
	gen->guess = guess;
	gen_var(gen, either);
	ctext_line(gen->out, "struct go_interface %s = context_either(hit, %s, %s, %s, %s);",
		   either, words[0].itab, words[0].data, words[count - 1].itab,
		   words[count - 1].data);
	snprintf(out->itab, NAME_MAX_LEN, "%.40s.type", either);
	snprintf(out->data, NAME_MAX_LEN, "%.40s.data", either);
	return 0;
}

static int find_context(struct gen *gen, const struct expr *expr, struct context_words *out)
{
	const struct gofunc *fn = gen->probe->fn;
	struct place place;
	size_t pairs[2], count;
	int n;

	if (expr->a)
		return gen_place(gen, expr->a, &place) ? -1
						       : context_in(gen, &place, expr->a->col, out);
	n = find_param(fn);
	if (n >= 0)
		return param_place(gen, n, expr->col, &place)
			       ? -1
			       : context_in(gen, &place, expr->col, out);
	count = find_pairs(fn, pairs);
	return count ? either_pair(gen, pairs, count, expr->col, out) : no_context(gen, expr->col);
}

/* --- what is looked for --- */

static const struct program_contexts *known_contexts(struct gen *gen, const struct expr *expr)
{
	const struct tracegen_contexts *of = gen->probe->held ? gen->probe->held->contexts : NULL;
	const struct program_contexts *known = NULL;

	if (gen->probe->toolchain->libgo) {
		errmsg_set(gen->err, "col %u: contexts of gccgo's programs are not read",
			   expr->col);
		return NULL;
	}
	if (of)
		known = of->find(of->ctx);
	if (!known)
		errmsg_set(gen->err, "col %u: no context of this program carries a value",
			   expr->col);
	return known;
}

static int trace_key(struct gen *gen, const struct expr *expr, uint64_t *rtype)
{
	const struct program_contexts *known = known_contexts(gen, expr);

	if (!known)
		return -1;
	*rtype = known->trace_key;
	if (known->trace_key && known->trace_id)
		return 0;
	errmsg_set(gen->err, "col %u: %s", expr->col,
		   known->trace_key ? "the layout of this program's spans is not known"
				    : "the program does not use OpenTelemetry");
	errmsg_hint(gen->err, "other values of contexts: $ctx(\"main.keyType\")");
	return -1;
}

/* Can a key of the type have this value? */
static int check_key(struct gen *gen, const struct gotype *type, const struct expr *value)
{
	bool is_text = value->kind == EXPR_STRING;
	/* debug information may tell any size */
	bool is_number = (type->kind == GOTYPE_INT || type->kind == GOTYPE_UINT) &&
			 type->size <= sizeof(value->number);

	if (is_text ? type->kind != GOTYPE_STRING : !is_number)
		return gen_failed(errmsg_set(gen->err, "col %u: a key of type %s is no %s",
					     value->col, type->name,
					     is_text ? "string" : "number"));
	return is_text ? gen_check_text_key(gen, value) : 0;
}

/* struct context_key of bpf-src/parts/trace_contexts.bpf.c */
static void write_key(struct gen *gen, uint64_t rtype, const struct expr *value, const void *bytes,
		      size_t len, char name[NAME_MAX_LEN])
{
	char text[TEXT_KEY_MAX];

	gen_var(gen, name);
	ctext_line(gen->out, "const struct context_key %s = {0x%" PRIx64 "ULL, %s, %s, %s};", name,
		   rtype, value ? "false" : "true",
		   value && value->kind == EXPR_STRING ? "true" : "false",
		   gen_text_key(bytes, len, text));
}

static int typed_key(struct gen *gen, const struct expr *expr, char name[NAME_MAX_LEN])
{
	const struct expr *value = expr->b;
	const struct gotype *type;
	uint64_t number = 0;
	bool direct, is_text = value && value->kind == EXPR_STRING;

	if (!known_contexts(gen, expr))
		return -1;
	type = gen_held_type(gen, expr->text, expr->col, &direct);
	if (!type || (value && check_key(gen, type, value)))
		return -1;
	if (value && !is_text)
		number = value->kind == EXPR_UNARY ? -value->a->number : value->number;
	write_key(gen, type->rtype, value, is_text ? (const void *)value->text : &number,
		  is_text ? value->len
		  : value ? type->size
			  : 0,
		  name);
	return 0;
}

/* --- code --- */

static int trace_of(struct gen *gen, const struct expr *expr, char id[NAME_MAX_LEN])
{
	struct context_words words;
	char key[NAME_MAX_LEN];
	uint64_t rtype;

	if (trace_key(gen, expr, &rtype) || find_context(gen, expr, &words))
		return -1;
	gen->uses |= TRACEGEN_CONTEXTS;
	write_key(gen, rtype, NULL, NULL, 0, key);
	gen_var(gen, id);
	ctext_line(gen->out, "struct trace_id %s = context_trace(&bad, hit, %s, %s, &%s);", id,
		   words.itab, words.data, key);
	return 0;
}

static int value_of(struct gen *gen, const struct expr *expr, char value[NAME_MAX_LEN])
{
	struct context_words words;
	char key[NAME_MAX_LEN];

	if (typed_key(gen, expr, key) || find_context(gen, expr, &words))
		return -1;
	gen->uses |= TRACEGEN_CONTEXTS;
	gen_var(gen, value);
	ctext_line(gen->out, "struct go_interface %s = context_value(&bad, hit, %s, %s, &%s);",
		   value, words.itab, words.data, key);
	return 0;
}

/* A place whose words are two members of a C variable. */
static void place_of(struct gen *gen, const char *variable, const char *first, const char *second,
		     struct place *out)
{
	struct gen_words *words = gotypes_alloc(gen->memory, 1, sizeof(*words));

	for (int i = 0; i < 3; i++) {
		gen_var(gen, words->word[i]);
		ctext_line(gen->out, "u64 %s = %s.%s;", words->word[i], variable,
			   i ? second : first);
	}
	*out = (struct place){.words = words};
}

int gen_context_place(struct gen *gen, const struct expr *expr, struct place *out)
{
	char name[NAME_MAX_LEN];

	if (expr->kind == EXPR_CTX) {
		if (value_of(gen, expr, name))
			return -1;
		place_of(gen, name, "type", "data", out);
		out->type = gotypes_basic(gen->memory, "any");
		return 0;
	}
	if (trace_of(gen, expr, name))
		return -1;
	ctext_line(gen->out, "must(&bad, %s.first | %s.last ? 0 : TRACE_NONE);", name, name);
	place_of(gen, name, "first", "last", out);
	out->type = known_contexts(gen, expr)->trace_id;
	return 0;
}

int gen_context_string(struct gen *gen, const struct expr *expr, struct place *out)
{
	const struct gotype *text;
	char value[NAME_MAX_LEN], string[NAME_MAX_LEN];

	if (value_of(gen, expr, value))
		return -1;
	text = known_contexts(gen, expr)->text;
	if (!text)
		return gen_failed(errmsg_set(
			gen->err, "col %u: no interface of the program holds a string", expr->col));
	gen_var(gen, string);
	ctext_line(gen->out,
		   "struct go_interface %s = held_string(&bad, hit, %s.type, %s.data, 0x%" PRIx64
		   "ULL);",
		   string, value, value, text->rtype);
	place_of(gen, string, "type", "data", out);
	out->type = gotypes_basic(gen->memory, "string");
	return 0;
}

/* 32 digits, or none: zeroes */
static bool parse_id(const struct expr *literal, uint8_t id[TRACE_ID])
{
	if (literal->len && literal->len != 2 * (size_t)TRACE_ID)
		return false;
	for (size_t i = 0; i < literal->len; i++) {
		int digit = number_hex_digit(literal->text[i]);

		if (digit < 0)
			return false;
		id[i / 2] = (uint8_t)(id[i / 2] << 4 | digit);
	}
	return true;
}

int gen_trace_equal(struct gen *gen, const struct expr *expr, const struct expr *literal,
		    struct number *out)
{
	uint8_t id[TRACE_ID] = {0};
	uint64_t words[2];
	char name[NAME_MAX_LEN];

	if (!parse_id(literal, id)) {
		errmsg_set(gen->err, "col %u: a trace's ID has 32 hexadecimal digits",
			   literal->col);
		errmsg_hint(gen->err, "$traceid == \"\" is a call without a trace");
		return -1;
	}
	if (trace_of(gen, expr, name))
		return -1;
	memcpy(words, id, sizeof(words));
	*out = (struct number){.is_bool = true};
	gen_var(gen, out->text);
	ctext_line(gen->out,
		   "u64 %s = %s.first == 0x%" PRIx64 "ULL && %s.last == 0x%" PRIx64 "ULL;",
		   out->text, name, words[0], name, words[1]);
	return 0;
}
