// SPDX-License-Identifier: Apache-2.0
#include "gotrace/tracegen_label_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/tracegen_after_internal.h"
#include "program/toolchain.h"

enum { KEY_WORDS = TRACE_KEY_TEXT / 8 };

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
	if (expr->len > TRACE_KEY_TEXT)
		return gen_failed(errmsg_set(gen->err,
					     "col %u: keys of more than %d bytes are not compared",
					     expr->col, TRACE_KEY_TEXT));
	return 0;
}

/* struct text_key of bpf-src/parts/label_find.h */
static void write_key(struct gen *gen, const struct expr *expr, char name[NAME_MAX_LEN])
{
	uint64_t words[KEY_WORDS] = {0};
	char text[KEY_WORDS * sizeof("0x0123456789abcdefULL, ")] = "";
	size_t len = 0;

	memcpy(words, expr->text, expr->len);
	for (size_t i = 0; 8 * i < expr->len; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s0x%" PRIx64 "ULL",
					i ? ", " : "", words[i]);
	gen_var(gen, name);
	ctext_line(gen->out, "const struct text_key %s = {%zu, {%s}};", name, expr->len, text);
}

int gen_label_place(struct gen *gen, const struct expr *expr, struct place *out)
{
	struct gen_words *words = gotypes_alloc(gen->memory, 1, sizeof(*words));
	char key[NAME_MAX_LEN], value[NAME_MAX_LEN];

	if (gen->returning && !gen->after)
		return gen_at_entry_only(gen, expr);
	if (check(gen, expr))
		return -1;
	gen->uses_labels = true;
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
