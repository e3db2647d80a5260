// SPDX-License-Identifier: Apache-2.0
#include "typedump.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

static const char *const kinds[] = {"unknown", "bool",  "int",       "uint",   "float",   "complex",
				    "string",  "slice", "array",     "struct", "pointer", "map",
				    "chan",    "func",  "interface", "pair"};

void typedump_text(struct typedump *dump, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(dump->text + dump->len, sizeof(dump->text) - dump->len, format, args);
	va_end(args);
	dump->len += len;
	if (dump->len >= sizeof(dump->text))
		fail_msg("no room for more than %zu bytes", dump->len);
}

size_t typedump_number(struct typedump *dump, const struct gotype *type)
{
	size_t i = 0;

	if (!type)
		return 0;
	while (i < dump->count && dump->types[i] != type)
		i++;
	if (i == dump->count && dump->count == TYPEDUMP_MAX)
		fail_msg("no room for more than %d types", TYPEDUMP_MAX);
	if (i == dump->count)
		dump->types[dump->count++] = type;
	return i + 1;
}

static void dump_params(struct typedump *dump, const struct goparam *params, size_t count)
{
	typedump_text(dump, " (");
	for (size_t i = 0; i < count; i++) {
		const struct goparam *param = &params[i];

		typedump_text(dump, "%s%s %zu", i ? ", " : "", param->name,
			      typedump_number(dump, param->type));
		if (param->is_guess)
			typedump_text(dump, " guess");
		if (param->by_address)
			typedump_text(dump, " by address");
		if (param->place)
			typedump_text(dump, " placed %d", param->place);
	}
	typedump_text(dump, ")");
}

void typedump_func(struct typedump *dump, const struct gofunc *fn)
{
	typedump_text(dump, "func%s dictionary %d source %d", fn->receiver ? " receiver" : "",
		      fn->dictionary, fn->source);
	dump_params(dump, fn->params, fn->param_count);
	dump_params(dump, fn->results, fn->result_count);
	typedump_text(dump, "\n");
}

static void dump_fields(struct typedump *dump, const struct gotype *type)
{
	typedump_text(dump, " {");
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		typedump_text(dump, "%s%s@%lu %zu%s", i ? ", " : "", field->name, field->off,
			      typedump_number(dump, field->type),
			      field->embedded ? " embedded" : "");
	}
	typedump_text(dump, "}");
}

static void dump_type(struct typedump *dump, const struct gotype *type)
{
	typedump_text(dump, "%zu %s %s %lu/%u", typedump_number(dump, type), kinds[type->kind],
		      type->name, type->size, type->align);
	if (type->defined)
		typedump_text(dump, " defined");
	if (type->has_methods)
		typedump_text(dump, " methods");
	if (type->swiss)
		typedump_text(dump, " swiss");
	if (type->rtype)
		typedump_text(dump, " at %lx", type->rtype);
	if (type->count)
		typedump_text(dump, " times %lu", type->count);
	if (type->key)
		typedump_text(dump, " key %zu", typedump_number(dump, type->key));
	if (type->elem)
		typedump_text(dump, " of %zu", typedump_number(dump, type->elem));
	if (type->kind == GOTYPE_STRUCT || type->field_count)
		dump_fields(dump, type);
	typedump_text(dump, "\n");
}

void typedump_types(struct typedump *dump)
{
	while (dump->written < dump->count)
		dump_type(dump, dump->types[dump->written++]);
}

void typedump_expect(struct typedump *dump, const char *want)
{
	typedump_types(dump);
	if (strcmp(dump->text, want) == 0)
		return;
	fprintf(stderr, "it is\n%s", dump->text); /* longer than what cmocka prints */
	fail_msg("it is not\n%.200s...", want);
}
