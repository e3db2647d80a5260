// SPDX-License-Identifier: Apache-2.0
/* Struct and interface types. Layout of structs: "Memory layout" in Go's abi-internal.md. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "golang/signature_internal.h"

struct members {
	struct gotype_field *items;
	size_t count, cap;
};

static uint64_t field_aligned(uint64_t size, uint64_t align)
{
	return (size + align - 1) / align * align;
}

static void add_member(struct sigparser *parser, struct members *members,
		       const struct sigtoken *name, const struct gotype *type)
{
	struct gotype_field field = {.type = type};

	field.name = gotypes_text(parser->types, parser->text + name->start, name->len);
	members->items = mem_grow(members->items, members->count, &members->cap, sizeof(field));
	members->items[members->count++] = field;
}

/* An embedded field has its type's name, without package and type arguments. */
static struct sigtoken last_part(const struct sigparser *parser, struct sigtoken token)
{
	size_t end = token.start;

	while (end < token.start + token.len && parser->text[end] != '[')
		end++;
	size_t start = end;

	while (start > token.start && !strchr("./", parser->text[start - 1]))
		start--;
	token.start = start;
	token.len = end - start;
	return token;
}

/* "http.Request" or "*http.Request", without a name before it */
static int parse_embedded(struct sigparser *parser, struct members *members)
{
	struct sigtoken name = parser->token;
	bool is_pointer = sig_take(parser, '*');

	if (is_pointer)
		name = parser->token;
	if (name.kind != SIGTOKEN_NAME)
		return sig_expected(parser, "a field's name");
	sig_advance(parser);
	const struct gotype *type = sig_named_type(parser, &name);

	if (is_pointer)
		type = gotypes_pointer(parser->types, type);
	if (sig_check_size(parser, type, name.start))
		return -1;
	name = last_part(parser, name);
	add_member(parser, members, &name, type);
	members->items[members->count - 1].embedded = true;
	return 0;
}

/* The rest of "a, b int", after its first name. */
static int parse_named(struct sigparser *parser, struct members *members, struct sigtoken name)
{
	size_t first = members->count;

	add_member(parser, members, &name, NULL);
	while (sig_take(parser, ',')) {
		if (parser->token.kind != SIGTOKEN_NAME || !parser->token.plain)
			return sig_expected(parser, "a field's name");
		add_member(parser, members, &parser->token, NULL);
		sig_advance(parser);
	}
	size_t start = parser->token.start;
	const struct gotype *type = sig_type(parser);

	if (!type || sig_check_size(parser, type, start))
		return -1;
	for (size_t i = first; i < members->count; i++)
		members->items[i].type = type;
	return 0;
}

static bool ends_member(const struct sigparser *parser)
{
	return sig_is(parser, ';') || sig_is(parser, '}') || parser->token.on_new_line;
}

static int parse_member(struct sigparser *parser, struct members *members)
{
	struct sigparser ahead = *parser;

	sig_advance(&ahead);
	bool embedded = ends_member(&ahead) || ahead.token.kind == SIGTOKEN_TAG;

	if (parser->token.kind != SIGTOKEN_NAME || !parser->token.plain || embedded)
		return parse_embedded(parser, members);
	struct sigtoken name = parser->token;

	sig_advance(parser);
	return parse_named(parser, members, name);
}

static int parse_members(struct sigparser *parser, struct members *members)
{
	if (sig_expect(parser, '{'))
		return -1;
	while (!sig_take(parser, '}')) {
		if (parse_member(parser, members))
			return -1;
		if (parser->token.kind == SIGTOKEN_TAG)
			sig_advance(parser);
		if (!ends_member(parser))
			return sig_expected(parser, "\";\" or \"}\"");
		sig_take(parser, ';');
	}
	return 0;
}

static char *struct_name(const struct members *members)
{
	char *name = mem_strdup("struct {");

	for (size_t i = 0; i < members->count; i++) {
		const struct gotype_field *field = &members->items[i];

		sig_append(&name, "%s %s%s%s", i ? ";" : "", field->embedded ? "" : field->name,
			   field->embedded ? "" : " ", field->type->name);
	}
	sig_append(&name, "%s}", members->count ? " " : "");
	return name;
}

/* Offsets, size and alignment; false: no memory could hold it. */
static bool lay_out_struct(struct gotype *type)
{
	uint64_t last = 1;

	type->align = 1;
	for (size_t i = 0; i < type->field_count; i++) {
		struct gotype_field *field = &type->fields[i];
		uint32_t align = field->type->align ? field->type->align : 1;

		last = field->type->size;
		field->off = field_aligned(type->size, align);
		type->size = field->off + last;
		type->align = align > type->align ? align : type->align;
		if (last > GOTYPE_SIZE_MAX || type->size > GOTYPE_SIZE_MAX)
			return false;
	}
	/* a byte follows a last field of size 0, so that its address lies in the struct */
	type->size = field_aligned(type->size + (type->size && !last ? 1 : 0), type->align);
	return true;
}

static const struct gotype *make_struct(struct sigparser *parser, const struct members *members)
{
	char *name = struct_name(members);
	struct gotype *type = gotypes_add(parser->types, GOTYPE_STRUCT, name);

	free(name);
	type->field_count = members->count;
	type->fields = gotypes_alloc(parser->types, members->count, sizeof(*type->fields));
	for (size_t i = 0; i < members->count; i++)
		type->fields[i] = members->items[i];
	return lay_out_struct(type) ? type : NULL;
}

const struct gotype *sig_struct(struct sigparser *parser)
{
	struct members members = {0};
	const struct gotype *type = NULL;
	size_t start = parser->token.start;

	if (!parse_members(parser, &members)) {
		type = make_struct(parser, &members);
		if (!type)
			sig_error(parser, start, "the struct is too large");
	}
	free(members.items);
	return type;
}

/* "M(int) string", or the name of an interface; *has_methods: the whole has some */
static int parse_element(struct sigparser *parser, char **name, bool *has_methods)
{
	struct sigtoken token = parser->token;

	if (token.kind != SIGTOKEN_NAME)
		return sig_expected(parser, "a method");
	sig_advance(parser);
	if (sig_is(parser, '(')) {
		*has_methods = true;
		sig_append(name, "%.*s", (int)token.len, parser->text + token.start);
		return sig_func_name(parser, name);
	}
	const struct gotype *type = sig_named_type(parser, &token);

	if (type->kind != GOTYPE_INTERFACE && type->kind != GOTYPE_UNKNOWN)
		return sig_error(parser, token.start, "\"%s\" is not an interface", type->name);
	/* an unknown type: hardly anyone embeds an empty interface */
	*has_methods = *has_methods || type->has_methods || type->kind == GOTYPE_UNKNOWN;
	sig_append(name, "%s", type->name);
	return 0;
}

static int parse_elements(struct sigparser *parser, char **name, bool *has_methods)
{
	const char *separator = " ";

	if (sig_expect(parser, '{'))
		return -1;
	while (!sig_take(parser, '}')) {
		sig_append(name, "%s", separator);
		if (parse_element(parser, name, has_methods))
			return -1;
		if (!ends_member(parser))
			return sig_expected(parser, "\";\" or \"}\"");
		sig_take(parser, ';');
		separator = "; ";
	}
	sig_append(name, "%s", *separator == ';' ? " }" : "}");
	return 0;
}

static const struct gotype *make_interface(struct sigparser *parser, const char *name,
					   bool has_methods)
{
	const struct gotype *any = gotypes_basic(parser->types, name);

	if (any) /* interface{} */
		return any;
	struct gotype *type = gotypes_add(parser->types, GOTYPE_INTERFACE, name);

	type->has_methods = has_methods;
	type->size = 16;
	type->align = 8;
	return type;
}

const struct gotype *sig_interface(struct sigparser *parser)
{
	char *name = mem_strdup("interface {");
	const struct gotype *type = NULL;
	bool has_methods = false;

	if (!parse_elements(parser, &name, &has_methods))
		type = make_interface(parser, name, has_methods);
	free(name);
	return type;
}
