// SPDX-License-Identifier: Apache-2.0
#include "golang/pattern.h"

#include <ctype.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "golang/funcname.h"

struct pattern {
	char *text;
	bool *wild; /* text[i] is a `*` that matches any text; NULL: a regular expression */
	bool is_name;
	regex_t regex;
	size_t seen; /* bytes that were matched since it was compiled */
};

enum { SEEN_MAX = 1 << 16 };

static int compile_error(const char *text, int code, const regex_t *regex, struct errmsg *err)
{
	char reason[128];

	regerror(code, regex, reason, sizeof(reason));
	return errmsg_set(err, "bad regular expression \"%s\": %s", text, reason);
}

static bool has_back_reference(const char *text)
{
	for (; *text; text++) {
		if (*text != '\\')
			continue;
		if (!*++text)
			return false;
		if (*text >= '1' && *text <= '9')
			return true;
	}
	return false;
}

/* Matching back-references may take time that grows with any power of a name's length, and the
 * names come from the program that is traced. Go's regexp package has none either. */
static int refuse_back_reference(const char *text, struct errmsg *err)
{
	errmsg_set(err, "bad regular expression \"%s\": back-references are not supported", text);
	errmsg_hint(err, "a long name would take hours to match");
	return -1;
}

/* An anchored expression rejects most names at their first bytes. */
static int compile_anchored(struct pattern *pat)
{
	char *anchored = mem_printf("^(%s)", pat->text);
	int code = regcomp(&pat->regex, anchored, REG_EXTENDED | REG_NOSUB);

	free(anchored);
	pat->seen = code ? SEEN_MAX : 0;
	return code;
}

static int compile_regex(struct pattern *pat, struct errmsg *err)
{
	int code = regcomp(&pat->regex, pat->text, REG_EXTENDED);

	if (code)
		return compile_error(pat->text, code, &pat->regex, err);
	regfree(&pat->regex);
	if (has_back_reference(pat->text))
		return refuse_back_reference(pat->text, err);
	code = compile_anchored(pat);
	return code ? compile_error(pat->text, code, &pat->regex, err) : 0;
}

/* The star of a pointer receiver, right after a parenthesis, is no wildcard. */
static void find_wildcards(struct pattern *pat)
{
	size_t len = strlen(pat->text);

	pat->wild = mem_zalloc(len, sizeof(*pat->wild));
	pat->is_name = true;
	for (size_t i = 0; i < len; i++) {
		pat->wild[i] = pat->text[i] == '*' && (i == 0 || pat->text[i - 1] != '(');
		pat->is_name = pat->is_name && !pat->wild[i];
	}
}

struct pattern *pattern_new(const char *text, bool regex, struct errmsg *err)
{
	struct pattern *pat = mem_zalloc(1, sizeof(*pat));

	pat->text = mem_strdup(text);
	if (!regex) {
		find_wildcards(pat);
	} else if (compile_regex(pat, err)) {
		free(pat->text);
		free(pat);
		return NULL;
	}
	return pat;
}

void pattern_free(struct pattern *pat)
{
	if (!pat)
		return;
	if (!pat->wild)
		regfree(&pat->regex);
	free(pat->wild);
	free(pat->text);
	free(pat);
}

/* Past the bracket that closes the one at `from`; 0: none does before `end`, or *budget bytes have
 * been looked at (names of a malformed file shall not take time without bound). */
static size_t past_brackets(const char *name, size_t from, size_t end, size_t *budget)
{
	unsigned depth = 0;

	for (size_t i = from; i < end && *budget; i++, --*budget) {
		if (name[i] == '[')
			depth++;
		else if (name[i] == ']' && --depth == 0)
			return i + 1;
	}
	return 0;
}

/* Type arguments follow a name: the brackets of an array type do not. */
static bool begins_type_args(const char *name, size_t at)
{
	unsigned char before = at ? name[at - 1] : 0;

	return name[at] == '[' && (isalnum(before) || before == '_' || before >= 0x80);
}

/* How far a comparison has come. */
struct cursor {
	const char *name;
	size_t end, budget;
	size_t p, n; /* in the pattern's text, in the name */
};

/* One step of a comparison. There is at most one way to go on, so only stars need backtracking. */
static bool match_step(const char *pattern, struct cursor *at)
{
	const char *text = pattern + at->p, *name = at->name;

	if (begins_type_args(name, at->n) && (*text != '[' || !strncmp(text, "[...]", 5))) {
		at->n = past_brackets(name, at->n, at->end, &at->budget);
		at->p += *text == '[' ? 5 : 0;
		return at->n > 0;
	}
	if (*text && *text == name[at->n]) {
		at->p++;
		at->n++;
		return true;
	}
	if (!*text || (unsigned char)*text != funcname_escaped_byte(name, at->n, at->end))
		return false;
	at->p++;
	at->n += 3;
	return true;
}

static bool glob_match(const struct pattern *pat, const char *name, size_t end)
{
	struct cursor at = {.name = name, .end = end, .budget = 16 * end};
	size_t star = 0, resume = 0; /* past the last star met; past what it takes of the name */

	for (;;) {
		if (pat->text[at.p] && pat->wild[at.p]) {
			star = ++at.p;
			resume = at.n;
		} else if (at.n == end && !pat->text[at.p]) {
			return true;
		} else if (at.n == end) {
			return false;
		} else if (!match_step(pat->text, &at)) {
			/* that star takes one byte more; earlier ones need not be tried again */
			if (!star)
				return false;
			at.p = star;
			at.n = ++resume;
		}
		if (star && !pat->text[star])
			return true;
	}
}

/* glibc's compiled expression keeps a table of 2 kB for each state that it has reached, perhaps one
 * for each byte matched: so it is compiled anew from time to time. */
static bool regex_match(struct pattern *pat, const char *name)
{
	pat->seen += strlen(name);
	if (pat->seen > SEEN_MAX) {
		regfree(&pat->regex);
		if (compile_anchored(pat))
			return false; /* no memory is left: it was compiled before */
	}
	return regexec(&pat->regex, name, 0, NULL, 0) == 0;
}

/* The name as one would type it: %xx undone and, if asked, without type arguments. */
static char *typed_name(const char *name, bool keep_type_args)
{
	size_t end = strlen(name), out = 0;
	size_t budget = 16 * end;
	char *plain = mem_alloc(end + 1);

	for (size_t i = 0; i < end;) {
		int byte = funcname_escaped_byte(name, i, end);
		size_t past = 0;

		if (!keep_type_args && begins_type_args(name, i))
			past = past_brackets(name, i, end, &budget);
		if (past) {
			i = past;
			continue;
		}
		plain[out++] = byte > 0 ? byte : name[i];
		i += byte > 0 ? 3 : 1;
	}
	plain[out] = '\0';
	return plain;
}

static bool regex_match_plain(struct pattern *pat, const char *name, bool keep_type_args)
{
	char *plain = typed_name(name, keep_type_args);
	bool matched = regex_match(pat, plain);

	free(plain);
	return matched;
}

bool pattern_match(struct pattern *pat, const char *name)
{
	size_t len = strlen(name);

	if (pat->wild) {
		/* the linker's suffix for the ABI0 version of a function that has both */
		bool abi0 = len > 5 && !strcmp(name + len - 5, ".abi0");

		return glob_match(pat, name, len) || (abi0 && glob_match(pat, name, len - 5));
	}
	if (regex_match(pat, name))
		return true;
	if (strchr(name, '%') && regex_match_plain(pat, name, true))
		return true;
	return strchr(name, '[') && regex_match_plain(pat, name, false);
}

bool pattern_is_name(const struct pattern *pat)
{
	return pat->is_name;
}

const char *pattern_text(const struct pattern *pat)
{
	return pat->text;
}

enum { NEAR_MAX = 3, NEAR_LEN = 256 }; /* edits, and bytes of a name, that are looked at */

/* Edits between two short texts, case aside; NEAR_MAX + 1 for "many". */
static unsigned edit_distance(const char *a, const char *b)
{
	size_t alen = strlen(a), blen = strlen(b);
	unsigned row[NEAR_LEN + 1];

	if (blen > NEAR_LEN || alen > blen + NEAR_MAX || blen > alen + NEAR_MAX)
		return NEAR_MAX + 1;
	for (size_t j = 0; j <= blen; j++)
		row[j] = j;
	for (size_t i = 1; i <= alen; i++) {
		unsigned diagonal = row[0], best = row[0] = i;

		for (size_t j = 1; j <= blen; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			unsigned edit = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);
			unsigned keep = diagonal + !same;

			diagonal = row[j];
			row[j] = edit < keep ? edit : keep;
			best = best < row[j] ? best : row[j];
		}
		if (best > NEAR_MAX)
			return NEAR_MAX + 1;
	}
	return row[blen];
}

/* Does `name` end in `typed`, which begins where a package, type or method begins? */
static bool is_last_part(const char *typed, const char *name)
{
	size_t tlen = strlen(typed), len = strlen(name);

	return tlen && tlen < len && strchr("./(*", name[len - tlen - 1]) &&
	       !strcasecmp(name + len - tlen, typed);
}

/* A name without the marks of a pointer receiver: main.(*T).Foo is main.T.Foo. */
static char *without_marks(const char *name)
{
	char *plain = typed_name(name, false);
	size_t out = 0;

	for (size_t i = 0; plain[i]; i++)
		if (!strchr("(*)", plain[i]))
			plain[out++] = plain[i];
	plain[out] = '\0';
	return plain;
}

static unsigned plain_distance(const char *typed, const char *name)
{
	const char *dot = strrchr(name, '.');
	unsigned edits;

	if (!strcasecmp(typed, name))
		return 1;
	if (is_last_part(typed, name))
		return 2;
	edits = edit_distance(typed, name);
	if (!strchr(typed, '.') && dot) {
		unsigned last = edit_distance(typed, dot + 1);

		edits = edits < last ? edits : last;
	}
	/* three edits turn any short word into any other */
	return edits > NEAR_MAX || edits * 3 > strlen(typed) ? UINT_MAX : 2 + edits;
}

unsigned pattern_distance(const char *typed, const char *name)
{
	if (!strcmp(typed, name))
		return 0;
	char *a = without_marks(typed), *b = without_marks(name);
	unsigned distance = plain_distance(a, b);

	free(a);
	free(b);
	return distance;
}
