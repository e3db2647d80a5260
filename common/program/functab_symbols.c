// SPDX-License-Identifier: Apache-2.0
#include "program/functab_symbols_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "elf/image.h"
#include "golang/gccgoname.h"
#include "program/functab.h"
#include "program/typedesc_gccgo_internal.h"

struct function {
	uint64_t addr, end;
	char *name; /* as Go has it */
	bool is_wrapper, is_clone;
};

struct functab_symbols {
	const struct image *img;
	/* while the table is made: functions of any language, and types' descriptors, by name */
	struct image_symbol *all, *types;
	size_t all_count, all_cap, type_count, type_cap;
	struct function *items; /* those of Go, by address, without overlap */
	size_t count, cap;
	bool is_gccgo;
	struct budget names;
	size_t left_out;
};

/* --- symbols --- */

/* Functions by which a gccgo program, and libgo.so, are known. */
static bool is_mark(const char *name)
{
	return strcmp(name, "__go_init_main") == 0 || strcmp(name, "runtime.deferproc") == 0;
}

static bool is_descriptor(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && strcmp(name + len - 3, "..d") == 0;
}

static bool keep_symbol(const struct image_symbol *sym, void *ctx)
{
	struct functab_symbols *syms = ctx;

	if (!budget_take_name(&syms->names, sym->name)) {
		syms->left_out++;
		return true;
	}
	if (!sym->is_func && is_descriptor(sym->name)) {
		syms->types = mem_grow(syms->types, syms->type_count, &syms->type_cap,
				       sizeof(*syms->types));
		syms->types[syms->type_count++] = *sym;
	}
	if (!sym->is_func || !sym->size || !image_is_text(syms->img, sym->addr))
		return true;
	syms->is_gccgo |= is_mark(sym->name);
	syms->all = mem_grow(syms->all, syms->all_count, &syms->all_cap, sizeof(*syms->all));
	syms->all[syms->all_count++] = *sym;
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct image_symbol *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Symbols may lie: cuts each where the next one begins, or its segment ends. */
static void cut_symbols(struct functab_symbols *syms)
{
	uint64_t next = UINT64_MAX, start = UINT64_MAX;

	qsort(syms->all, syms->all_count, sizeof(*syms->all), by_start);
	for (size_t i = syms->all_count; i-- > 0;) {
		struct image_symbol *sym = &syms->all[i];
		uint64_t room = image_left(syms->img, sym->addr);

		if (sym->addr != start)
			next = start;
		start = sym->addr;
		if (room > next - start)
			room = next - start;
		if (sym->size > room)
			sym->size = room;
	}
}

static int by_symbol_name(const void *a, const void *b)
{
	const struct image_symbol *x = a, *y = b;

	return strcmp(x->name, y->name);
}

struct prefix {
	const char *text;
	size_t len;
};

static int compare_prefix(const void *key, const void *item)
{
	const struct prefix *prefix = key;
	const char *name = ((const struct image_symbol *)item)->name;
	int diff = strncmp(prefix->text, name, prefix->len);

	return diff ? diff : -(name[prefix->len] != '\0');
}

/* "main.f.cold" is a part of main.f, and "main.f.localalias" another name for it. If there is no
 * function main.f, though, it is the method `cold` of a type main.f. */
static bool is_part(const struct functab_symbols *syms, const char *name)
{
	const char *dot = strrchr(name, '.');

	if (!dot || (strcmp(dot, ".cold") != 0 && strcmp(dot, ".localalias") != 0))
		return false;

	struct prefix prefix = {name, dot - name};

	return bsearch(&prefix, syms->all, syms->all_count, sizeof(*syms->all), compare_prefix);
}

/* --- functions --- */

/* Is the receiver a pointer? A type's descriptor lists the methods that a value of it has; where
 * there is none, the name stays as its symbol has it. */
static bool has_pointer(const struct functab_symbols *syms, const struct gccgoname *name)
{
	if (!name->type.len || name->kind != GCCGONAME_FUNC)
		return false;

	char *wanted = mem_printf("%.*s.%.*s..d", (int)name->package.len, name->package.text,
				  (int)name->type.len, name->type.text);
	struct image_symbol key = {.name = wanted}, *type = NULL;
	char *method = gccgoname_decode(name->name.text, name->name.len);

	if (syms->type_count)
		type = bsearch(&key, syms->types, syms->type_count, sizeof(*syms->types),
			       by_symbol_name);

	const struct typedesc_module mod = {.img = syms->img, .dialect = &typedesc_gccgo};
	bool pointer = type && !typedesc_gccgo_has_method(&mod, type->addr, method);

	free(wanted);
	free(method);
	return pointer;
}

static void add_function(struct functab_symbols *syms, const struct image_symbol *sym)
{
	struct gccgoname name;

	if (!gccgoname_parse(sym->name, &name) || is_part(syms, sym->name))
		return;
	syms->items = mem_grow(syms->items, syms->count, &syms->cap, sizeof(*syms->items));
	syms->items[syms->count++] = (struct function){
		.addr = sym->addr,
		.end = sym->addr + sym->size,
		.name = gccgoname_text(&name, has_pointer(syms, &name)),
		.is_wrapper = name.kind == GCCGONAME_STUB || name.kind == GCCGONAME_THUNK,
		.is_clone = gccgoname_base(sym->name) != strlen(sym->name),
	};
}

static int by_entry(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Of several names at one address the first one stays. */
static void sort_functions(struct functab_symbols *syms)
{
	size_t kept = 0;

	if (!syms->count)
		return;
	qsort(syms->items, syms->count, sizeof(*syms->items), by_entry);
	for (size_t i = 1; i < syms->count; i++) {
		if (syms->items[i].addr == syms->items[kept].addr)
			free(syms->items[i].name);
		else
			syms->items[++kept] = syms->items[i];
	}
	syms->count = kept + 1;
}

struct functab_symbols *functab_symbols_new(const struct image *img, uint64_t file_size)
{
	struct functab_symbols *syms = mem_zalloc(1, sizeof(*syms));

	syms->img = img;
	syms->names = budget_new(file_size, BUDGET_SYMBOL_NAMES);
	image_each_symbol(img, keep_symbol, syms);
	if (syms->is_gccgo) {
		cut_symbols(syms);
		qsort(syms->all, syms->all_count, sizeof(*syms->all), by_symbol_name);
		if (syms->type_count)
			qsort(syms->types, syms->type_count, sizeof(*syms->types), by_symbol_name);
		for (size_t i = 0; i < syms->all_count; i++)
			add_function(syms, &syms->all[i]);
		sort_functions(syms);
	}
	free(syms->all);
	free(syms->types);
	syms->all = syms->types = NULL;
	if (syms->count && syms->count <= UINT32_MAX)
		return syms;
	functab_symbols_free(syms);
	return NULL;
}

void functab_symbols_free(struct functab_symbols *syms)
{
	if (!syms)
		return;
	for (size_t i = 0; i < syms->count; i++)
		free(syms->items[i].name);
	free(syms->items);
	free(syms);
}

/* --- questions --- */

size_t functab_symbols_left_out(const struct functab_symbols *syms)
{
	return syms->left_out;
}

size_t functab_symbols_count(const struct functab_symbols *syms)
{
	return syms->count;
}

bool functab_symbols_func(const struct functab_symbols *syms, size_t index,
			  struct functab_func *out)
{
	if (index >= syms->count)
		return false;

	const struct function *fn = &syms->items[index];

	*out = (struct functab_func){
		.index = index,
		.name = fn->name,
		.addr = fn->addr,
		.end = fn->end,
		.is_wrapper = fn->is_wrapper,
		.is_clone = fn->is_clone,
	};
	return true;
}

bool functab_symbols_find(const struct functab_symbols *syms, uint64_t addr,
			  struct functab_func *out)
{
	size_t low = 0, high = syms->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (syms->items[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr < syms->items[low - 1].end && functab_symbols_func(syms, low - 1, out);
}
