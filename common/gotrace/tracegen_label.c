// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracegen_label_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "gotrace/tracegen_after_internal.h"
#include "gotrace/tracegen_uses_internal.h"
#include "program/toolchain.h"

int gen_check_text_key(struct gen *gen, const struct expr *expr)
{
	if (expr->len <= TRACE_KEY_TEXT)
		return 0;
	return gen_failed(errmsg_set(gen->err,
				     "col %u: keys of more than %d bytes are not compared",
				     expr->col, TRACE_KEY_TEXT));
}

const char *gen_text_key(const void *bytes, size_t len, char text[TEXT_KEY_MAX])
{
	uint64_t words[TRACE_KEY_TEXT / 8] = {0};
	size_t used = (size_t)snprintf(text, TEXT_KEY_MAX, "{%zu, {", len);

	if (len)
		memcpy(words, bytes, len);
	for (size_t i = 0; 8 * i < len; i++)
		used += (size_t)snprintf(text + used, TEXT_KEY_MAX - used, "%s0x%" PRIx64 "ULL",
					 i ? ", " : "", words[i]);
	snprintf(text + used, TEXT_KEY_MAX - used, "}}");
	return text;
}

static int check(struct gen *gen, const struct expr *expr)
{
	if (gen->probe->toolchain->libgo)
		return gen_failed(errmsg_set(
			gen->err, "col %u: labels of gccgo's goroutines are not read", expr->col));
	if (!gen->probe->g_labels)
		return gen_failed(errmsg_set(
			gen->err,
			"col %u: where goroutines have labels is not known in this program",
			expr->col));
	return gen_check_text_key(gen, expr);
}

static void write_key(struct gen *gen, const struct expr *expr, char name[NAME_MAX_LEN])
{
	char text[TEXT_KEY_MAX];

	gen_var(gen, name);
	ctext_line(gen->out, "const struct text_key %s = %s;", name,
		   gen_text_key(expr->text, expr->len, text));
}

int gen_label_place(struct gen *gen, const struct expr *expr, struct place *out)
{
	struct gen_words *words = gotypes_alloc(gen->memory, 1, sizeof(*words));
	char key[NAME_MAX_LEN], value[NAME_MAX_LEN];

	if (gen->returning && !gen->after)
		return gen_at_entry_only(gen, expr);
	if (check(gen, expr))
		return -1;
	gen->uses |= TRACEGEN_LABELS;
	write_key(gen, expr, key);
	gen_var(gen, value);
	ctext_line(
		gen->out,
		"struct go_string %s = find_label(&bad, ctx, (struct label_place){%u, %s}, &%s);",
		value, gen->probe->g_labels, gen->probe->label_map ? "true" : "false", key);
	for (int i = 0; i < 3; i++) {
		gen_var(gen, words->word[i]);
		ctext_line(gen->out, "u64 %s = %s.%s;", words->word[i], value, i ? "len" : "data");
	}
	*out = (struct place){.type = gotypes_basic(gen->memory, "string"), .words = words};
	return 0;
}
