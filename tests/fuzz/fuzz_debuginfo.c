// SPDX-License-Identifier: Apache-2.0
/* Arbitrary bytes as a program with DWARF: opening it, the signature of each function and types by
 * name must neither crash nor hang, and what comes out must hold together. */
#include <string.h>

#include "arguments/copyinfo_located_internal.h"
#include "dwarf/debuginfo.h"
#include "dwarffile.h"
#include "fuzz.h"
#include "golang/gofunc.h"
#include "program/program.h"
#include "sites/inlining.h"
#include "sites/site.h"
#include "program/functab_internal.h"

enum { MAX_FUNCTIONS = 200, MAX_DEPTH = 100 };

/* Values lie within each other: following only these comes to an end. */
static void check_type(const struct gotype *type, unsigned depth)
{
	volatile size_t len = strlen(type->name);

	(void)len;
	if (depth > MAX_DEPTH || type->size > GOTYPE_SIZE_MAX || !type->align)
		abort();
	if (type->kind == GOTYPE_ARRAY) {
		if (type->elem->size && type->size / type->elem->size != type->count)
			abort();
		check_type(type->elem, depth + 1);
	}
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (field->off > type->size || field->type->size > type->size - field->off)
			abort();
		check_type(field->type, depth + 1);
	}
}

static void check_params(const struct goparam *params, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		volatile size_t len = strlen(params[i].name);

		(void)len;
		check_type(params[i].type, 0);
	}
}

static void check_functions(struct debuginfo *dbg, const struct functab *tab)
{
	struct functab_func fn;
	struct gofunc sig;

	for (size_t i = 0; i < functab_count(tab) && i < MAX_FUNCTIONS; i++) {
		if (!functab_func(tab, i, &fn) || debuginfo_func(dbg, fn.addr, fn.name, &sig) != 0)
			continue;
		if (sig.dictionary > (int)sig.param_count)
			abort();
		check_params(sig.params, sig.param_count);
		check_params(sig.results, sig.result_count);
	}
}

struct copies {
	struct debuginfo *dbg;
	const struct functab *tab;
	struct site_finder *finder;
	unsigned left;
};

/* The places of a copy's arguments lie within their types. */
static bool check_copy(const struct inlining_copy *copy, void *ctx)
{
	struct copies *copies = ctx;
	struct debuginfo_variable *vars;
	struct functab_func fn;
	struct abi_layout layout;
	struct gofunc sig;
	unsigned steps = 10000;

	if (!copies->left-- || !functab_func(copies->tab, copy->func, &fn))
		return false;
	if (debuginfo_inlined(copies->dbg, fn.addr, copy->name, copy->addr, &sig, &vars))
		return true;
	check_params(sig.params, sig.param_count);
	copyinfo_located(&(struct copyinfo_vars){copies->finder, &fn, copy, &sig, vars, &steps},
			 copy->addr, &layout);
	for (size_t i = 0; i < layout.param_count; i++)
		for (size_t p = 0; p < layout.params[i].count; p++)
			if (layout.params[i].pieces[p].off + layout.params[i].pieces[p].size >
			    sig.params[i].type->size)
				abort();
	abi_layout_free(&layout);
	return true;
}

static void check_copies(struct debuginfo *dbg, const struct image *img, const struct functab *tab)
{
	struct copies copies = {dbg, tab,
				site_finder_new(&(struct program){.img = (struct image *)img,
								  .tab = (struct functab *)tab}),
				MAX_FUNCTIONS};

	inlining_each(tab, check_copy, &copies);
	site_finder_free(copies.finder);
}

static void check_types(struct debuginfo *dbg)
{
	static const char *const names[] = {"main.T", "*main.T", "int", "string", "nothing.Such"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct gotype *type = debuginfo_type(dbg, names[i]);

		if (type)
			check_type(type, 0);
	}
}

static void check_image(const struct image *img)
{
	struct functab *tab = functab_open(img, NULL);
	int release = tab ? functab_release_guess(tab) : 15;
	struct gotypes *types = gotypes_new();
	struct debuginfo *dbg = debuginfo_open(img, tab, release, types, NULL);

	if (dbg)
		check_types(dbg);
	if (dbg && tab)
		check_functions(dbg, tab);
	if (dbg && tab)
		check_copies(dbg, img, tab);
	debuginfo_close(dbg);
	gotypes_free(types);
	functab_close(tab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_image_file(data, size, check_image);
}

/* --- seeds --- */

static void put_types(struct dwarffile *d, uint32_t *integer, uint32_t *text)
{
	*integer = dwarffile_base(d, "int", 8, DWARFFILE_INT);
	*text = dwarffile_base(d, "string", 16, DWARFFILE_STRING);

	uint32_t named = dwarffile_typedef(d, "main.T", 0);
	uint32_t pointer = dwarffile_pointer(d, "*main.T", named);
	uint32_t array = dwarffile_array(d, "[2]int", *integer, 16, 2);
	uint32_t body = dwarffile_struct(d, "main.T", 48);

	dwarffile_field(d, "next", pointer, 0);
	dwarffile_field(d, "name", *text, 8);
	dwarffile_field(d, "a/b.pair", array, 24);
	dwarffile_field(d, "last", *integer, 40);
	dwarffile_close(d);
	dwarffile_patch(d, named, "main.T", body);
}

/* A function that is inlined into main.b, and the copy of gofile.h */
static uint32_t put_abstract(struct dwarffile *d, uint32_t integer, uint32_t text, uint32_t *s)
{
	uint32_t off = dwarffile_abstract(d, "main.inl1");

	dwarffile_param(d, "x", integer, false);
	*s = d->used;
	dwarffile_param(d, "s", text, false);
	dwarffile_close(d);
	return off;
}

static void put_copy(struct dwarffile *d, uint32_t origin, uint32_t s)
{
	static const char code[] = "\x48\x8b\x03\x90\x48\x89\x01\x48\x8b\x5c\x24\x08\x75\xf6";
	static const char ops[] = "\x50\x93\x08\x91\x70\x93\x08";
	uint64_t b = d->g.starts[1];

	elffile_bytes(d->g.f, b, code, sizeof(code) - 1);
	dwarffile_copy(d, origin, b + 4, b + 44);
	dwarffile_copy_param(d, s, b + 3, b + 12, ops, sizeof(ops) - 1);
	dwarffile_close(d);
}

uint8_t *fuzz_seed(unsigned index, size_t *size)
{
	static const char *const names[] = {"main.a", "main.b", "main.T.M"};
	static const int releases[] = {15, 19, 23, 27};
	uint32_t integer, text, origin, s;
	struct dwarffile d;
	uint8_t *data;

	if (index >= 8)
		return NULL;
	dwarffile_make(&d, releases[index % 4]);
	dwarffile_begin(&d, "runtime", "runtime");
	put_types(&d, &integer, &text);
	origin = put_abstract(&d, integer, text, &s);
	for (unsigned i = 0; i < 3; i++) {
		dwarffile_func(&d, names[i], d.g.starts[i]);
		if (index < 4)
			dwarffile_param_at(&d, "n", integer, 8);
		dwarffile_param(&d, "err", text, true);
		if (i == 1)
			put_copy(&d, origin, s);
		dwarffile_close(&d);
	}
	dwarffile_end(&d);
	data = malloc(d.g.f->size);
	memcpy(data, d.g.f->data, d.g.f->size);
	*size = d.g.f->size;
	elffile_free(d.g.f);
	return data;
}
