// SPDX-License-Identifier: Apache-2.0
#include "gofuncs/funclist_types_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/copyinfo.h"
#include "arguments/funcinfo.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "elf/image.h"
#include "program/functab.h"
#include "program/program.h"

enum {
	INDENT = 13, /* columns before a line's text */
	WIDTH = 79,
	PLACE_TEXT = 24, /* bytes: "[sp+4294967303]" */
};

struct funclist_types {
	const struct program *prog;
	struct site_finder *finder; /* of it */
	struct gotypes *memory;
	struct funcinfo *info;
	enum arch arch;
};

struct funclist_types *funclist_types_new(const struct program *prog, struct site_finder *finder)
{
	struct funclist_types *types = mem_zalloc(1, sizeof(*types));

	types->prog = prog;
	types->finder = finder;
	types->memory = gotypes_new();
	types->info = funcinfo_new(prog, types->memory);
	types->arch = image_arch(prog->img);
	return types;
}

void funclist_types_free(struct funclist_types *types)
{
	if (!types)
		return;
	funcinfo_free(types->info);
	gotypes_free(types->memory);
	free(types);
}

const struct program *funclist_types_program(const struct funclist_types *types)
{
	return types->prog;
}

uint64_t funclist_types_names(struct funclist_types *types)
{
	return funcinfo_type_names(types->info);
}

/* --- what is known --- */

struct known {
	struct gofunc sig;
	struct abi_layout layout; /* empty if sig's source is GOFUNC_NONE */
};

static void find_known(struct funclist_types *types, const struct functab_func *fn,
		       struct known *out)
{
	out->layout = (struct abi_layout){0};
	funcinfo_find(types->info, fn, &out->sig);
	if (out->sig.source != GOFUNC_NONE)
		funcinfo_layout(types->info, fn, &out->sig, &out->layout);
	else if (funcinfo_table(types->info, fn, &out->sig, &out->layout))
		funcinfo_type_receiver(types->info, fn, &out->sig);
	else
		out->sig = (struct gofunc){.dictionary = -1, .source = GOFUNC_NONE};
}

void funclist_types_find(struct funclist_types *types, const struct functab_func *fn,
			 struct gofunc *sig, struct abi_layout *layout)
{
	struct known known;

	find_known(types, fn, &known);
	*sig = known.sig;
	*layout = known.layout;
	for (size_t i = 0; i < sig->param_count; i++)
		if (sig->params[i].place == GOPARAM_GUESSED || !sig->params[i].type->size)
			layout->params[i].count = 0;
}

void funclist_types_copy(struct funclist_types *types, const struct inlining_copy *copy,
			 struct copyinfo *out)
{
	const struct copyinfo_asker asker = {.prog = types->prog,
					     .finder = types->finder,
					     .info = types->info,
					     .memory = types->memory};

	copyinfo_find(&asker, copy, NULL, out, NULL);
}

/* Where knowledge of a type or place comes from; `key`: for JSON. */
struct origin {
	const char *text, *key;
};

static struct origin origin_of_types(const struct gofunc *sig)
{
	static const struct origin of_source[] = {
		[GOFUNC_NONE] = {"not known", "none"},
		[GOFUNC_SIGNATURE] = {"not known", "none"},
		[GOFUNC_DEBUGINFO] = {"debug information", "debuginfo"},
		[GOFUNC_RTTI] = {"run-time type information", "rtti"},
		[GOFUNC_ARGINFO] = {"argument tables: sizes only", "argtables"},
		[GOFUNC_STDLIB] = {"Go's standard library", "library"},
	};

	return of_source[sig->source];
}

static bool is_left_out(const struct goparam *param)
{
	return !strcmp(param->name, "...");
}

/* --- text --- */

/* Does the parameter have no place? */
static bool is_gone(const struct goparam *param, const struct abi_value *value)
{
	return !value->count && param->type->size && !is_left_out(param);
}

/* "n int (rcx)" */
static char *describe(enum arch arch, const struct goparam *param, const struct abi_value *value,
		      const char *absent)
{
	char *text = NULL, place[PLACE_TEXT];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return mem_strdup("?");
	fputs(param->place == GOPARAM_GUESSED ? "?" : "", out);
	escape_print(out, param->name);
	if (!is_left_out(param)) {
		fputs(*param->name ? " " : "", out);
		if (!strcmp(param->type->name, "?"))
			fprintf(out, "%" PRIu64 " byte%s", param->type->size,
				param->type->size == 1 ? "" : "s");
		else
			escape_print(out, param->type->name);
	}
	for (size_t i = 0; i < value->count; i++) {
		abi_place_text(arch, &value->pieces[i], place, sizeof(place));
		fprintf(out, "%s%s", i ? ", " : " (", place);
	}
	fputs(value->count ? ")" : is_gone(param, value) ? absent : "", out);
	fclose(out);
	return text;
}

static void print_values(FILE *out, enum arch arch, const char *label, const struct goparam *params,
			 size_t count, const struct abi_value *values, const char *absent)
{
	size_t col = INDENT;

	fprintf(out, "    %-8s %s", label, count ? "" : "none");
	for (size_t i = 0; i < count; i++) {
		char *text = describe(arch, &params[i], &values[i], absent);
		size_t len = strlen(text) + (i + 1 < count);

		if (i && col + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", INDENT, "");
			col = INDENT;
		} else if (i) {
			fputc(' ', out);
			col++;
		}
		fprintf(out, "%s%s", text, i + 1 < count ? "," : "");
		col += len;
		free(text);
	}
	fputc('\n', out);
}

static struct origin origin_of(const struct gofunc *sig, const struct goparam *param)
{
	static const struct origin of_place[] = {
		[GOPARAM_UNPLACED] = {"place not known", "table"},
		[GOPARAM_GUESSED] = {"the likeliest place, a guess", "guess"},
		[GOPARAM_READ] = {"what the code reads", "code"},
		[GOPARAM_SAVED] = {"saved registers", "saved"},
		[GOPARAM_ON_STACK] = {"all on the stack", "stack"},
	};

	if (is_left_out(param))
		return (struct origin){"not told", "none"};
	if (sig->source == GOFUNC_ARGINFO)
		return of_place[param->place];
	if (sig->source == GOFUNC_DEBUGINFO && !strcmp(param->type->name, "?"))
		return (struct origin){"argument tables", "argtables"};
	return origin_of_types(sig);
}

/* Do all parameters' places come from the same source as the types? */
static bool is_one_origin(const struct gofunc *sig)
{
	for (size_t i = 0; i < sig->param_count; i++)
		if (strcmp(origin_of(sig, &sig->params[i]).text, origin_of_types(sig).text) != 0)
			return false;
	return true;
}

/* "goarg1 to goarg3: saved registers", a line for each origin */
static void print_origins(FILE *out, const struct gofunc *sig)
{
	const char *before = "    places   ";

	if (is_one_origin(sig))
		return;
	for (size_t i = 0, next; i < sig->param_count; i = next) {
		struct origin origin = origin_of(sig, &sig->params[i]);

		for (next = i + 1; next < sig->param_count; next++)
			if (strcmp(origin_of(sig, &sig->params[next]).text, origin.text) != 0)
				break;
		fprintf(out, "%sgoarg%zu", before, i + 1);
		if (next > i + 1)
			fprintf(out, "%sgoarg%zu", next > i + 2 ? " to " : ", ", next);
		fprintf(out, ": %s\n", origin.text);
		before = "             ";
	}
}

/* For a function of which nothing else is known. */
static void print_size(FILE *out, const struct funclist_types *types, const struct functab_func *fn)
{
	int32_t size;

	if (functab_args_size(types->prog->tab, fn, &size) && size > 0)
		fprintf(out, "    args     %d bytes in all, stack results included\n", size);
}

/* such as parameters of a clone that GCC made of a function */
static const char unplaced_text[] = " (place not known)";

void funclist_types_print(FILE *out, struct funclist_types *types, const struct functab_func *fn)
{
	struct known known;

	find_known(types, fn, &known);
	if (known.sig.source == GOFUNC_NONE)
		print_size(out, types, fn);
	else
		print_values(out, types->arch, "args", known.sig.params, known.sig.param_count,
			     known.layout.params, unplaced_text);
	if (known.sig.source != GOFUNC_NONE && known.sig.source != GOFUNC_ARGINFO)
		print_values(out, types->arch, "results", known.sig.results, known.sig.result_count,
			     known.layout.results, unplaced_text);
	fprintf(out, "    types    %s\n", origin_of_types(&known.sig).text);
	if (known.sig.source != GOFUNC_NONE)
		print_origins(out, &known.sig);
	abi_layout_free(&known.layout);
}

void funclist_types_print_copy(FILE *out, const struct funclist_types *types,
			       const struct copyinfo *known)
{
	if (known->sig.source != GOFUNC_NONE)
		print_values(out, types->arch, "args", known->sig.params, known->sig.param_count,
			     known->layout.params, " (optimised out)");
	fprintf(out, "    types    %s\n", origin_of_types(&known->sig).text);
}

/* --- JSON --- */

static void json_type(struct json *json, const struct goparam *param)
{
	bool told = param->type->kind != GOTYPE_UNKNOWN && strcmp(param->type->name, "?") != 0;

	json_member_string(json, "name", param->name);
	json_member_string(json, "type", told ? param->type->name : NULL);
	json_key(json, "size");
	if (param->type->size || told)
		json_u64(json, param->type->size);
	else
		json_null(json);
}

/* `from`: NULL for results */
static void json_value(struct json *json, enum arch arch, const char *from,
		       const struct goparam *param, const struct abi_value *value)
{
	char place[PLACE_TEXT];

	json_object(json);
	json_type(json, param);
	json_key(json, "in");
	json_array(json);
	for (size_t i = 0; i < value->count; i++) {
		abi_place_text(arch, &value->pieces[i], place, sizeof(place));
		json_string(json, place);
	}
	json_array_end(json);
	if (from)
		json_member_string(json, "from", from);
	json_object_end(json);
}

static void json_args(struct json *json, enum arch arch, const struct gofunc *sig,
		      const struct abi_layout *layout)
{
	json_key(json, "args");
	json_array(json);
	for (size_t i = 0; i < sig->param_count; i++)
		json_value(json, arch, origin_of(sig, &sig->params[i]).key, &sig->params[i],
			   &layout->params[i]);
	json_array_end(json);
}

static void json_results(struct json *json, enum arch arch, const struct known *known)
{
	json_key(json, "results");
	json_array(json);
	for (size_t i = 0; i < known->sig.result_count; i++)
		json_value(json, arch, NULL, &known->sig.results[i], &known->layout.results[i]);
	json_array_end(json);
}

static void json_unknown(struct json *json, const char *key)
{
	json_key(json, key);
	json_null(json);
}

void funclist_types_json(struct json *json, struct funclist_types *types,
			 const struct functab_func *fn)
{
	struct known known;

	find_known(types, fn, &known);
	if (known.sig.source == GOFUNC_NONE)
		json_unknown(json, "args");
	else
		json_args(json, types->arch, &known.sig, &known.layout);
	if (known.sig.source == GOFUNC_NONE || known.sig.source == GOFUNC_ARGINFO)
		json_unknown(json, "results");
	else
		json_results(json, types->arch, &known);
	json_member_string(json, "types_from", origin_of_types(&known.sig).key);
	abi_layout_free(&known.layout);
}

void funclist_types_json_copy(struct json *json, const struct funclist_types *types,
			      const struct copyinfo *known)
{
	if (known->sig.source == GOFUNC_NONE)
		json_unknown(json, "args");
	else
		json_args(json, types->arch, &known->sig, &known->layout);
	json_member_string(json, "types_from", origin_of_types(&known->sig).key);
}
