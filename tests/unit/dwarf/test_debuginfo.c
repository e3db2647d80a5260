// SPDX-License-Identifier: Apache-2.0
#include "dwarffile_open.h"
#include "golang/gofunc.h"
#include "unit.h"

static const struct gotype *named(struct opened *o, const char *name)
{
	const struct gotype *type = debuginfo_type(o->dbg, name);

	if (!type)
		fail_msg("there is no type \"%s\"", name);
	return type;
}

/* --- signatures --- */

/* main.b has 16 bytes of arguments and results */
static void test_signature(void **state)
{
	struct opened o;
	struct gofunc fn;

	(void)state;
	dwarffile_make(&o.d, 23);
	dwarffile_begin(&o.d, "runtime", "runtime");
	uint32_t integer = dwarffile_base(&o.d, "int", 8, DWARFFILE_INT);
	uint32_t text = dwarffile_base(&o.d, "string", 16, DWARFFILE_STRING);

	dwarffile_func(&o.d, "main.b", o.d.g.starts[1]);
	dwarffile_param(&o.d, "n", integer, false);
	dwarffile_param(&o.d, "err", text, true);
	dwarffile_param(&o.d, "err", text, true); /* listed twice */
	dwarffile_param(&o.d, "m", integer, false);
	dwarffile_close(&o.d);
	dwarffile_end(&o.d);
	open_it(&o);
	assert_int_equal(debuginfo_func(o.dbg, o.d.g.starts[1], "main.b", &fn), 0);
	assert_int_equal(fn.param_count, 2);
	assert_string_equal(fn.params[0].name, "n");
	assert_string_equal(fn.params[1].name, "m");
	assert_int_equal(fn.params[1].type->kind, GOTYPE_INT);
	assert_ptr_equal(fn.params[0].type, fn.params[1].type);
	assert_int_equal(fn.result_count, 1);
	assert_string_equal(fn.results[0].name, "err");
	assert_int_equal(fn.dictionary, -1);
	assert_false(fn.receiver);
	assert_int_equal(fn.source, GOFUNC_DEBUGINFO);
	assert_int_equal(debuginfo_func(o.dbg, o.d.g.starts[1] + 1, "main.b", &fn), -1);
	assert_int_equal(debuginfo_func(o.dbg, o.d.g.starts[2], "main.c", &fn), -1);
	assert_int_equal(debuginfo_func(o.dbg, 0, "main.c", &fn), -1);
	assert_int_equal(debuginfo_func(o.dbg, UINT64_MAX, "main.c", &fn), -1);
	close_it(&o);
}

/* What pclntab says of the size of all arguments is not what the parameters make. */
static void test_signature_of_other_size(void **state)
{
	struct opened o;
	struct gofunc fn;

	(void)state;
	dwarffile_make(&o.d, 23);
	dwarffile_begin(&o.d, "main", "main");
	uint32_t integer = dwarffile_base(&o.d, "int", 8, DWARFFILE_INT);

	dwarffile_func(&o.d, "main.b", o.d.g.starts[1]);
	dwarffile_param(&o.d, "n", integer, false);
	dwarffile_close(&o.d);
	dwarffile_end(&o.d);
	open_it(&o);
	assert_int_equal(debuginfo_func(o.dbg, o.d.g.starts[1], "main.b", &fn), -1);
	close_it(&o);
}

static void open_one_param(struct opened *o, const char *name, int off)
{
	dwarffile_make(&o->d, 15);
	dwarffile_begin(&o->d, "runtime", "runtime");
	uint32_t integer = dwarffile_base(&o->d, "int", 8, DWARFFILE_INT);
	uint32_t kind = dwarffile_base(&o->d, "main.T", 8, DWARFFILE_INT);

	(void)kind;
	dwarffile_func(&o->d, name, o->d.g.starts[1]);
	if (off >= 0)
		dwarffile_param_at(&o->d, "n", integer, off);
	else
		dwarffile_param(&o->d, "n", integer, false);
	dwarffile_close(&o->d);
	dwarffile_end(&o->d);
	open_it(o);
}

/* Go 1.15 lists no parameters without a name: there are 16 bytes of them, n is one of two words. */
static void test_blank_on_stack(void **state)
{
	struct opened o;
	struct gofunc fn;

	(void)state;
	for (int off = 0; off <= 8; off += 8) {
		open_one_param(&o, "main.b", off);
		assert_int_equal(debuginfo_func(o.dbg, o.d.g.starts[1], "main.b", &fn), 0);
		assert_int_equal(fn.param_count, 2);
		assert_string_equal(fn.params[off / 8].name, "n");
		assert_string_equal(fn.params[!off].name, "_");
		assert_int_equal(fn.params[!off].type->kind, GOTYPE_UNKNOWN);
		assert_int_equal(fn.params[!off].type->size, 8);
		close_it(&o);
	}
	open_one_param(&o, "main.b", -1); /* nobody knows where it is */
	assert_int_equal(debuginfo_func(o.dbg, o.d.g.starts[1], "main.b", &fn), -1);
	close_it(&o);
}

static void test_blank_receiver(void **state)
{
	struct opened o;
	struct gofunc fn;

	(void)state;
	open_one_param(&o, "main.T.M", 8);
	assert_int_equal(debuginfo_func(o.dbg, o.d.g.starts[1], "main.T.M", &fn), 0);
	assert_true(fn.receiver);
	assert_int_equal(fn.param_count, 2);
	assert_string_equal(fn.params[0].type->name, "main.T");
	close_it(&o);
	open_one_param(&o, "main.(*T).M", 8);
	assert_int_equal(debuginfo_func(o.dbg, o.d.g.starts[1], "main.(*T).M", &fn), 0);
	assert_true(fn.receiver);
	assert_int_equal(fn.params[0].type->kind, GOTYPE_POINTER);
	assert_string_equal(fn.params[0].type->elem->name, "main.T");
	close_it(&o);
}

/* --- types --- */

static void test_struct(void **state)
{
	struct opened o;
	const struct gotype *type;

	(void)state;
	dwarffile_make(&o.d, 23);
	dwarffile_begin(&o.d, "runtime", "runtime");
	uint32_t integer = dwarffile_base(&o.d, "int32", 4, DWARFFILE_INT);
	uint32_t node = dwarffile_typedef(&o.d, "main.node", 0);
	uint32_t pointer = dwarffile_pointer(&o.d, "*main.node", node);
	uint32_t pair = dwarffile_array(&o.d, "[2]int32", integer, 8, 2);
	uint32_t body = dwarffile_struct(&o.d, "main.node", 24);

	dwarffile_field(&o.d, "next", pointer, 0);
	dwarffile_field(&o.d, "pair", pair, 8);
	dwarffile_field(&o.d, "last", integer, 16);
	dwarffile_close(&o.d);
	dwarffile_patch(&o.d, node, "main.node", body);
	dwarffile_end(&o.d);
	open_it(&o);
	type = named(&o, "main.node");
	assert_int_equal(type->kind, GOTYPE_STRUCT);
	assert_true(type->defined);
	assert_int_equal(type->size, 24);
	assert_int_equal(type->align, 8);
	assert_int_equal(type->field_count, 3);
	assert_ptr_equal(type->fields[0].type->elem, type);
	assert_int_equal(type->fields[1].off, 8);
	assert_int_equal(type->fields[1].type->kind, GOTYPE_ARRAY);
	assert_int_equal(type->fields[1].type->count, 2);
	assert_int_equal(type->fields[1].type->align, 4);
	assert_ptr_equal(type->fields[1].type->elem, type->fields[2].type);
	assert_ptr_equal(named(&o, "*main.node"), type->fields[0].type);
	assert_null(debuginfo_type(o.dbg, "main.nod"));
	assert_null(debuginfo_type(o.dbg, ""));
	close_it(&o);
}

/* Types that cannot be: unknown, with a size that cannot surprise. */
static void test_impossible_types(void **state)
{
	static const char *const names[] = {"m.Itself", "m.Past", "m.Odd", "[4]m.Short",
					    "[9]m.Max"};
	struct opened o;

	(void)state;
	dwarffile_make(&o.d, 23);
	dwarffile_begin(&o.d, "runtime", "runtime");
	uint32_t integer = dwarffile_base(&o.d, "int64", 8, DWARFFILE_INT);
	uint32_t self = dwarffile_typedef(&o.d, "m.Itself", 0);
	uint32_t body = dwarffile_struct(&o.d, "m.Itself", 8);

	dwarffile_field(&o.d, "self", self, 0);
	dwarffile_close(&o.d);
	dwarffile_patch(&o.d, self, "m.Itself", body);
	dwarffile_struct(&o.d, "m.Past", 8);
	dwarffile_field(&o.d, "x", integer, 4);
	dwarffile_close(&o.d);
	dwarffile_base(&o.d, "m.Odd", 3, DWARFFILE_INT);
	dwarffile_array(&o.d, "[4]m.Short", integer, 8, 4);
	dwarffile_array(&o.d, "[9]m.Max", integer, 8, UINT64_MAX / 8 + 2);
	uint32_t loop = dwarffile_typedef(&o.d, "m.Loop", 0);

	dwarffile_patch(&o.d, loop, "m.Loop", loop);
	dwarffile_typedef(&o.d, "m.Away", 0xffffff);
	dwarffile_end(&o.d);
	open_it(&o);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (debuginfo_type(o.dbg, names[i]))
			fail_msg("%s is a type", names[i]);
	assert_null(debuginfo_type(o.dbg, "m.Loop"));
	assert_null(debuginfo_type(o.dbg, "m.Away"));
	close_it(&o);
}

static void test_names(void **state)
{
	static const char *const names[][2] = {
		{"int", "int"},
		{"main.T", "main.T"},
		{"net/http.Request", "http.Request"},
		{"*net/http.Request", "*http.Request"},
		{"map[string]*net/http.Request", "map[string]*http.Request"},
		{"func(...net/http.Header) <-chan a/b.T", "func(...http.Header) <-chan b.T"},
		{"[]chan<- a/b.T", "[]chan<- b.T"},
		{"main.Pair[net/http.Request,int]", "main.Pair[net/http.Request,int]"},
		{"a/b.Box[c/d.T].x", "b.Box[c/d.T].x"},
		{"gopkg.in/yaml%2ev2.Node", "yaml.Node"},
		{"[2]github.com/x/redis/v8.Client", "[2]redis.Client"},
		{"example.org/go-tool.T", "tool.T"}, /* its unit says so */
		{"struct { main.a int; B a/b.T \"json:\\\"c/d.e\\\"\" }",
		 "struct { a int; B b.T \"json:\\\"c/d.e\\\"\" }"},
		{"struct { a/b.T; *a/b.U }", "struct { b.T; *b.U }"},
		{"interface { Read([]uint8) (int, error) }",
		 "interface { Read([]uint8) (int, error) }"},
		{"struct { x int \"never ends", "struct { x int \"never ends"},
		{"main.T[[[", "main.T[[["},
		{"*a/b.local\u00b712", "*b.local"},
		{"T\u00b71", "T"},
		{"noalg.[8]string", "[8]string"},
	};
	struct opened o;

	(void)state;
	dwarffile_make(&o.d, 23);
	dwarffile_begin(&o.d, "runtime", "runtime");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		dwarffile_base(&o.d, names[i][0], 8, DWARFFILE_INT);
	dwarffile_end(&o.d);
	dwarffile_begin(&o.d, "example.org/go-tool", "tool");
	dwarffile_end(&o.d);
	open_it(&o);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_string_equal(named(&o, names[i][0])->name, names[i][1]);
	assert_string_equal(named(&o, "http.Request")->name, "http.Request");
	close_it(&o);
}

static void test_ambiguous_name(void **state)
{
	struct opened o;

	(void)state;
	dwarffile_make(&o.d, 23);
	dwarffile_begin(&o.d, "runtime", "runtime");
	dwarffile_base(&o.d, "text/template.T", 8, DWARFFILE_INT);
	dwarffile_base(&o.d, "html/template.T", 8, DWARFFILE_INT);
	dwarffile_end(&o.d);
	open_it(&o);
	assert_null(debuginfo_type(o.dbg, "template.T"));
	assert_non_null(debuginfo_type(o.dbg, "html/template.T"));
	close_it(&o);
}

/* --- files --- */

static void test_none(void **state)
{
	struct opened o;
	struct errmsg err = {0};

	(void)state;
	gofile_make(&o.d.g, 23, EM_X86_64);
	o.img = elffile_open(o.d.g.f, &err);
	assert_non_null(o.img);
	o.types = gotypes_new();
	assert_null(debuginfo_open(o.img, NULL, 23, o.types, &err));
	assert_string_equal(err.text,
			    "no debug information (DWARF) in it, and it names no separate file");
	assert_true(*err.hint);
	gotypes_free(o.types);
	image_close(o.img);
	elffile_free(o.d.g.f);
}

static void test_cut(void **state)
{
	struct errmsg err = {0};
	struct gofunc fn;

	(void)state;
	for (uint32_t size = 0; size < 120; size++) {
		struct opened o;

		open_one_param(&o, "main.b", 8);
		debuginfo_close(o.dbg);
		image_close(o.img);
		elffile_section_header(o.d.g.f, o.d.g.f->nsections - 1)->sh_size = size;
		o.img = elffile_open(o.d.g.f, &err);
		o.dbg = debuginfo_open(o.img, NULL, 15, o.types, &err);
		if (o.dbg) {
			debuginfo_func(o.dbg, o.d.g.starts[1], "main.b", &fn);
			debuginfo_type(o.dbg, "main.T");
		}
		close_it(&o);
	}
}

/* Where a type's descriptor is: an offset, or an address; and only if there is one of this size and
 * kind */
static void test_descriptors(void **state)
{
	static const struct {
		const char *name;
		uint64_t said, size;
		uint8_t kind;
		bool is;
	} rows[] = {{"main.Off", 0x1000, 8, DWARFFILE_INT, true},
		    {"main.Addr", ELFFILE_RODATA + 0x1040, 8, DWARFFILE_INT, true},
		    {"main.Size", 0x1080, 4, DWARFFILE_INT, false},
		    {"main.Kind", 0x10c0, 8, DWARFFILE_STRING, false},
		    {"main.None", 0, 8, DWARFFILE_INT, false},
		    {"main.Far", 0x100000, 8, DWARFFILE_INT, false}};
	struct opened o;

	(void)state;
	dwarffile_make(&o.d, 23);
	dwarffile_begin(&o.d, "runtime", "runtime");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t addr = ELFFILE_RODATA + 0x1000 + i * 0x40;

		dwarffile_described(&o.d, rows[i].name, 8, DWARFFILE_INT, rows[i].said);
		elffile_u64(o.d.g.f, addr, rows[i].size);
		*elffile_at(o.d.g.f, addr + 23) = rows[i].kind;
	}
	dwarffile_end(&o.d);
	open_it(&o);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (named(&o, rows[i].name)->rtype !=
		    (rows[i].is ? ELFFILE_RODATA + 0x1000 + i * 0x40 : 0))
			fail_msg("%s: %#lx", rows[i].name, named(&o, rows[i].name)->rtype);
	close_it(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signature),
		cmocka_unit_test(test_signature_of_other_size),
		cmocka_unit_test(test_blank_on_stack),
		cmocka_unit_test(test_blank_receiver),
		cmocka_unit_test(test_struct),
		cmocka_unit_test(test_impossible_types),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_ambiguous_name),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
