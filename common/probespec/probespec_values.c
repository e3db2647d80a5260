// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_values_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "probespec/probespec.h"
#include "probespec/probespec_foreign_internal.h"
#include "probespec/probespec_gotype_internal.h"
#include "probespec/probespec_literal_internal.h"

void probespec_values_default(struct probespec *spec)
{
	struct expr *expr = mem_zalloc(1, sizeof(*expr));

	*expr = (struct expr){.kind = EXPR_RESULT, .col = 1, .number = 1};
	expr->text = mem_strdup("goret1");
	expr->len = strlen(expr->text);
	spec->args = mem_zalloc(1, sizeof(struct expr *));
	spec->args[0] = expr;
	spec->arg_texts = mem_zalloc(1, sizeof(*spec->arg_texts));
	spec->arg_texts[0] = mem_strdup(expr->text);
	spec->arg_count = 1;
}

static void put(struct probespec *spec, size_t *cap, char c, unsigned col)
{
	size_t cols = *cap;

	spec->format = mem_grow(spec->format, spec->format_len, cap, 1);
	spec->format_cols = mem_grow(spec->format_cols, spec->format_len, &cols, sizeof(unsigned));
	spec->format[spec->format_len] = c;
	spec->format_cols[spec->format_len++] = col;
}

static void put_text(struct probespec *spec, size_t *cap, const char *text, unsigned col,
		     bool literal)
{
	for (; *text; text++) {
		put(spec, cap, *text, col);
		if (literal && *text == '%')
			put(spec, cap, '%', col);
	}
}

void probespec_values_format(struct probespec *spec)
{
	size_t cap = 0;

	for (size_t i = 0; i < spec->arg_count; i++) {
		unsigned col = spec->args[i]->col;

		put_text(spec, &cap, i ? ", " : "", col, false);
		put_text(spec, &cap, spec->arg_texts[i], col, true);
		put_text(spec, &cap, " = %v", col, false);
	}
	put(spec, &cap, 0, 1);
	spec->format_len--;
}

/* --- bcc's argdist --- */

struct theirs { /* the parts of p:LIB:FUNCTION(SIGNATURE):TYPES:EXPRS:FILTER#LABEL */
	const char *head;
	size_t head_len;
	const char *fields[3]; /* TYPES, EXPRS, FILTER */
	size_t lens[3];
};

/* A colon that ends a field: none within brackets or quotes. */
static size_t field_len(const char *text)
{
	size_t at = 0;
	int depth = 0;

	while (text[at] && (depth > 0 || (text[at] != ':' && text[at] != '#'))) {
		size_t end = text[at] == '"' ? probespec_literal_end(text, at) : 0;

		depth += strchr("([", text[at]) ? 1 : strchr(")]", text[at]) ? -1 : 0;
		at = end ? end : at + 1;
	}
	return at;
}

/* Where the signature begins that ends before text[close]: its own parenthesis. */
static size_t signature_start(const char *text, size_t close)
{
	for (size_t at = 0; at < close; at++)
		if (text[at] == '(' && probespec_gotype_close(text, at) == close)
			return at;
	return close;
}

/* "):" is in no PROBE of ours but in strings. */
static bool split(const char *text, struct theirs *out)
{
	const char *mark = strstr(text, "):"), *quote = strchr(text, '"');

	*out = (struct theirs){.head = text};
	if (!mark || (quote && quote < mark))
		return false;
	out->head_len = signature_start(text, mark + 1 - text);
	text = mark + 1;
	for (size_t i = 0; i < 3 && *text == ':'; i++) {
		out->fields[i] = ++text;
		out->lens[i] = field_len(text);
		text += out->lens[i];
	}
	return true;
}

/* Their word at text[at] in ours; its length in *len. NULL: it is none of theirs. */
static const char *word(const char *text, size_t *len)
{
	static const char *const rows[][2] = {
		{"$retval", "goret1"}, {"$PID", "$pid"}, {"$TID", "$tid"},
		{"$COMM", "$comm"},    {"$CPU", "$cpu"}, {"$entry(", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		*len = strlen(rows[i][0]);
		if (!strncmp(text, rows[i][0], *len))
			return rows[i][1];
	}
	return NULL;
}

/* Writes an expression with our words: $entry(x) is x. */
static void put_words(FILE *out, const char *text, size_t len)
{
	int entry = 0;

	for (size_t at = 0, skip = 1; at < len; at += skip) {
		const char *ours = word(text + at, &skip);

		if (ours) {
			entry += !*ours;
			fputs(ours, out);
			continue;
		}
		skip = 1;
		if (text[at] == ')' && entry > 0)
			entry--;
		else
			fputc(text[at], out);
	}
}

static char *translate(const struct theirs *theirs)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return mem_strdup("");
	fprintf(out, "%.*s", (int)theirs->head_len, theirs->head);
	if (theirs->lens[2]) {
		fputs(" (", out);
		put_words(out, theirs->fields[2], theirs->lens[2]);
		fputc(')', out);
	}
	if (theirs->lens[1]) {
		fputc(' ', out);
		put_words(out, theirs->fields[1], theirs->lens[1]);
	}
	fclose(out);
	return text;
}

bool probespec_argdist(const char *text, struct errmsg *err)
{
	struct theirs theirs;

	if (probespec_foreign(text, err))
		return true;
	if (!split(text, &theirs))
		return false;
	char *ours = translate(&theirs);

	errmsg_set(err, "types, expressions and filters after colons are those of bcc's argdist");
	errmsg_hint(err, "'%s'", ours);
	free(ours);
	return true;
}
