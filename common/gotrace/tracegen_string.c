// SPDX-License-Identifier: Apache-2.0
/* Strings compared with literals, in the kernel. */
#include "gotrace/tracegen_string_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/errmsg.h"
#include "gotrace/tracegen_context_internal.h"

enum {
	LITERAL_MAX = 128,
	LITERAL_PART = 32, /* bytes compared at a time: a BPF program has 512 bytes of stack */
};

static uint64_t literal_word(const struct expr *literal, size_t off)
{
	uint64_t word = 0;

	memcpy(&word, literal->text + off, literal->len - off < 8 ? literal->len - off : 8);
	return word;
}

/* Compares one part, if those before it were equal. */
static void compare_part(struct gen *gen, const struct expr *literal, size_t off,
			 const char *pointer, const char *equal)
{
	size_t len = literal->len - off < LITERAL_PART ? literal->len - off : LITERAL_PART;

	ctext_open(gen->out, "if (%s)", equal);
	ctext_line(gen->out, "u64 text[%zu] = {};", (len + 7) / 8);
	ctext_line(gen->out, "must(&bad, fetch(text, %zu, %s + %zu));", len, pointer, off);
	for (size_t at = 0; at < len; at += 8)
		ctext_line(gen->out, "%s &= text[%zu] == 0x%" PRIx64 "ULL;", equal, at / 8,
			   literal_word(literal, off + at));
	ctext_close(gen->out);
}

/* `relation`: of its length to the literal's, "==" or ">=" */
static int compare_text(struct gen *gen, const struct place *place, const struct expr *literal,
			const char *relation, struct number *out)
{
	char pointer[NAME_MAX_LEN], length[NAME_MAX_LEN];

	if (place->type->kind != GOTYPE_STRING && place->type->kind != GOTYPE_PAIR &&
	    !(place->type->kind == GOTYPE_SLICE && place->type->elem &&
	      place->type->elem->size == 1))
		return gen_failed(errmsg_set(gen->err, "col %u: %s is not a string", literal->col,
					     place->type->name));
	if (literal->len > LITERAL_MAX)
		return gen_failed(errmsg_set(
			gen->err, "col %u: strings of more than %d bytes are not compared",
			literal->col, LITERAL_MAX));
	if (gen_load(gen, place, 0, 8, false, literal->col, pointer) ||
	    gen_load(gen, place, 8, 8, false, literal->col, length))
		return -1;
	*out = (struct number){.is_bool = true};
	gen_var(gen, out->text);
	ctext_line(gen->out, "u64 %s = %s %s %zu;", out->text, length, relation, literal->len);
	for (size_t off = 0; off < literal->len; off += LITERAL_PART)
		compare_part(gen, literal, off, pointer, out->text);
	return 0;
}

int gen_string_place(struct gen *gen, const struct expr *expr, struct place *out)
{
	return expr->kind == EXPR_CTX ? gen_context_string(gen, expr, out)
				      : gen_place(gen, expr, out);
}

int gen_string_equal(struct gen *gen, const struct place *place, const struct expr *literal,
		     struct number *out)
{
	return compare_text(gen, place, literal, "==", out);
}

int gen_string_call(struct gen *gen, const struct expr *expr, struct number *out)
{
	bool whole = expr->kind == EXPR_STRCMP;
	struct place place;

	if (!gen_is_place(expr->a))
		return gen_failed(errmsg_set(gen->err, "col %u: %s takes a string", expr->a->col,
					     whole ? "STRCMP" : "hasprefix"));
	if (gen_string_place(gen, expr->a, &place))
		return -1;
	return compare_text(gen, &place, expr, whole ? "==" : ">=", out);
}
