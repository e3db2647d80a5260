// SPDX-License-Identifier: Apache-2.0
#include "gofuncs/funclist.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "elf/image.h"
#include "gofuncs/funclist_copy_internal.h"
#include "gofuncs/funclist_types_internal.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/selection.h"

struct funclist {
	const struct selection *sel;
	uint32_t *rows;  /* in the order of their names */
	uint32_t *items; /* in the order of their rows */
	uint32_t *first; /* row -> index of its first item in `items`; one more at the end */
	struct funclist_types *types; /* of the program of the last item printed */
	struct gostack_symbols *syms; /* of the same program */
	/* An item is printed to memory first, to know its length. */
	FILE *text;
	char *bytes;
	size_t len;
	struct budget budget; /* of bytes */
	FILE *out;
	size_t left_out; /* items */
};

static void hand_on(struct funclist *list)
{
	fflush(list->text);
	fwrite(list->bytes, 1, list->len, list->out);
	budget_take(&list->budget, list->len);
	rewind(list->text);
}

static bool is_too_long(struct funclist *list)
{
	list->left_out += !list->budget.left;
	return !list->budget.left;
}

static int by_function_name(const void *a, const void *b, void *ctx)
{
	const struct selection *sel = ctx;

	return strcmp(sel->rows[*(const uint32_t *)a].name, sel->rows[*(const uint32_t *)b].name);
}

/* counting sort: items of a row stand together, in the order of their addresses */
static void group_items(struct funclist *list)
{
	const struct selection *sel = list->sel;

	list->first = mem_zalloc(sel->row_count + 2, sizeof(*list->first));
	list->items = mem_zalloc(sel->item_count, sizeof(*list->items));
	for (size_t i = 0; i < sel->item_count; i++)
		list->first[sel->items[i].row + 2]++;
	for (size_t i = 2; i < sel->row_count + 2; i++)
		list->first[i] += list->first[i - 1];
	for (size_t i = 0; i < sel->item_count; i++)
		list->items[list->first[sel->items[i].row + 1]++] = i;
}

static void forget_program(struct funclist *list)
{
	funclist_types_free(list->types);
	gostack_symbols_free(list->syms);
}

static struct funclist_types *types_of(struct funclist *list, const struct program *prog)
{
	if (list->types && funclist_types_program(list->types) == prog)
		return list->types;
	forget_program(list);
	list->types = funclist_types_new(prog, selection_finder(list->sel, prog));
	list->syms = gostack_symbols_new(prog->img, prog->tab);
	return list->types;
}

static struct gostack_place copy_place(struct funclist *list, const struct selection_item *item)
{
	types_of(list, item->prog);
	return funclist_copy_place(list->syms, item);
}

static uint64_t offset_of(const struct selection_item *item, uint64_t addr)
{
	uint64_t off = 0;

	image_addr_to_off(item->prog->img, addr, &off);
	return off;
}

static void print_source_line(FILE *out, const char *file, int line)
{
	fputs(", ", out);
	escape_print(out, file);
	fprintf(out, ":%d", line);
}

/* What a function jumps to that leaves by a jump. */
static void print_target(FILE *out, const struct selection_item *item, const struct site *site)
{
	struct functab_func fn;

	if (site->target && functab_find(item->prog->tab, site->target, &fn)) {
		fputs(": ", out);
		escape_print(out, fn.name);
		fputs(" returns for it", out);
	} else {
		fputs(": to where its register points then", out);
	}
}

static void print_site(FILE *out, const char *label, const struct selection_item *item,
		       const struct site *site)
{
	fprintf(out, "    %-8s 0x%" PRIx64 " file offset 0x%" PRIx64 ", %s, %s", label, site->addr,
		offset_of(item, site->addr), site_kind_name(site->kind),
		site->emulated ? "emulated" : "single-stepped");
	if (site->kind == SITE_TAIL_JUMP)
		print_target(out, item, site);
	fputc('\n', out);
}

static void print_sites(FILE *out, const struct selection *sel, const struct selection_item *item)
{
	if (item->sites.entry.addr)
		print_site(out, "entry", item, &item->sites.entry);
	for (size_t i = 0; i < item->sites.exits; i++)
		print_site(out, item->is_copy ? "exit" : "return", item,
			   &selection_exits(sel, item)[i]);
	if (item->skipped)
		fprintf(out, "    %-8s %s\n", item->sites.entry.addr ? "no end" : "no probe",
			item->skipped);
}

static void print_copy(FILE *out, struct funclist *list, const struct selection_item *item,
		       const struct functab_func *fn)
{
	struct gostack_place place = copy_place(list, item);
	uint64_t addr = item->copy.addr;
	struct site at;

	fprintf(out, "    %-8s 0x%" PRIx64 " file offset 0x%" PRIx64 ", in ", "inlined", addr,
		offset_of(item, addr));
	escape_print(out, fn->name);
	if (place.lines[0].file)
		print_source_line(out, place.lines[0].file, place.lines[0].line);
	fputc('\n', out);
	funclist_copy_print(out, list->types, &place, item, &at);
	if (at.addr && at.addr != item->sites.entry.addr)
		print_site(out, "args at", item, &at);
}

static void print_func(FILE *out, struct funclist *list, const struct selection_item *item,
		       const struct functab_func *fn)
{
	const char *file;
	int line;

	fprintf(out, "    %-8s 0x%" PRIx64 " file offset 0x%" PRIx64 ", %" PRIu64 " bytes", "at",
		fn->addr, offset_of(item, fn->addr), fn->end - fn->addr);
	if (functab_line(item->prog->tab, fn, fn->addr, &file, &line))
		print_source_line(out, file, line);
	fputc('\n', out);
	funclist_types_print(out, types_of(list, item->prog), fn);
}

static void print_item(FILE *out, struct funclist *list, const struct selection_item *item)
{
	struct functab_func fn;

	if (!functab_func(item->prog->tab, item->func, &fn))
		return;
	(item->is_copy ? print_copy : print_func)(out, list, item, &fn);
	print_sites(out, list->sel, item);
}

static void json_site(struct json *json, const struct selection_item *item, const struct site *site)
{
	json_object(json);
	json_member_u64(json, "addr", site->addr);
	json_member_u64(json, "off", offset_of(item, site->addr));
	json_member_string(json, "kind", site_kind_name(site->kind));
	json_member_bool(json, "emulated", site->emulated);
	json_object_end(json);
}

static void json_place(struct json *json, const struct selection_item *item, uint64_t addr)
{
	json_member_u64(json, "addr", addr);
	json_member_u64(json, "off", offset_of(item, addr));
}

static void json_line(struct json *json, const char *file, int line)
{
	json_member_string(json, "file", file);
	json_member_i64(json, "line", line);
}

static void json_site_or_null(struct json *json, const char *key, const struct selection_item *item,
			      const struct site *site)
{
	json_key(json, key);
	if (site->addr)
		json_site(json, item, site);
	else
		json_null(json);
}

static void json_copy(struct json *json, struct funclist *list, const struct selection_item *item,
		      const struct functab_func *fn)
{
	struct gostack_place place = copy_place(list, item);
	struct site at;

	json_member_string(json, "in", fn->name);
	json_place(json, item, item->copy.addr);
	if (place.lines[0].file)
		json_line(json, place.lines[0].file, place.lines[0].line);
	funclist_copy_json(json, list->types, &place, item, &at);
	json_site_or_null(json, "args_at", item, &at);
}

static void json_func(struct json *json, struct funclist *list, const struct selection_item *item,
		      const struct functab_func *fn)
{
	const char *file;
	int line;

	json_member_u64(json, "size", fn->end - fn->addr);
	json_place(json, item, fn->addr);
	if (functab_line(item->prog->tab, fn, fn->addr, &file, &line))
		json_line(json, file, line);
	funclist_types_json(json, types_of(list, item->prog), fn);
}

static void json_item(struct json *json, struct funclist *list, const struct selection_item *item)
{
	struct functab_func fn;

	if (!functab_func(item->prog->tab, item->func, &fn))
		return;
	json_object(json);
	(item->is_copy ? json_copy : json_func)(json, list, item, &fn);
	json_site_or_null(json, "entry", item, &item->sites.entry);
	json_key(json, item->is_copy ? "exits" : "returns");
	json_array(json);
	for (size_t i = 0; i < item->sites.exits; i++)
		json_site(json, item, &selection_exits(list->sel, item)[i]);
	json_array_end(json);
	json_member_string(json, "reason", item->skipped);
	json_object_end(json);
}

static void json_items(struct json *json, struct funclist *list, uint32_t row, bool copies)
{
	json_key(json, copies ? "inlined" : "functions");
	json_array(json);
	for (uint32_t i = list->first[row]; i < list->first[row + 1]; i++) {
		const struct selection_item *item = &list->sel->items[list->items[i]];

		if (item->is_copy != copies || is_too_long(list))
			continue;
		json_item(json, list, item);
		hand_on(list);
	}
	json_array_end(json);
}

static void json_row(struct funclist *list, uint32_t row)
{
	struct json json;

	json_init(&json, list->text);
	json_object(&json);
	json_member_string(&json, "type", "func");
	json_member_string(&json, "func", list->sel->rows[row].name);
	json_items(&json, list, row, false);
	json_items(&json, list, row, true);
	json_object_end(&json);
}

static void print_function(struct funclist *list, uint32_t row, enum funclist_style style)
{
	const struct selection *sel = list->sel;

	if (style == FUNCLIST_JSON) {
		json_row(list, row);
		hand_on(list);
		return;
	}
	escape_print(list->text, sel->rows[row].name);
	fputc('\n', list->text);
	for (uint32_t i = list->first[row]; style == FUNCLIST_DETAILS && i < list->first[row + 1];
	     i++) {
		if (is_too_long(list))
			continue;
		print_item(list->text, list, &sel->items[list->items[i]]);
		hand_on(list);
	}
}

static bool has_function(const struct funclist *list, uint32_t row)
{
	for (uint32_t i = list->first[row]; i < list->first[row + 1]; i++)
		if (!list->sel->items[list->items[i]].is_copy)
			return true;
	return false;
}

static void print_rows(struct funclist *list, enum funclist_style style, bool functions_only)
{
	size_t count = list->sel->row_count;

	for (size_t i = 0; i < count; i++)
		if (!functions_only || has_function(list, list->rows[i]))
			print_function(list, list->rows[i], style);
	hand_on(list);
}

/* All items are of one program. */
static uint64_t size_of_file(const struct selection *sel)
{
	return sel->item_count ? functab_file_size(sel->items[0].prog->tab) : 0;
}

size_t funclist_print(FILE *out, const struct selection *sel, enum funclist_style style,
		      bool functions_only)
{
	struct funclist list = {
		.sel = sel, .out = out, .budget = budget_new(size_of_file(sel), BUDGET_TEXT)};

	list.text = open_memstream(&list.bytes, &list.len);
	if (!list.text)
		return sel->item_count;
	group_items(&list);
	list.rows = mem_zalloc(sel->row_count, sizeof(*list.rows));
	for (uint32_t i = 0; i < sel->row_count; i++)
		list.rows[i] = i;
	qsort_r(list.rows, sel->row_count, sizeof(*list.rows), by_function_name, (void *)sel);
	print_rows(&list, style, functions_only);
	forget_program(&list);
	fclose(list.text);
	free(list.bytes);
	free(list.rows);
	free(list.items);
	free(list.first);
	return list.left_out;
}
