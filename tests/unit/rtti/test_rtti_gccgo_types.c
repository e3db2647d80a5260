// SPDX-License-Identifier: Apache-2.0
/* Types from the descriptors of a gccgo program, and of the library that it refers to. */
#include <string.h>

#include "elf/dynlink.h"
#include "elffile.h"
#include "golang/gokind.h"
#include "program/functab_internal.h"
#include "rtti/rtti.h"
#include "typedump.h"
#include "unit.h"

enum {
	SYMBOLS = ELFFILE_RODATA,
	NAMES = ELFFILE_RODATA + 0x800,
	STEP = 0x100,
	EXTRA = 0xa0,
	PATH = 0xe0,
	LISTS = ELFFILE_DATA + 0x1800
};
#define AT(n) (ELFFILE_DATA + (uint64_t)(n)*STEP)

enum { T, POINTER, SLICE, ARRAY, MAP, CHAN, INTERFACE, FUNC, INT, COPIED, EMPTY, COUNT };
enum { LIBRARY_INT = 2, LIBRARY_STRING = 5 };

struct file {
	struct elffile *f;
	Elf64_Shdr *table, *names;
	unsigned symbols, name_bytes;
};

static void add_symbol(struct file *file, const char *name, unsigned type, uint64_t addr)
{
	const Elf64_Sym sym = {.st_name = file->name_bytes,
			       .st_info = type,
			       .st_shndx = 1,
			       .st_value = addr,
			       .st_size = 0x10};

	elffile_bytes(file->f, SYMBOLS + file->symbols++ * sizeof(sym), &sym, sizeof(sym));
	elffile_bytes(file->f, NAMES + file->name_bytes, name, strlen(name) + 1);
	file->name_bytes += strlen(name) + 1;
	file->table->sh_size = file->symbols * sizeof(sym);
	file->names->sh_size = file->name_bytes;
}

static struct file new_file(void)
{
	struct file file = {.f = elffile_new(EM_X86_64)};

	file.table = elffile_section(file.f, ".symtab", SYMBOLS, 0);
	file.table->sh_type = SHT_SYMTAB;
	file.table->sh_entsize = sizeof(Elf64_Sym);
	file.table->sh_link = file.f->nsections;
	file.names = elffile_section(file.f, ".strtab", NAMES, 0);
	file.names->sh_type = SHT_STRTAB;
	add_symbol(&file, "", 0, 0);
	add_symbol(&file, "__go_init_main", STT_FUNC, ELFFILE_TEXT);
	return file;
}

/* a Go string and the text after it; its address */
static uint64_t put_string(struct elffile *f, uint64_t at, const char *text)
{
	elffile_u64(f, at, at + 16);
	elffile_u64(f, at + 8, strlen(text));
	elffile_bytes(f, at + 16, text, strlen(text));
	return at;
}

static void put(struct elffile *f, unsigned n, const char *name, uint64_t size, unsigned align,
		unsigned kind)
{
	elffile_u64(f, AT(n), size);
	*elffile_at(f, AT(n) + 21) = align;
	*elffile_at(f, AT(n) + 23) = kind;
	elffile_u64(f, AT(n) + 40, put_string(f, AT(n) + 0x60, name));
}

/* ... a type with a name of its own, declared in a package */
static void declare(struct elffile *f, unsigned n, const char *path)
{
	elffile_u64(f, AT(n) + 48, AT(n) + EXTRA);
	elffile_u64(f, AT(n) + EXTRA, put_string(f, AT(n) + 0x60 + 0x18, "N"));
	elffile_u64(f, AT(n) + EXTRA + 8, path ? put_string(f, AT(n) + PATH, path) : 0);
}

static void word(struct elffile *f, unsigned n, unsigned off, uint64_t value)
{
	elffile_u64(f, AT(n) + off, value);
}

static uint64_t put_field(struct elffile *f, uint64_t at, const char *name, uint64_t type,
			  uint64_t off, bool embedded)
{
	elffile_u64(f, at, put_string(f, at + 0x200, name));
	elffile_u64(f, at + 16, type);
	elffile_u64(f, at + 32, off << 1 | embedded);
	return at + 40;
}

static void put_types(struct elffile *f)
{
	uint64_t at = LISTS;

	put(f, T, "main.T", 40, 8, GOKIND_STRUCT);
	declare(f, T, "main");
	word(f, T, 56, AT(POINTER));
	word(f, T, 64, LISTS);
	word(f, T, 72, 4);
	at = put_field(f, at, "A", AT(INT), 0, false);
	at = put_field(f, at, "T", AT(POINTER), 8, true);
	at = put_field(f, at, "s", 0, 16, false); /* the linker fills it in */
	put_field(f, at, "c", AT(COPIED), 32, false);
	put(f, POINTER, "*main.T", 8, 8, GOKIND_POINTER | 0x20);
	word(f, POINTER, 64, AT(T));
	put(f, SLICE, "[]main.T", 24, 8, GOKIND_SLICE);
	word(f, SLICE, 64, AT(T));
	put(f, ARRAY, "[2]main.T", 80, 8, GOKIND_ARRAY);
	word(f, ARRAY, 64, AT(T));
	word(f, ARRAY, 80, 2);
	put(f, MAP, "map[int]\tm/n\tn.X", 8, 8, GOKIND_MAP | 0x20);
	word(f, MAP, 64, AT(INT));
	word(f, MAP, 72, AT(SLICE));
	put(f, CHAN, "chan main.T", 8, 8, GOKIND_CHAN | 0x20);
	word(f, CHAN, 64, AT(T));
	put(f, INTERFACE, "main.I", 16, 8, GOKIND_INTERFACE);
	declare(f, INTERFACE, "main");
	word(f, INTERFACE, 64, LISTS);
	word(f, INTERFACE, 72, 1);
	put(f, EMPTY, "interface {}", 16, 8, GOKIND_INTERFACE);
	put(f, FUNC, "func()", 8, 8, GOKIND_FUNC | 0x20);
	put(f, INT, "main.D", 8, 8, GOKIND_INT);
	declare(f, INT, NULL);
}

/* --- what the dynamic linker is to do --- */

static const struct dynlink_reloc relocs[] = {
	{LISTS + 2 * 40 + 16, R_X86_64_64, -16, {"string..d", 0, 8, false}},
	{AT(COPIED), R_X86_64_COPY, 0, {"int..d", 0, 64, true}},
	{AT(COUNT), R_X86_64_64, 0, {"string..d", 0, 8, true}},
	{AT(COUNT) + 8, R_X86_64_GLOB_DAT, 0, {"string..d", 0, 8, false}},
	{AT(COUNT) + 16, R_X86_64_64, 0, {"none..d", 0, 8, false}},
};

void dynlink_each(const struct image *img, bool (*fn)(const struct dynlink_reloc *, void *ctx),
		  void *ctx)
{
	(void)img;
	for (size_t i = 0; i < sizeof(relocs) / sizeof(*relocs); i++)
		if (!fn(&relocs[i], ctx))
			return;
}

static struct file make_library(void)
{
	struct file file = new_file();

	put(file.f, LIBRARY_INT, "int", 8, 8, GOKIND_INT);
	put(file.f, LIBRARY_STRING, "string", 16, 8, GOKIND_STRING);
	add_symbol(&file, "string..d", STT_FUNC, AT(9));
	add_symbol(&file, "int..d", STT_OBJECT, AT(LIBRARY_INT));
	add_symbol(&file, "string..d", STT_OBJECT, AT(LIBRARY_STRING) + 16);
	add_symbol(&file, "other..d", STT_OBJECT, AT(9));
	return file;
}

static struct file make_program(void)
{
	static const char *const names[COUNT] = {
		"main.T..d", NULL,         "type..6_7_8main_0T", "type..6_72x_8main_0T",
		"type..map", "type..chan", "main.I..d",          "type..func",
		NULL,        NULL,         "type..any"};
	struct file file = new_file();

	put_types(file.f);
	for (unsigned i = 0; i < COUNT; i++)
		if (names[i])
			add_symbol(&file, names[i], STT_OBJECT, AT(i));
	add_symbol(&file, "main.x", STT_OBJECT, AT(INT));
	return file;
}

struct opened {
	struct file program, library;
	struct image *img, *library_img;
	struct functab *tab;
	struct gotypes *types;
	struct rtti *rtti;
	struct typedump dump;
};

static void open_it(struct opened *o, bool linked)
{
	struct errmsg err = {0};

	*o = (struct opened){.program = make_program(), .library = make_library()};
	o->img = elffile_open(o->program.f, &err);
	o->library_img = elffile_open(o->library.f, &err);
	o->tab = o->img ? functab_open(o->img, &err) : NULL;
	o->types = gotypes_new();
	o->rtti = o->tab ? rtti_open(o->img, o->tab, 18, o->types, &err) : NULL;
	if (!o->rtti || !o->library_img)
		fail_msg("%s", err.text);
	if (linked)
		rtti_link(o->rtti, o->library_img);
}

static void close_it(struct opened *o)
{
	rtti_close(o->rtti);
	gotypes_free(o->types);
	functab_close(o->tab);
	image_close(o->img);
	image_close(o->library_img);
	elffile_free(o->program.f);
	elffile_free(o->library.f);
}

static bool add(const struct gotype *type, void *ctx)
{
	struct opened *o = ctx;

	typedump_number(&o->dump, type);
	return true;
}

static void test_linked(void **state)
{
	struct opened o;

	(void)state;
	open_it(&o, true);
	rtti_each(o.rtti, add, &o);
	typedump_types(&o.dump);
	for (unsigned i = 0; i <= COUNT; i++)
		typedump_text(&o.dump, "%s%d", i ? " " : "", rtti_is_direct(o.rtti, AT(i)));
	typedump_text(&o.dump, "\n%s %s\n", rtti_named(o.rtti, "main.T")->name,
		      rtti_named(o.rtti, "string")->name);
	assert_null(rtti_named(o.rtti, "main.U"));
	typedump_expect(&o.dump, "1 struct main.T 40/8 defined at 404000 {A@0 9, T@8 10 embedded, "
				 "s@16 11, c@32 12}\n"
				 "2 slice []main.T 24/8 at 404200 of 1\n"
				 "3 array [2]main.T 80/8 at 404300 times 2 of 1\n"
				 "4 map map[int]n.X 8/8 at 404400 key 9 of 2\n"
				 "5 chan chan main.T 8/8 at 404500 of 1\n"
				 "6 interface main.I 16/8 defined methods at 404600\n"
				 "7 func func() 8/8 at 404700\n"
				 "8 interface interface {} 16/8 at 404a00\n"
				 "9 int main.D 8/8 defined at 404800\n"
				 "10 pointer *main.T 8/8 at 404100 of 1\n"
				 "11 string string 16/8 at 400000404500\n"
				 "12 int int 8/8 at 404900\n"
				 "0 1 0 0 1 1 0 1 0 0 0 0\n"
				 "main.T string\n");
	close_it(&o);
}

static void test_alone(void **state)
{
	struct opened o;

	(void)state;
	open_it(&o, false);
	rtti_each(o.rtti, add, &o);
	typedump_expect(&o.dump, "1 struct main.T 40/8 defined at 404000 {A@0 9, T@8 10 embedded, "
				 "s@16 11, c@32 11}\n"
				 "2 slice []main.T 24/8 at 404200 of 1\n"
				 "3 array [2]main.T 80/8 at 404300 times 2 of 1\n"
				 "4 map map[int]n.X 8/8 at 404400 key 9 of 2\n"
				 "5 chan chan main.T 8/8 at 404500 of 1\n"
				 "6 interface main.I 16/8 defined methods at 404600\n"
				 "7 func func() 8/8 at 404700\n"
				 "8 interface interface {} 16/8 at 404a00\n"
				 "9 int main.D 8/8 defined at 404800\n"
				 "10 pointer *main.T 8/8 at 404100 of 1\n"
				 "11 unknown ? 0/1\n");
	close_it(&o);
}

/* What tells a type is the same in the library and in the program that has a copy. */
static void test_keys(void **state)
{
	struct opened o;
	uint64_t keys[COUNT + 1];

	(void)state;
	open_it(&o, true);
	for (unsigned i = 0; i <= COUNT; i++) {
		keys[i] = rtti_key(o.rtti, AT(i));
		typedump_text(&o.dump, "%lx\n", keys[i]);
	}
	for (unsigned i = 0; i < COUNT; i++)
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(keys[i], keys[k]);
	typedump_expect(&o.dump, "beb1e5d39756\n"
				 "6558112968a1\n"
				 "f21e641cee70\n"
				 "ae1ba04e2213\n"
				 "ef2358150644\n"
				 "c5b48204aff0\n"
				 "f04d78f831e0\n"
				 "82ce7698c498\n"
				 "7f6b8015cc26\n"
				 "14b890b428f1\n"
				 "ffbc6fa42cb1\n"
				 "0\n");
	close_it(&o);
}

static void test_last(void **state)
{
	static const struct {
		const char *last;
		enum gotype_kind kind;
		uint64_t size;
	} rows[] = {{"T", GOTYPE_STRUCT, 40},
		    {"T", GOTYPE_STRUCT, UINT64_MAX},
		    {"T", GOTYPE_STRUCT, 48},
		    {"T", GOTYPE_INT, 40},
		    {"D", GOTYPE_INT, 8},
		    {"I", GOTYPE_INTERFACE, 16},
		    {"int", GOTYPE_INT, UINT64_MAX},
		    {"", GOTYPE_INT, 8}};
	struct opened o;

	(void)state;
	open_it(&o, true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool several = false;
		const char *name =
			rtti_last(o.rtti, rows[i].last, rows[i].kind, rows[i].size, &several);

		typedump_text(&o.dump, "%s: %s%s\n", rows[i].last, name ? name : "-",
			      several ? " several" : "");
	}
	typedump_expect(&o.dump, "T: main.T\n"
				 "T: main.T\n"
				 "T: -\n"
				 "T: -\n"
				 "D: main.D\n"
				 "I: main.I\n"
				 "int: -\n"
				 ": -\n");
	close_it(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_linked),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
