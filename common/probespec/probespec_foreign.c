// SPDX-License-Identifier: Apache-2.0
#include "probespec/probespec_foreign_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "probespec/probespec_lexer_internal.h"
#include "probespec/probespec_literal_internal.h"

enum { NUMBERED = 3 }; /* the most digits of argN */

struct foreign { /* a probe of bpftrace's; offsets in `text` */
	const char *text;
	bool at_return;
	size_t target, target_end;
	size_t filter, filter_end; /* between slashes; equal: there is none */
	size_t body;               /* the opening brace; 0: there is none */
};

static bool has_prefix(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* After the target, in which names may be quoted and have spaces then. */
static size_t target_end(const char *text, size_t at)
{
	bool quoted = false;

	for (; text[at] && (quoted || (!probespec_lexer_is_space(text[at]) && text[at] != '{'));
	     at++)
		quoted ^= text[at] == '"';
	return at;
}

static bool split(const char *text, struct foreign *out)
{
	size_t at = probespec_lexer_skip_space(text, 0);

	*out = (struct foreign){.text = text, .at_return = has_prefix(text + at, "uretprobe:")};
	if (!out->at_return && !has_prefix(text + at, "uprobe:"))
		return false;
	out->target = at + strcspn(text + at, ":") + 1;
	out->target_end = target_end(text, out->target);
	at = probespec_lexer_skip_space(text, out->target_end);
	if (text[at] == '/') {
		const char *brace = strchr(text + at, '{');

		out->filter = at + 1;
		out->filter_end = brace ? (size_t)(brace - text) : strlen(text);
		while (out->filter_end > out->filter && text[out->filter_end] != '/')
			out->filter_end--;
		at = brace ? out->filter_end + 1 : strlen(text);
		at = probespec_lexer_skip_space(text, at);
	}
	out->body = text[at] == '{' ? at : 0;
	return true;
}

/* Writes a word of bpftrace's as gotrace's; false: there is none for it. */
static bool put_word(FILE *out, const char *word, size_t len)
{
	static const struct {
		const char *theirs, *ours;
	} rows[] = {{"retval", "goret1"}, {"pid", "$pid"},   {"tid", "$tid"}, {"comm", "$comm"},
		    {"cpu", "$cpu"},      {"func", "$func"}, {"str", ""}};
	size_t skip = len > 4 && has_prefix(word, "sarg") ? 4 : 3;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].theirs) == len && !memcmp(word, rows[i].theirs, len))
			return fputs(rows[i].ours, out) >= 0;
	if (len <= skip || len > skip + NUMBERED || !has_prefix(word + skip - 3, "arg") ||
	    strspn(word + skip, "0123456789") < len - skip)
		return false;
	return fprintf(out, "goarg%ld", strtol(word + skip, NULL, 10) + 1) > 0;
}

/* Writes text[at, end) with gotrace's words; false: there are others. */
static bool put_words(FILE *out, const char *text, size_t at, size_t end)
{
	size_t next;

	for (; at < end; at = next) {
		next = at + 1;
		if (text[at] == '"' && (next = probespec_literal_end(text, at)) == 0)
			return false;
		while (isalpha((unsigned char)text[at]) &&
		       (isalnum((unsigned char)text[next]) || text[next] == '_'))
			next++;
		if (strchr("@$;{}", text[at]))
			return false;
		if (!isalpha((unsigned char)text[at]))
			fprintf(out, "%.*s", (int)(next - at), text + at);
		else if (!put_word(out, text + at, next - at))
			return false;
	}
	return true;
}

/* After the parenthesis that closes the list of arguments that begins at text[at]; 0: none does. */
static size_t list_end(const char *text, size_t at)
{
	unsigned depth = 1;

	while (text[at] && depth) {
		if (text[at] == '"') {
			at = probespec_literal_end(text, at);
			if (!at)
				return 0;
			continue;
		}
		depth += (text[at] == '(') - (text[at] == ')');
		at++;
	}
	return depth ? 0 : at;
}

/* The format and the arguments of its printf; false: it has none, or others than gotrace's. */
static bool put_printf(FILE *out, const struct foreign *probe)
{
	const char *call = strstr(probe->text + probe->body, "printf(");
	size_t at = call ? (size_t)(call - probe->text) + strlen("printf(") : 0;
	size_t close = at ? list_end(probe->text, at) : 0;
	size_t quote = close && probe->text[at] == '"' ? probespec_literal_end(probe->text, at) : 0;

	if (!quote)
		return false;
	bool newline = quote - at > 3 && !memcmp(probe->text + quote - 3, "\\n\"", 3);

	fprintf(out, " %.*s", (int)(quote - at - (newline ? 3 : 0)), probe->text + at);
	if (newline)
		fputc('"', out);
	return put_words(out, probe->text, quote, close - 1);
}

static void put_target(FILE *out, const struct foreign *probe)
{
	fputs(probe->at_return ? "r:" : "", out);
	for (size_t i = probe->target; i < probe->target_end; i++)
		if (probe->text[i] != '"')
			fputc(probe->text[i], out);
}

/* The PROBE that does the same, or prints all arguments; malloc'd. */
static char *translate(const struct foreign *probe, bool whole)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool good = true;

	if (!out)
		return mem_strdup("");
	put_target(out, probe);
	if (whole && probe->filter_end > probe->filter) {
		fputs(" (", out);
		good = put_words(out, probe->text, probe->filter, probe->filter_end);
		fputc(')', out);
	}
	if (whole && probe->body)
		good = put_printf(out, probe) && good;
	fclose(out);
	if (good)
		return text;
	free(text);
	return NULL;
}

/* t:CATEGORY:EVENT of bcc's and bpftrace's; one with a single colon may be BINARY:FUNCTION. */
static bool is_tracepoint(const char *text, struct errmsg *err)
{
	const char *word = text + probespec_lexer_skip_space(text, 0);
	size_t skip = has_prefix(word, "t:") ? 2 : has_prefix(word, "tracepoint:") ? 11 : 0;
	size_t len = skip ? skip + strcspn(word + skip, "/( \"{") : 0;

	if (!skip || !memchr(word + skip, ':', len - skip))
		return false;
	errmsg_set(err, "\"%.*s\" is a tracepoint", (int)len, word);
	errmsg_hint(err, "for tracepoints use bcc's own tools");
	return true;
}

bool probespec_foreign(const char *text, struct errmsg *err)
{
	struct foreign probe;

	if (is_tracepoint(text, err))
		return true;
	if (!split(text, &probe))
		return false;
	const char *body = probe.text + (probe.body ? probe.body : strlen(probe.text));
	const char *tool = strstr(body, "count()") ? "gofunccount"
			   : strstr(body, "hist(") ? "gofunclatency"
						   : "gotrace";

	bool prints = !strcmp(tool, "gotrace");

	probe.at_return &= prints;
	char *ours = translate(&probe, prints);

	if (!ours)
		ours = translate(&probe, false);
	errmsg_set(err, "\"%.*s\" is a probe of bpftrace's",
		   (int)(probe.target_end - strspn(text, " \t\n")), text + strspn(text, " \t\n"));
	errmsg_hint(err, "%s '%s'", tool, ours);
	free(ours);
	return true;
}
