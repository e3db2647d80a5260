// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/number.h"
#include "golang/release.h"
#include "golang/signature_internal.h"
#include "golang/gotype_internal.h"

enum { WORD = 8, DEPTH_MAX = 32 };

bool sig_begins_type(const struct sigparser *parser)
{
	return parser->token.kind == SIGTOKEN_NAME || parser->token.kind == SIGTOKEN_ARROW ||
	       sig_is(parser, '*') || sig_is(parser, '[') || sig_is(parser, '(');
}

/* Compilers write no space between type arguments. */
static char *compact_name(const struct sigparser *parser, const struct sigtoken *token)
{
	char *name = mem_strndup(parser->text + token->start, token->len);
	size_t out = 0;

	for (size_t i = 0; name[i]; i++)
		if (name[i] != ' ' || !i || (name[i - 1] != ',' && name[i - 1] != ' '))
			name[out++] = name[i];
	name[out] = '\0';
	return name;
}

static const struct gotype *defined_int(struct gotypes *types, const char *name)
{
	struct gotype *type = gotypes_add(types, GOTYPE_INT, name);

	type->defined = true;
	type->size = type->align = WORD;
	return type;
}

/* src/time/time.go; the same since Go 1.9 */
static const struct gotype *moment(struct gotypes *types)
{
	struct gotype *type = gotypes_add(types, GOTYPE_STRUCT, "time.Time");
	struct gotype *location = gotypes_add(types, GOTYPE_UNKNOWN, "time.Location");
	const struct gotype_field fields[] = {
		{.name = "wall", .type = gotypes_basic(types, "uint64"), .off = 0},
		{.name = "ext", .type = gotypes_basic(types, "int64"), .off = 8},
		{.name = "loc", .type = gotypes_pointer(types, location), .off = 16},
	};

	location->defined = type->defined = true;
	type->size = sizeof(fields) / sizeof(fields[0]) * WORD;
	type->align = WORD;
	type->field_count = sizeof(fields) / sizeof(fields[0]);
	type->fields = gotypes_alloc(types, type->field_count, sizeof(fields[0]));
	memcpy(type->fields, fields, sizeof(fields));
	return type;
}

static const struct gotype *find_parsed_type(struct sigparser *parser, const char *name)
{
	const struct signature_names *names = parser->names;
	const struct gotype *found = gotypes_basic(parser->types, name);

	if (!found && names && names->find)
		found = names->find(names->ctx, name);
	if (!found && (!strcmp(name, "time.Duration") || !strcmp(name, GOTYPE_OPEN_FLAGS)))
		found = defined_int(parser->types, name);
	if (!found && !strcmp(name, "time.Time"))
		found = moment(parser->types);
	if (found)
		return found;
	struct gotype *unknown = gotypes_add(parser->types, GOTYPE_UNKNOWN, name);

	unknown->defined = true;
	return unknown;
}

const struct gotype *sig_named_type(struct sigparser *parser, const struct sigtoken *token)
{
	char *name = compact_name(parser, token);
	const struct gotype *found = find_parsed_type(parser, name);

	free(name);
	return found;
}

int sig_check_size(struct sigparser *parser, const struct gotype *type, size_t start)
{
	if (type->kind != GOTYPE_UNKNOWN || type->size)
		return 0;
	sig_error(parser, start, "nothing is known of the type \"%s\"", type->name);
	errmsg_hint(parser->err, "its size matters here: use a pointer to it, or write what it is, "
				 "as in struct{a int; b string} or interface{M()}");
	return -1;
}

static const struct gotype *sized_type(struct sigparser *parser)
{
	size_t start = parser->token.start;
	const struct gotype *type = sig_type(parser);

	return type && !sig_check_size(parser, type, start) ? type : NULL;
}

static const struct gotype *pointer_like(struct sigparser *parser, enum gotype_kind kind,
					 char *name)
{
	struct gotype *type = gotypes_add(parser->types, kind, name);

	type->size = type->align = WORD;
	free(name);
	return type;
}

static int parse_length(struct sigparser *parser, uint64_t *length)
{
	struct sigtoken token = parser->token;

	if (token.kind != SIGTOKEN_NUMBER)
		return sig_expected(parser, "an array's length or \"]\"");
	char *text = mem_strndup(parser->text + token.start, token.len);
	bool good = number_parse(text, GOTYPE_SIZE_MAX, length);

	free(text);
	if (!good)
		return sig_error(parser, token.start, "\"%.*s\" is not the length of an array",
				 (int)token.len, parser->text + token.start);
	sig_advance(parser);
	return sig_expect(parser, ']');
}

static const struct gotype *parse_array(struct sigparser *parser)
{
	size_t start = parser->token.start;
	uint64_t length;

	if (parse_length(parser, &length))
		return NULL;
	const struct gotype *elem = sized_type(parser);

	if (!elem)
		return NULL;
	const struct gotype *array = gotypes_array(parser->types, elem, length);

	if (array->kind == GOTYPE_ARRAY)
		return array;
	sig_error(parser, start, "an array of this length is too large");
	return NULL;
}

/* What stands after "[". */
static const struct gotype *parse_brackets(struct sigparser *parser)
{
	if (!sig_take(parser, ']'))
		return parse_array(parser);
	const struct gotype *elem = sig_type(parser);

	return elem ? gotypes_slice(parser->types, elem) : NULL;
}

static const struct gotype *parse_map(struct sigparser *parser)
{
	if (sig_expect(parser, '['))
		return NULL;
	const struct gotype *key = sig_type(parser);

	if (!key || sig_expect(parser, ']'))
		return NULL;
	const struct gotype *value = sig_type(parser);

	if (!value)
		return NULL;
	char *name = mem_printf("map[%s]%s", key->name, value->name);
	struct gotype *map = (struct gotype *)pointer_like(parser, GOTYPE_MAP, name);

	map->key = key;
	map->elem = value;
	map->swiss = parser->names && parser->names->release >= RELEASE_SWISS_MAPS;
	return map;
}

/* What stands after "chan", or after "<-chan" if `receives`. */
static const struct gotype *parse_chan(struct sigparser *parser, bool receives)
{
	bool sends = !receives && parser->token.kind == SIGTOKEN_ARROW;

	if (sends)
		sig_advance(parser);
	const struct gotype *elem = sig_type(parser);

	if (!elem)
		return NULL;
	bool parens = !sends && !receives && elem->name[0] == '<'; /* chan (<-chan int) */
	char *name = mem_printf("%schan%s %s%s%s", receives ? "<-" : "", sends ? "<-" : "",
				parens ? "(" : "", elem->name, parens ? ")" : "");
	struct gotype *chan = (struct gotype *)pointer_like(parser, GOTYPE_CHAN, name);

	chan->elem = elem;
	return chan;
}

static const struct gotype *parse_receiving_chan(struct sigparser *parser)
{
	sig_advance(parser);
	if (!sig_is_word(parser, "chan")) {
		sig_expected(parser, "\"chan\"");
		return NULL;
	}
	sig_advance(parser);
	return parse_chan(parser, true);
}

static const struct gotype *parse_func(struct sigparser *parser)
{
	char *name = mem_strdup("func");

	if (!sig_func_name(parser, &name))
		return pointer_like(parser, GOTYPE_FUNC, name);
	free(name);
	return NULL;
}

static const struct gotype *parse_word(struct sigparser *parser)
{
	static const struct {
		const char *keyword;
		const struct gotype *(*parse)(struct sigparser *parser);
	} rows[] = {
		{"map", parse_map},
		{"func", parse_func},
		{"struct", sig_struct},
		{"interface", sig_interface},
	};
	struct sigtoken token = parser->token;
	bool is_chan = sig_is_word(parser, "chan");

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!sig_is_word(parser, rows[i].keyword))
			continue;
		sig_advance(parser);
		return rows[i].parse(parser);
	}
	sig_advance(parser);
	return is_chan ? parse_chan(parser, false) : sig_named_type(parser, &token);
}

static const struct gotype *parse_parens(struct sigparser *parser)
{
	const struct gotype *type = sig_type(parser);

	return type && !sig_expect(parser, ')') ? type : NULL;
}

static const struct gotype *parse_pointer(struct sigparser *parser)
{
	const struct gotype *elem = sig_type(parser);

	return elem ? gotypes_pointer(parser->types, elem) : NULL;
}

static const struct gotype *parse_any(struct sigparser *parser)
{
	if (parser->token.kind == SIGTOKEN_NAME)
		return parse_word(parser);
	if (parser->token.kind == SIGTOKEN_ARROW)
		return parse_receiving_chan(parser);
	if (sig_take(parser, '*'))
		return parse_pointer(parser);
	if (sig_take(parser, '['))
		return parse_brackets(parser);
	if (sig_take(parser, '('))
		return parse_parens(parser);
	sig_expected(parser, "a type");
	return NULL;
}

const struct gotype *sig_type(struct sigparser *parser)
{
	if (parser->depth >= DEPTH_MAX) {
		sig_error(parser, parser->token.start, "types are nested too deep");
		return NULL;
	}
	parser->depth++;
	const struct gotype *type = parse_any(parser);

	parser->depth--;
	return type;
}
