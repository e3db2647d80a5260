// SPDX-License-Identifier: Apache-2.0
#include "golang/gccgoname.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- escapes --- */

/* What the character after an underscore stands for; 0: nothing. */
static char escaped(char c)
{
	static const char codes[] = "_0123456789abc", characters[] = "_./*,{}[]()\" ;";
	const char *at = c ? strchr(codes, c) : NULL;

	return at ? characters[at - codes] : '\0';
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = 0xc0 | c >> 6;
		out[1] = 0x80 | (c & 0x3f);
		return 2;
	}
	if (c < 0x10000) {
		out[0] = 0xe0 | c >> 12;
		out[1] = 0x80 | (c >> 6 & 0x3f);
		out[2] = 0x80 | (c & 0x3f);
		return 3;
	}
	out[0] = 0xf0 | c >> 18;
	out[1] = 0x80 | (c >> 12 & 0x3f);
	out[2] = 0x80 | (c >> 6 & 0x3f);
	out[3] = 0x80 | (c & 0x3f);
	return 4;
}

/* Reads "uXXXX" or "UXXXXXXXX" after an underscore. Returns its length in characters, or 0. */
static size_t code_point(const char *text, size_t len, uint32_t *out)
{
	size_t digits = *text == 'u' ? 4 : *text == 'U' ? 8 : 0;
	char hex[9] = "";

	if (!digits || len <= digits)
		return 0;
	for (size_t i = 0; i < digits; i++) {
		hex[i] = text[1 + i];
		if (!isxdigit((unsigned char)hex[i]))
			return 0;
	}
	*out = strtoul(hex, NULL, 16);
	if (!*out || *out > 0x10ffff || (*out >= 0xd800 && *out < 0xe000))
		return 0;
	return 1 + digits;
}

char *gccgoname_decode(const char *text, size_t len)
{
	char *out = mem_alloc(len + 1); /* no escape is shorter than what it stands for */
	size_t n = 0;
	uint32_t c;

	for (size_t i = 0; i < len; i++) {
		size_t left = len - i - 1, size = 0;

		if (text[i] == '_' && left && escaped(text[i + 1])) {
			out[n++] = escaped(text[++i]);
			continue;
		}
		if (text[i] == '_' && left)
			size = code_point(text + i + 1, left, &c);
		if (size)
			n += put_utf8(out + n, c);
		else
			out[n++] = text[i];
		i += size;
	}
	out[n] = '\0';
	return out;
}

/* --- taking symbols apart --- */

/* Does `symbol` end, at len, in .WORD.NUMBER? Then the length without it; else len. */
static size_t without_clone(const char *symbol, size_t len, const char *word)
{
	size_t end = len, word_len = strlen(word);

	while (end && isdigit((unsigned char)symbol[end - 1]))
		end--;
	if (end == len || end < word_len + 2 || symbol[end - 1] != '.')
		return len;
	end -= word_len + 1;
	return symbol[end - 1] == '.' && strncmp(symbol + end, word, word_len) == 0 ? end - 1 : len;
}

size_t gccgoname_base(const char *symbol)
{
	static const char *const words[] = {"isra", "constprop", "lto_priv"};
	size_t len = strlen(symbol), before;

	do {
		before = len;
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			len = without_clone(symbol, len, words[i]);
	} while (len != before);
	return len;
}

/* Takes what stands before the next dot, and not the dot. */
static struct gccgoname_span take_span(const char **s, const char *end)
{
	struct gccgoname_span span = {*s, 0};

	while (*s < end && **s != '.')
		++*s;
	span.len = *s - span.text;
	return span;
}

static bool is(struct gccgoname_span span, const char *word)
{
	return span.len == strlen(word) && strncmp(span.text, word, span.len) == 0;
}

/* "func12", with its digits in *number */
static bool is_numbered(struct gccgoname_span span, const char *word, struct gccgoname_span *number)
{
	size_t len = strlen(word);

	if (span.len <= len || strncmp(span.text, word, len) != 0)
		return false;
	*number = (struct gccgoname_span){span.text + len, span.len - len};
	for (size_t i = 0; i < number->len; i++)
		if (!isdigit((unsigned char)number->text[i]))
			return false;
	return true;
}

/* The word after two dots says what kind of function it is. */
static bool parse_special(struct gccgoname_span word, struct gccgoname *out)
{
	static const struct {
		const char *word;
		enum gccgoname_kind kind;
	} words[] = {{"eq", GCCGONAME_EQ}, {"hash", GCCGONAME_HASH}, {"stub", GCCGONAME_STUB}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!is(word, words[i].word))
			continue;
		out->kind = words[i].kind;
		return out->name.len;
	}
	if (is_numbered(word, "func", &out->number)) {
		out->closure = word;
		if (is(out->name, "_0go"))
			out->kind = GCCGONAME_LITERAL;
		return out->name.len;
	}
	if (is_numbered(word, "thunk", &out->number))
		out->kind = GCCGONAME_THUNK;
	else if (is_numbered(word, "init", &out->number))
		out->kind = GCCGONAME_INIT;
	else if (is(word, "import") && !out->name.len)
		out->kind = GCCGONAME_IMPORT;
	else
		return false;
	return true;
}

/* NAME_0_0stub2: of a stub that calls a stub */
static void without_stub(struct gccgoname *out)
{
	static const char mark[] = "_0_0stub";
	const char *at = memmem(out->name.text, out->name.len, mark, strlen(mark));
	struct gccgoname_span rest;

	if (!at || at == out->name.text)
		return;
	rest = (struct gccgoname_span){at, out->name.text + out->name.len - at};
	if (!is_numbered(rest, mark, &out->number))
		return;
	out->name.len = at - out->name.text;
	out->kind = GCCGONAME_STUB;
}

/* PACKAGE.NAME, PACKAGE.TYPE.NAME, and perhaps ..SPECIAL */
static bool parse_name(const char *s, const char *end, struct gccgoname *out)
{
	out->package = take_span(&s, end);
	if (!out->package.len || s == end)
		return false;
	s++;
	out->name = take_span(&s, end);
	if (out->name.len && end - s >= 2 && s[1] != '.') {
		s++;
		out->type = out->name;
		out->name = take_span(&s, end);
	}
	if (out->name.len && isdigit((unsigned char)*out->name.text))
		return false; /* GCC's numbers, not identifiers */
	if (s == end)
		return out->name.len;
	if (*s++ != '.' || (out->name.len && (s == end || *s++ != '.')))
		return false;

	struct gccgoname_span word = take_span(&s, end);

	return s == end && parse_special(word, out);
}

bool gccgoname_parse(const char *symbol, struct gccgoname *out)
{
	*out = (struct gccgoname){.kind = GCCGONAME_FUNC};
	if (strcmp(symbol, "__go_init_main") == 0) {
		out->kind = GCCGONAME_IMPORT;
		out->package = (struct gccgoname_span){"main", 4};
		return true;
	}
	if (!parse_name(symbol, symbol + gccgoname_base(symbol), out))
		return false;
	if (out->kind == GCCGONAME_FUNC)
		without_stub(out);
	return true;
}

/* --- putting names together --- */

static char *decode_span(struct gccgoname_span span)
{
	return gccgoname_decode(span.text, span.len);
}

static char *function_text(const struct gccgoname *name, bool pointer)
{
	char *package = decode_span(name->package), *type = decode_span(name->type);
	char *function = decode_span(name->name), *text;
	bool closure = name->closure.len;

	if (!name->type.len)
		text = mem_printf("%s.%s", package, function);
	else if (pointer || name->kind == GCCGONAME_STUB)
		text = mem_printf("%s.(*%s).%s", package, type, function);
	else
		text = mem_printf("%s.%s.%s", package, type, function);
	free(package);
	free(type);
	free(function);
	if (!closure)
		return text;

	char *whole = mem_printf("%s.%.*s", text, (int)name->closure.len, name->closure.text);

	free(text);
	return whole;
}

/* as gc names them: type:.eq.main.T, and of types without a name type:.eq.[4]uint8 */
static char *type_text(const struct gccgoname *name, const char *what)
{
	char *package = decode_span(name->package), *type = decode_span(name->name), *text;

	if (strpbrk(type, "[{(* "))
		text = mem_printf("type:.%s.%s", what, type);
	else
		text = mem_printf("type:.%s.%s.%s", what, package, type);
	free(package);
	free(type);
	return text;
}

/* PACKAGE, WORD and the number */
static char *package_text(const struct gccgoname *name, const char *word)
{
	char *package = decode_span(name->package);
	char *text =
		mem_printf("%s.%s%.*s", package, word, (int)name->number.len, name->number.text);

	free(package);
	return text;
}

char *gccgoname_text(const struct gccgoname *name, bool pointer)
{
	switch (name->kind) {
	case GCCGONAME_EQ:
		return type_text(name, "eq");
	case GCCGONAME_HASH:
		return type_text(name, "hash");
	case GCCGONAME_THUNK:
		return package_text(name, "go..thunk");
	case GCCGONAME_INIT:
		return package_text(name, "init.");
	case GCCGONAME_IMPORT:
		return package_text(name, "init");
	case GCCGONAME_LITERAL:
		return package_text(name, "glob..func");
	default:
		return function_text(name, pointer);
	}
}
