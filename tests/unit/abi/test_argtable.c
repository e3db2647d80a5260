// SPDX-License-Identifier: Apache-2.0
#include "abi/argtable.h"
#include "gofile_open.h"

/* main.b of gofile.h, whose inline tree's place is made that of ArgInfo */
struct table {
	struct opened o;
	struct gotypes *types;
	struct gofunc sig;
	struct abi_layout layout;
};

static bool read_table(struct table *t, const struct evidence *evidence, const uint8_t *bytes,
		       size_t len)
{
	struct functab_func fn;
	uint64_t nfuncdata;

	gofile_make(&t->o.g, 20, EM_X86_64);
	nfuncdata = gofile_record(&t->o.g, 1) + 4 + 9 * 4 + 3;
	*elffile_at(t->o.g.f, nfuncdata) = 6;
	elffile_u32(t->o.g.f, nfuncdata + 1 + 3 * 4 + 5 * 4, GOFILE_TREE - GOFILE_GOFUNC);
	elffile_bytes(t->o.g.f, GOFILE_TREE, bytes, len);
	open_it(&t->o);
	get(&t->o, 1, &fn);
	t->types = gotypes_new();
	return argtable_read(t->o.img, t->o.tab, NULL, evidence, &fn, t->types, &t->sig,
			     &t->layout);
}

static void free_table(struct table *t)
{
	abi_layout_free(&t->layout);
	gotypes_free(t->types);
	close_it(&t->o);
}

/* f(a int8, s string, x float64, big [2]int): the last one is on the stack */
static const uint8_t TABLE[] = {16, 1,    0xfe, 24, 8, 32, 8,    0xfd, 40,
				8,  0xfe, 0,    8,  8, 8,  0xfd, 0xff};
static const struct spill SPILLS[] = {
	{ABI_INT, 0, 16, 1}, {ABI_INT, 1, 24, 8}, {ABI_INT, 2, 32, 8}, {ABI_FLOAT, 0, 40, 8}};

static struct evidence evidence_of(size_t spills)
{
	struct evidence evidence = {.arch = 0, .usual = ABI_REGISTERS, .args = 48};

	for (size_t i = 0; i < spills; i++)
		evidence.spills.items[i] = SPILLS[i];
	evidence.spills.count = spills;
	return evidence;
}

static void test_registers(void **state)
{
	struct evidence evidence = evidence_of(4);
	struct table t;

	(void)state;
	assert_true(read_table(&t, &evidence, TABLE, sizeof(TABLE)));
	assert_int_equal(t.sig.source, GOFUNC_ARGINFO);
	assert_int_equal(t.sig.param_count, 4);
	assert_int_equal(t.sig.result_count, 0);
	assert_string_equal(t.sig.params[0].type->name, "1 byte");
	assert_string_equal(t.sig.params[1].type->name, "8+8 bytes");
	assert_int_equal(t.sig.params[1].type->size, 16);
	assert_int_equal(t.layout.params[1].count, 2);
	assert_int_equal(t.layout.params[1].pieces[1].n, 2);
	assert_int_equal(t.layout.params[1].pieces[1].off, 8);
	assert_int_equal(t.layout.params[2].pieces[0].where, ABI_FLOAT);
	assert_int_equal(t.layout.params[3].pieces[0].where, ABI_SLOT);
	assert_int_equal(t.layout.params[3].pieces[1].n, 8);
	free_table(&t);
}

/* without a stack check nobody knows, but for the stack's own convention */
static void test_places_not_known(void **state)
{
	struct evidence evidence = evidence_of(0);
	struct table t;

	(void)state;
	assert_true(read_table(&t, &evidence, TABLE, sizeof(TABLE)));
	for (size_t i = 0; i < t.sig.param_count; i++)
		assert_int_equal(t.layout.params[i].count, 0);
	free_table(&t);
	evidence.usual = ABI_STACK;
	assert_true(read_table(&t, &evidence, TABLE, sizeof(TABLE)));
	assert_int_equal(t.layout.params[1].pieces[1].where, ABI_SLOT);
	assert_int_equal(t.layout.params[1].pieces[1].n, 32);
	free_table(&t);
}

/* what a function saves in another size is not that parameter */
static void test_contradiction(void **state)
{
	struct evidence evidence = evidence_of(4);
	struct table t;

	(void)state;
	evidence.spills.items[2].size = 4;
	assert_true(read_table(&t, &evidence, TABLE, sizeof(TABLE)));
	assert_int_equal(t.layout.params[1].count, 0);
	assert_int_equal(t.layout.params[0].count, 1);
	free_table(&t);
}

/* struct { struct { a int8; s string }; f, g float64; x, y int32 }: which of its parts are words
 * that may be a string */
static void test_words(void **state)
{
	static const uint8_t bytes[] = {0xfe, 0xfe, 16,   1,  0xfe, 24,   8,   32,   8,
					0xfd, 0xfd, 0xfe, 40, 8,    48,   8,   0xfd, 0xfe,
					56,   4,    60,   4,  0xfd, 0xfd, 0xff};
	struct evidence evidence = evidence_of(3);
	const struct gotype *type;
	struct table t;

	(void)state;
	evidence.spills.items[3] = (struct spill){ABI_FLOAT, 0, 40, 8};
	evidence.spills.items[4] = (struct spill){ABI_FLOAT, 1, 48, 8};
	evidence.spills.items[5] = (struct spill){ABI_INT, 3, 56, 4};
	evidence.spills.items[6] = (struct spill){ABI_INT, 4, 60, 4};
	evidence.spills.count = 7;
	assert_true(read_table(&t, &evidence, bytes, sizeof(bytes)));
	assert_int_equal(t.sig.param_count, 1);
	type = t.sig.params[0].type->elem;
	assert_int_equal(type->kind, GOTYPE_STRUCT);
	assert_int_equal(type->size, 48);
	assert_int_equal(type->field_count, 3);
	assert_int_equal(type->fields[0].off, 0);
	assert_int_equal(type->fields[0].type->fields[1].off, 8);
	assert_int_equal(type->fields[0].type->fields[1].type->kind, GOTYPE_PAIR);
	assert_int_equal(type->fields[1].off, 24);
	assert_int_equal(type->fields[1].type->kind, GOTYPE_STRUCT);
	assert_int_equal(type->fields[2].type->kind, GOTYPE_STRUCT);
	assert_int_equal(type->fields[2].type->size, 8);
	free_table(&t);
}

static void test_left_out(void **state)
{
	static const uint8_t bytes[] = {0xfe, 0, 8, 0xfc, 0xfd, 0xfb, 0xfc, 0xff};
	static const uint8_t bad[] = {0xfd, 0xff};
	struct evidence evidence = evidence_of(0);
	struct table t;

	(void)state;
	assert_true(read_table(&t, &evidence, bytes, sizeof(bytes)));
	assert_int_equal(t.sig.param_count, 3);
	assert_string_equal(t.sig.params[0].type->name, "8+... bytes");
	assert_int_equal(t.sig.params[0].type->size, 0);
	assert_string_equal(t.sig.params[1].type->name, "... bytes");
	assert_string_equal(t.sig.params[2].name, "...");
	free_table(&t);
	assert_false(read_table(&t, &evidence, bad, sizeof(bad)));
	gotypes_free(t.types);
	close_it(&t.o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),     cmocka_unit_test(test_places_not_known),
		cmocka_unit_test(test_contradiction), cmocka_unit_test(test_words),
		cmocka_unit_test(test_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
