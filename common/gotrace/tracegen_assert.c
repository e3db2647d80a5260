// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracegen_assert_internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/errmsg.h"
#include "gotrace/tracegen_after_internal.h"
#include "program/toolchain.h"

struct held { /* what an interface holds; texts name C variables */
	const struct gotype *type;
	bool direct;
	char word[NAME_MAX_LEN];  /* the interface's first */
	char holds[NAME_MAX_LEN]; /* does it hold a value of the type? */
	char data[NAME_MAX_LEN];  /* its data word; 0 where it is not */
};

const struct gotype *gen_held_type(struct gen *gen, const char *name, unsigned col, bool *direct)
{
	const struct tracegen_held *held = gen->probe->held;
	struct errmsg why = {0};
	const struct gotype *type = held ? held->find(held->ctx, name, direct, &why) : NULL;

	if (type)
		return type;
	errmsg_set(gen->err, "col %u: %s", col, held ? why.text : "types are not known here");
	if (*why.hint)
		errmsg_hint(gen->err, "%s", why.hint);
	return NULL;
}

static int find_asserted(struct gen *gen, const struct expr *expr, struct held *out)
{
	/* its descriptors may be in the library, in the program, or in both */
	if (gen->probe->toolchain->libgo)
		return gen_failed(errmsg_set(gen->err,
					     "col %u: x.(T) is not supported in programs of gccgo",
					     expr->col));
	out->type = gen_held_type(gen, expr->text, expr->col + 1, &out->direct);
	return out->type ? 0 : -1;
}

static int read_held(struct gen *gen, const struct expr *expr, struct held *out)
{
	struct place place;
	char data[NAME_MAX_LEN];

	if (gen_place(gen, expr->a, &place))
		return -1;
	if (place.type->kind != GOTYPE_INTERFACE)
		return gen_failed(errmsg_set(gen->err, "col %u: %s is not an interface", expr->col,
					     place.type->name));
	if (find_asserted(gen, expr, out) ||
	    gen_load(gen, &place, 0, 8, false, expr->col, out->word) ||
	    gen_load(gen, &place, 8, 8, false, expr->col, data))
		return -1;
	gen_var(gen, out->holds);
	ctext_line(gen->out, "u64 %s = holds_type(&bad, %s, %s, 0x%" PRIx64 "ULL, hit);",
		   out->holds, out->word, gen_first_word(gen, place.type), out->type->rtype);
	gen_var(gen, out->data);
	ctext_line(gen->out, "u64 %s = %s ? %s : 0;", out->data, out->holds, data);
	return 0;
}

int gen_assert_place(struct gen *gen, const struct expr *expr, struct place *out)
{
	struct held held;

	if (read_held(gen, expr, &held))
		return -1;
	ctext_line(gen->out, "must_hold(&bad, %s, %s);", held.word, held.holds);
	*out = (struct place){.type = held.type};
	if (held.direct) {
		struct gen_words *words = gotypes_alloc(gen->memory, 1, sizeof(*words));

		snprintf(words->word[0], NAME_MAX_LEN, "%s", held.data);
		out->words = words;
	} else {
		snprintf(out->base, sizeof(out->base), "%s", held.data);
	}
	return 0;
}

int gen_assert_test(struct gen *gen, const struct expr *expr, struct number *out)
{
	struct held held;

	if (read_held(gen, expr, &held))
		return -1;
	*out = (struct number){.is_unsigned = true};
	snprintf(out->text, sizeof(out->text), "%s", held.data);
	return 0;
}
