// SPDX-License-Identifier: Apache-2.0
#include "abi/arginfo.h"
#include "gofile_open.h"
#include "golang/gotype_internal.h"

/* main.b of gofile.h, whose inline tree's place is made that of ArgInfo */
static bool read_bytes(struct opened *o, const uint8_t *bytes, size_t len, struct arginfo *out)
{
	struct functab_func fn;
	uint64_t nfuncdata;
	bool found;

	gofile_make(&o->g, 20, EM_X86_64);
	nfuncdata = gofile_record(&o->g, 1) + 4 + 9 * 4 + 3;
	*elffile_at(o->g.f, nfuncdata) = 6;
	elffile_u32(o->g.f, nfuncdata + 1 + 3 * 4 + 5 * 4, GOFILE_TREE - GOFILE_GOFUNC);
	elffile_bytes(o->g.f, GOFILE_TREE, bytes, len);
	open_it(o);
	get(o, 1, &fn);
	found = arginfo_read(o->img, o->tab, &fn, out);
	close_it(o);
	return found;
}

static struct arginfo info_of(const uint8_t *bytes, size_t len)
{
	struct arginfo info;
	struct opened o;

	assert_true(read_bytes(&o, bytes, len, &info));
	return info;
}

/* f(a int8, s string, x [1]struct{...}, ...) */
static void test_read(void **state)
{
	static const uint8_t bytes[] = {0, 1, 0xfe, 8, 8, 16, 8, 0xfd, 0xfb, 0xfc, 0xff};
	static const struct arginfo_item items[] = {
		{ARGINFO_VALUE, 1, 0},  {ARGINFO_OPEN, 0, 0},  {ARGINFO_VALUE, 8, 8},
		{ARGINFO_VALUE, 8, 16}, {ARGINFO_CLOSE, 0, 0}, {ARGINFO_VALUE, 0, -1},
		{ARGINFO_MORE, 0, 0},
	};
	struct arginfo info = info_of(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(info.count, sizeof(items) / sizeof(*items));
	for (size_t i = 0; i < info.count; i++) {
		assert_int_equal(info.items[i].kind, items[i].kind);
		assert_int_equal(info.items[i].size, items[i].size);
		assert_int_equal(info.items[i].off, items[i].off);
	}
	assert_true(info.truncated);
	assert_int_equal(arginfo_next(&info, 0), 1);
	assert_int_equal(arginfo_next(&info, 1), 5);
	assert_int_equal(arginfo_next(&info, 5), 6);
	assert_int_equal(arginfo_next(&info, 7), 7);
}

static void test_malformed(void **state)
{
	static const uint8_t bytes[][8] = {
		{0xfd, 0xff},                               /* closes what is not open */
		{0xfe, 0, 8, 0xff},                         /* leaves it open */
		{0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xff}, /* too deep */
		{0xf3, 8, 0xff},                            /* an unknown code */
	};
	struct arginfo info;
	struct opened o;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		assert_false(read_bytes(&o, bytes[i], sizeof(bytes[i]), &info));
		assert_int_equal(info.count, 0);
	}
}

/* never ends */
static void test_endless(void **state)
{
	uint8_t bytes[600] = {0};
	struct arginfo info;
	struct opened o;

	(void)state;
	assert_false(read_bytes(&o, bytes, sizeof(bytes), &info));
}

static void test_fits(void **state)
{
	/* int8, string, [2]uint16, []int of which all is told */
	static const uint8_t bytes[] = {0, 1,    0xfe, 8,  8, 16, 8, 0xfd, 0xfe, 24,   2,   26,
					2, 0xfd, 0xfe, 40, 8, 48, 8, 56,   8,    0xfd, 0xff};
	struct gotypes *types = gotypes_new();
	const struct gotype *byte = gotypes_basic(types, "int8");
	const struct gotype *text = gotypes_basic(types, "string");
	const struct gotype *pair = gotypes_array(types, gotypes_basic(types, "uint16"), 2);
	struct arginfo info = info_of(bytes, sizeof(bytes));

	(void)state;
	assert_true(arginfo_fits(&info, 0, byte));
	assert_false(arginfo_fits(&info, 0, gotypes_basic(types, "int16")));
	assert_false(arginfo_fits(&info, 0, text));
	assert_true(arginfo_fits(&info, 1, text));
	assert_true(arginfo_fits(&info, 1, gotypes_basic(types, "error")));
	assert_false(arginfo_fits(&info, 1, byte));
	assert_false(arginfo_fits(&info, 1, pair));
	assert_true(arginfo_fits(&info, 5, pair));
	assert_false(arginfo_fits(&info, 5, text));
	assert_false(arginfo_fits(&info, info.count, byte));
	gotypes_free(types);
}

/* 10 values and no more: {0 .. 9 ...} */
static void test_fits_as_far_as_told(void **state)
{
	uint8_t bytes[32] = {0xfe};
	struct gotypes *types = gotypes_new();
	const struct gotype *word = gotypes_basic(types, "int");
	struct arginfo info;
	size_t at = 1;

	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		bytes[at++] = i * 8;
		bytes[at++] = 8;
	}
	bytes[at++] = 0xfc;
	bytes[at++] = 0xfd;
	bytes[at++] = 0xff;
	info = info_of(bytes, at);
	assert_true(arginfo_fits(&info, 0, gotypes_array(types, word, 11)));
	assert_true(arginfo_fits(&info, 0, gotypes_array(types, word, 1 << 30)));
	assert_false(arginfo_fits(&info, 0, gotypes_array(types, word, 10)));
	assert_false(
		arginfo_fits(&info, 0, gotypes_array(types, gotypes_basic(types, "int8"), 11)));
	gotypes_free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_endless),
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_fits_as_far_as_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
