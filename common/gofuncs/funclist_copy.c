// SPDX-License-Identifier: Apache-2.0
#include "gofuncs/funclist_copy_internal.h"

#include <string.h>

#include "arguments/copyinfo.h"
#include "base/escape.h"
#include "base/json.h"
#include "gofuncs/funclist_types_internal.h"
#include "selection/selection.h"

struct gostack_place funclist_copy_place(struct gostack_symbols *syms,
					 const struct selection_item *item)
{
	struct gostack_place place = gostack_symbols_find(syms, item->copy.addr, false);

	/* skips lines of what is inlined into the copy: they come first */
	while (place.count > 1 &&
	       (!place.lines[0].name || strcmp(place.lines[0].name, item->copy.name))) {
		place.lines++;
		place.count--;
	}
	return place;
}

static void print_caller(FILE *out, const char *label, const struct gostack_line *line)
{
	fprintf(out, "    %-8s ", label);
	escape_print(out, line->name ? line->name : "?");
	if (line->file) {
		fputs(", ", out);
		escape_print(out, line->file);
		fprintf(out, ":%d", line->line);
	}
	fputc('\n', out);
}

void funclist_copy_print(FILE *out, struct funclist_types *types, const struct gostack_place *place,
			 const struct selection_item *item, struct site *at)
{
	struct copyinfo known;

	for (size_t i = 1; i < place->count; i++)
		print_caller(out, i == 1 ? "caller" : "", &place->lines[i]);
	funclist_types_copy(types, &item->copy, &known);
	funclist_types_print_copy(out, types, &known);
	*at = known.known && !known.skipped ? known.entry : (struct site){0};
	abi_layout_free(&known.layout);
}

static void json_caller(struct json *json, const struct gostack_line *line)
{
	json_object(json);
	json_member_string(json, "func", line->name);
	if (line->file) {
		json_member_string(json, "file", line->file);
		json_member_i64(json, "line", line->line);
	}
	json_object_end(json);
}

void funclist_copy_json(struct json *json, struct funclist_types *types,
			const struct gostack_place *place, const struct selection_item *item,
			struct site *at)
{
	struct copyinfo known;

	json_key(json, "callers");
	json_array(json);
	for (size_t i = 1; i < place->count; i++)
		json_caller(json, &place->lines[i]);
	json_array_end(json);
	funclist_types_copy(types, &item->copy, &known);
	funclist_types_json_copy(json, types, &known);
	*at = known.known && !known.skipped ? known.entry : (struct site){0};
	abi_layout_free(&known.layout);
}
