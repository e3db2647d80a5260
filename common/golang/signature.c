// SPDX-License-Identifier: Apache-2.0
#include "golang/signature.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "golang/signature_internal.h"

/* An entry of a list: one word (a name or a type), any other type, or a name with its type. */
struct entry {
	struct sigtoken name; /* len 0: none */
	struct sigparam param;
	bool alone; /* `name` is the name of a parameter or of a type: the list's end tells */
};

struct entries {
	struct entry *items;
	size_t count, cap;
	bool named; /* there is one with name and type */
};

static int parse_entry_type(struct sigparser *parser, struct sigparam *param)
{
	param->variadic = parser->token.kind == SIGTOKEN_ELLIPSIS;
	if (param->variadic)
		sig_advance(parser);
	param->start = parser->token.start;
	param->type = sig_type(parser);
	if (param->type && param->variadic)
		param->type = gotypes_slice(parser->types, param->type);
	return param->type ? 0 : -1;
}

static bool is_keyword(const struct sigparser *parser)
{
	return sig_is_word(parser, "func") || sig_is_word(parser, "map") ||
	       sig_is_word(parser, "chan") || sig_is_word(parser, "struct") ||
	       sig_is_word(parser, "interface");
}

static int parse_entry(struct sigparser *parser, struct entry *entry)
{
	bool is_name = parser->token.kind == SIGTOKEN_NAME && parser->token.plain;

	if (!is_name || is_keyword(parser))
		return parse_entry_type(parser, &entry->param);
	entry->name = parser->token;
	entry->param.start = parser->token.start;
	sig_advance(parser);
	entry->alone = sig_is(parser, ',') || sig_is(parser, ')');
	return entry->alone ? 0 : parse_entry_type(parser, &entry->param);
}

static int parse_entries(struct sigparser *parser, struct entries *entries)
{
	if (sig_expect(parser, '('))
		return -1;
	while (!sig_take(parser, ')')) {
		struct entry entry = {0};

		if (!sig_begins_type(parser) && parser->token.kind != SIGTOKEN_ELLIPSIS)
			return sig_expected(parser, entries->count ? "a parameter" : "\")\"");
		if (parse_entry(parser, &entry))
			return -1;
		entries->items =
			mem_grow(entries->items, entries->count, &entries->cap, sizeof(entry));
		entries->items[entries->count++] = entry;
		entries->named = entries->named || (entry.name.len && !entry.alone);
		if (!sig_take(parser, ',') && !sig_is(parser, ')'))
			return sig_expected(parser, "\",\" or \")\"");
	}
	return 0;
}

/* "a, b int": what is alone in a list of names has the type that comes next. */
static int share_types(struct sigparser *parser, struct entries *entries)
{
	const struct sigparam *next = NULL;

	for (size_t i = entries->count; i > 0; i--) {
		struct entry *entry = &entries->items[i - 1];
		size_t start = entry->param.start;

		if (!entry->name.len)
			return sig_error(parser, start,
					 "a parameter without name among named ones");
		if (entry->alone && !next)
			return sig_error(parser, start, "\"%.*s\" has no type",
					 (int)entry->name.len, parser->text + start);
		if (entry->alone && next->variadic)
			return sig_error(parser, start, "\"...\" is for the last parameter alone");
		if (entry->alone)
			entry->param = *next;
		next = &entry->param;
	}
	return 0;
}

static int look_up_types(struct sigparser *parser, struct entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		struct entry *entry = &entries->items[i];

		if (entry->alone)
			entry->param.type = sig_named_type(parser, &entry->name);
		if (!entry->param.type)
			return -1;
		entry->name.len = 0;
	}
	return 0;
}

static int finish_entries(struct sigparser *parser, struct entries *entries, struct sigparams *out)
{
	if ((entries->named ? share_types : look_up_types)(parser, entries))
		return -1;
	for (size_t i = 0; i < entries->count; i++) {
		struct entry *entry = &entries->items[i];

		if (entry->param.variadic && i + 1 < entries->count)
			return sig_error(parser, entry->param.start,
					 "\"...\" is for the last parameter alone");
		entry->param.name_start = entry->name.start;
		entry->param.name = gotypes_text(parser->types, parser->text + entry->name.start,
						 entry->name.len);
		out->items = mem_grow(out->items, out->count, &out->cap, sizeof(*out->items));
		out->items[out->count++] = entry->param;
	}
	return 0;
}

/* "(a, b int)"; caller frees `items` with free(), after errors as well */
static int parse_params(struct sigparser *parser, struct sigparams *out)
{
	struct entries entries = {0};
	int ret = parse_entries(parser, &entries);

	if (!ret)
		ret = finish_entries(parser, &entries, out);
	free(entries.items);
	return ret;
}

/* "(n int, err error)", "error" or nothing */
static int parse_results(struct sigparser *parser, struct sigparams *out)
{
	struct sigparam only = {.name = ""};

	if (!sig_is(parser, '(') && !sig_begins_type(parser))
		return 0;
	if (!sig_is(parser, '(')) {
		if (parse_entry_type(parser, &only))
			return -1;
		out->items = mem_grow(out->items, out->count, &out->cap, sizeof(only));
		out->items[out->count++] = only;
		return 0;
	}
	if (parse_params(parser, out))
		return -1;
	if (out->count && out->items[out->count - 1].variadic)
		return sig_error(parser, out->items[out->count - 1].start,
				 "\"...\" is for parameters, not for results");
	return 0;
}

static void append_types(char **name, const struct sigparams *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct sigparam *param = &list->items[i];

		sig_append(name, "%s%s%s", i ? ", " : "", param->variadic ? "..." : "",
			   param->variadic ? param->type->elem->name : param->type->name);
	}
}

static void append_func(char **name, const struct sigparams *params,
			const struct sigparams *results)
{
	sig_append(name, "(");
	append_types(name, params);
	sig_append(name, ")%s%s", results->count ? " " : "", results->count > 1 ? "(" : "");
	append_types(name, results);
	sig_append(name, "%s", results->count > 1 ? ")" : "");
}

int sig_func_name(struct sigparser *parser, char **name)
{
	struct sigparams params = {0}, results = {0};
	int ret = parse_params(parser, &params);

	if (!ret)
		ret = parse_results(parser, &results);
	if (!ret)
		append_func(name, &params, &results);
	free(params.items);
	free(results.items);
	return ret;
}

static int keep_params(struct sigparser *parser, const struct sigparams *list, struct goparam **out,
		       size_t *count)
{
	*out = gotypes_alloc(parser->types, list->count, sizeof(**out));
	*count = list->count;
	for (size_t i = 0; i < list->count; i++) {
		const struct sigparam *param = &list->items[i];

		if (sig_check_size(parser, param->type, param->start)) {
			/* the type first, as in C */
			if (param->name && gotypes_basic(parser->types, param->name))
				errmsg_hint(parser->err, "Go has a parameter's name first: (%s %s)",
					    param->type->name, param->name);
			return -1;
		}
		(*out)[i] = (struct goparam){.name = param->name, .type = param->type};
	}
	return 0;
}

static const struct sigparam *param_at(const struct sigparams *params,
				       const struct sigparams *results, size_t index)
{
	return index < params->count ? &params->items[index]
				     : &results->items[index - params->count];
}

/* If two had one name, an expression could mean either. */
static int check_unique(struct sigparser *parser, const struct sigparams *params,
			const struct sigparams *results)
{
	for (size_t i = 0; i < params->count + results->count; i++) {
		const struct sigparam *param = param_at(params, results, i);

		if (!*param->name || !strcmp(param->name, "_"))
			continue;
		for (size_t j = 0; j < i; j++)
			if (!strcmp(param->name, param_at(params, results, j)->name))
				return sig_error(parser, param->name_start,
						 "a second parameter is called \"%s\"",
						 param->name);
	}
	return 0;
}

static int parse_func(struct sigparser *parser, struct sigparams *params, struct sigparams *results,
		      struct gofunc *out)
{
	if (parse_params(parser, params) || parse_results(parser, results))
		return -1;
	if (parser->token.kind != SIGTOKEN_END)
		return sig_expected(parser, "the signature's end");
	if (keep_params(parser, params, &out->params, &out->param_count) ||
	    keep_params(parser, results, &out->results, &out->result_count))
		return -1;
	return check_unique(parser, params, results);
}

static struct sigparser begin_parser(struct gotypes *types, const struct signature_names *names,
				     const char *text, size_t *pos, struct errmsg *err)
{
	struct sigparser parser = {
		.types = types, .names = names, .text = text, .pos = pos, .err = err};

	sig_advance(&parser);
	return parser;
}

int signature_parse(struct gotypes *types, const struct signature_names *names, const char *text,
		    struct gofunc *out, size_t *pos, struct errmsg *err)
{
	struct sigparser parser = begin_parser(types, names, text, pos, err);
	struct sigparams params = {0}, results = {0};

	*out = (struct gofunc){.dictionary = -1, .source = GOFUNC_SIGNATURE};
	int ret = parse_func(&parser, &params, &results, out);

	free(params.items);
	free(results.items);
	return ret;
}

const struct gotype *signature_type(struct gotypes *types, const struct signature_names *names,
				    const char *text, size_t *pos, struct errmsg *err)
{
	struct sigparser parser = begin_parser(types, names, text, pos, err);
	size_t start = parser.token.start;
	const struct gotype *type = sig_type(&parser);

	if (!type)
		return NULL;
	if (parser.token.kind != SIGTOKEN_END) {
		sig_expected(&parser, "the type's end");
		return NULL;
	}
	return sig_check_size(&parser, type, start) ? NULL : type;
}
