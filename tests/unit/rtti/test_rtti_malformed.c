// SPDX-License-Identifier: Apache-2.0
#include "rttifile_open.h"

/* --- what is refused --- */

static void test_no_types(void **state)
{
	static const unsigned words[] = {25, 35, 35, 37};

	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct opened o;

		rttifile_make(&o.r, releases[i], EM_X86_64);
		gofile_put_word(&o.r.g, words[o.r.g.layout], 0x10);
		assert_false(try_open(&o, releases[i]));
		free_it(&o);
	}
}

static void test_method_refused(void **state)
{
	static const struct {
		unsigned at; /* in the method */
		uint32_t value;
	} rows[] = {
		{0, 0x7fffffff}, {0, -1}, {4, -1},  {4, 0},
		{4, 0x7fffffff}, {4, 8},  {12, -1}, {12, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gofunc fn;
		struct opened o;

		rttifile_make(&o.r, 25, EM_X86_64);
		elffile_u32(o.r.g.f, o.r.method + rows[i].at, rows[i].value);
		open_it(&o);
		assert_int_equal(rtti_func(o.rtti, o.r.g.starts[1], &fn), -1);
		free_it(&o);
	}
}

/* the code of a method whose name is another, or that two types claim */
static void test_method_contradicted(void **state)
{
	struct gofunc fn;
	struct opened o;

	(void)state;
	rttifile_make(&o.r, 25, EM_X86_64);
	elffile_u32(o.r.g.f, o.r.method, rttifile_name(&o.r, 1, "c") - RTTIFILE_TYPES);
	open_it(&o);
	assert_int_equal(rtti_func(o.rtti, o.r.g.starts[1], &fn), -1);
	free_it(&o);
	rttifile_make(&o.r, 25, EM_X86_64);
	/* main.T gets the methods of *main.T */
	elffile_u32(o.r.g.f, o.r.addr[RTTIFILE_T] + 84, 1);
	elffile_u32(o.r.g.f, o.r.addr[RTTIFILE_T] + 88, o.r.method - o.r.addr[RTTIFILE_T] - 80);
	open_it(&o);
	assert_int_equal(rtti_func(o.rtti, o.r.g.starts[1], &fn), -1);
	free_it(&o);
}

/* What comes after a parameter that is not known in full could be anywhere. */
static void test_method_of_unknown(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct gofunc fn;
		struct opened o;

		rttifile_make(&o.r, 25, EM_X86_64);
		elffile_u64(o.r.g.f, o.r.addr[RTTIFILE_FUNC] + 56 + i * 8,
			    o.r.addr[RTTIFILE_ARRAY]);
		elffile_u64(o.r.g.f, o.r.addr[RTTIFILE_ARRAY] + 64, 3);
		open_it(&o);
		assert_int_equal(rtti_func(o.rtti, o.r.g.starts[1], &fn), -1);
		free_it(&o);
	}
}

static void test_descriptor_refused(void **state)
{
	static const struct {
		enum rttifile_type type;
		unsigned at, len;
		uint64_t value;
	} rows[] = {
		{RTTIFILE_INT, 0, 8, 4},  /* not an int's size */
		{RTTIFILE_INT, 21, 1, 0}, /* alignment */
		{RTTIFILE_INT, 21, 1, 3},
		{RTTIFILE_INT, 23, 1, 0}, /* kind */
		{RTTIFILE_INT, 23, 1, 31},
		{RTTIFILE_INT, 40, 4, 0}, /* name */
		{RTTIFILE_INT, 40, 4, -1},
		{RTTIFILE_INT, 40, 4, 0x7fffffff},
		{RTTIFILE_T, 0, 8, 1ull << 48}, /* size */
		{RTTIFILE_T, 56, 8, 8},         /* fields */
		{RTTIFILE_T, 56, 8, ELFFILE_DATA_END - 24},
		{RTTIFILE_T, 64, 8, 0x10000},
		{RTTIFILE_T, 64, 8, -1ull},
		{RTTIFILE_INTERFACE, 56, 8, 8},
		{RTTIFILE_INTERFACE, 64, 8, 1ull << 61},
		{RTTIFILE_FUNC, 48, 4, 0xffff0001},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct opened o;

		rttifile_make(&o.r, 21, EM_X86_64);
		elffile_bytes(o.r.g.f, o.r.addr[rows[i].type] + rows[i].at, &rows[i].value,
			      rows[i].len);
		open_it(&o);
		if (rtti_type(o.rtti, o.r.addr[rows[i].type]))
			fail_msg("row %zu is not refused", i);
		rttifile_walk(o.rtti, o.tab);
		free_it(&o);
	}
}

/* Nothing is taken from before the module's types, nor from after them. */
static void test_addresses(void **state)
{
	const uint64_t before = ELFFILE_RODATA + 0x900, after = ELFFILE_DATA + 0x40;
	struct opened o;

	(void)state;
	rttifile_make(&o.r, 27, EM_X86_64);
	for (int i = 0; i < 2; i++)
		elffile_bytes(o.r.g.f, i ? after : before,
			      elffile_at(o.r.g.f, o.r.addr[RTTIFILE_INT]), 48);
	elffile_bytes(o.r.g.f, before + 48, "\1\6string", 8);
	elffile_u32(o.r.g.f, o.r.addr[RTTIFILE_STRING] + 40,
		    (uint32_t)(before + 48 - RTTIFILE_TYPES));
	open_it(&o);
	assert_null(rtti_type(o.rtti, before));
	assert_null(rtti_type(o.rtti, after));
	assert_null(rtti_type(o.rtti, o.r.addr[RTTIFILE_STRING]));
	assert_null(rtti_type(o.rtti, 0));
	assert_null(rtti_type(o.rtti, -1ull));
	assert_null(rtti_type(o.rtti, RTTIFILE_TYPES - 8));
	assert_null(rtti_type(o.rtti, ELFFILE_DATA - 8));
	assert_null(rtti_type(o.rtti, RTTIFILE_NAMES));
	assert_false(rtti_is_direct(o.rtti, 0));
	free_it(&o);
}

static void test_name_refused(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct opened o;

		rttifile_make(&o.r, releases[i], EM_X86_64);

		uint32_t name = rttifile_name(&o.r, 1, "main.T\x1b[0m") - RTTIFILE_TYPES;

		elffile_u32(o.r.g.f, o.r.addr[RTTIFILE_T] + 40, name);
		open_it(&o);
		assert_null(rtti_type(o.rtti, o.r.addr[RTTIFILE_T]));
		close_it(&o);
		/* longer than what is left of the segment */
		memset(elffile_at(o.r.g.f, ELFFILE_DATA - 16), 'x', 64);
		elffile_bytes(o.r.g.f, ELFFILE_DATA - 16, releases[i] < 17 ? "\1\0\24" : "\1\24",
			      releases[i] < 17 ? 3 : 2);
		elffile_u32(o.r.g.f, o.r.addr[RTTIFILE_T] + 40, ELFFILE_DATA - 16 - RTTIFILE_TYPES);
		open_it(&o);
		assert_null(rtti_type(o.rtti, o.r.addr[RTTIFILE_T]));
		free_it(&o);
	}
}

/* A long name takes two bytes of length in either form. */
static void test_long_name(void **state)
{
	char long_name[301] = "main.";

	(void)state;
	memset(long_name + 5, 'x', 295);
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct opened o;

		rttifile_make(&o.r, releases[i], EM_X86_64);
		elffile_u32(o.r.g.f, o.r.addr[RTTIFILE_MAP] + 40,
			    rttifile_name(&o.r, 1, long_name) - RTTIFILE_TYPES);
		open_it(&o);
		assert_string_equal(get(&o, RTTIFILE_MAP)->name, long_name);
		free_it(&o);
	}
}

/* --- types that would mislead whoever walks them: only their size is known --- */

static void assert_spoilt(struct opened *o, enum rttifile_type which)
{
	const struct gotype *type = get(o, which);

	assert_int_equal(type->kind, GOTYPE_UNKNOWN);
	assert_int_equal(type->size, 32);
	assert_int_equal(type->field_count, 0);
	assert_null(type->elem);
	assert_true(rttifile_walk(o->rtti, o->tab) > 5);
}

static void test_field_outside(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		static const uint64_t offs[] = {25, 33, -8};
		struct opened o;

		rttifile_make(&o.r, 20, EM_X86_64);
		elffile_u64(o.r.g.f, o.r.fields + 48 + 16, offs[i]);
		open_it(&o);
		assert_spoilt(&o, RTTIFILE_T);
		free_it(&o);
	}
}

static void test_array_size(void **state)
{
	static const uint64_t counts[] = {0, 3, 5, (1ull << 61) + 4, -1ull};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct opened o;

		rttifile_make(&o.r, 20, EM_X86_64);
		elffile_u64(o.r.g.f, o.r.addr[RTTIFILE_ARRAY] + 64, counts[i]);
		open_it(&o);
		assert_spoilt(&o, RTTIFILE_ARRAY);
		free_it(&o);
	}
}

static void test_contains_itself(void **state)
{
	struct opened o;

	(void)state;
	rttifile_make(&o.r, 20, EM_X86_64);
	/* struct { a [1]struct { a ... } } */
	elffile_u64(o.r.g.f, o.r.addr[RTTIFILE_ARRAY] + 48, o.r.addr[RTTIFILE_BOX]);
	elffile_u64(o.r.g.f, o.r.addr[RTTIFILE_ARRAY] + 64, 1);
	open_it(&o);
	assert_spoilt(&o, RTTIFILE_BOX);
	assert_spoilt(&o, RTTIFILE_ARRAY);
	free_it(&o);
}

/* A chain of structs of no size, each with `count` fields of the next's type. */
static uint64_t put_chain(struct rttifile *r, unsigned chain, unsigned count)
{
	const uint64_t start = ELFFILE_DATA + 0x1000, len = 80 + count * 24;
	uint64_t name = rttifile_name(r, 0, "f");

	gofile_put_word(&r->g, 38, ELFFILE_DATA_END);
	for (uint64_t addr = start; addr < start + chain * len; addr += len) {
		bool last = addr + len == start + chain * len;

		elffile_bytes(r->g.f, addr, elffile_at(r->g.f, r->addr[RTTIFILE_BOX]), 80);
		elffile_u64(r->g.f, addr, 0);
		elffile_u64(r->g.f, addr + 56, addr + 80);
		elffile_u64(r->g.f, addr + 64, last ? 0 : count);
		for (unsigned i = 0; i < count; i++) {
			elffile_u64(r->g.f, addr + 80 + i * 24, name);
			elffile_u64(r->g.f, addr + 80 + i * 24 + 8, addr + len);
		}
	}
	return start;
}

static void check_chain(unsigned chain, unsigned count, enum gotype_kind first)
{
	const struct gotype *type;
	struct opened o;

	rttifile_make(&o.r, 20, EM_X86_64);

	uint64_t start = put_chain(&o.r, chain, count);

	open_it(&o);
	type = rtti_type(o.rtti, start);
	assert_non_null(type);
	assert_int_equal(type->kind, first);
	assert_true(rttifile_is_sound(type));
	type = rtti_type(o.rtti, start + (80 + count * 24) * (chain - 2));
	assert_int_equal(type->kind, GOTYPE_STRUCT);
	assert_int_equal(type->field_count, count);
	free_it(&o);
}

static void test_nested_too_deep(void **state)
{
	(void)state;
	check_chain(30, 1, GOTYPE_STRUCT);
	check_chain(36, 1, GOTYPE_UNKNOWN);
}

/* nothing at all, but 2 to the 19th times */
static void test_contains_too_much(void **state)
{
	(void)state;
	check_chain(10, 2, GOTYPE_STRUCT);
	check_chain(20, 2, GOTYPE_UNKNOWN);
}

/* each byte of the descriptors, and of what refers to them, in turn */
static void test_mutated(void **state)
{
	static const uint8_t values[] = {0, 1, 0x20, 0x7f, 0x80, 0xff};
	static const int some[] = {15, 18, 24, 27};
	struct opened o;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		rttifile_make(&o.r, some[i], EM_X86_64);
		for (uint64_t addr = RTTIFILE_TYPES; addr < RTTIFILE_NAMES; addr++) {
			uint8_t *at = elffile_at(o.r.g.f, addr), was = *at;

			*at = values[addr % sizeof(values)];
			open_it(&o);
			rttifile_walk(o.rtti, o.tab);
			close_it(&o);
			*at = was;
		}
		elffile_free(o.r.g.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_types),
		cmocka_unit_test(test_method_refused),
		cmocka_unit_test(test_method_contradicted),
		cmocka_unit_test(test_method_of_unknown),
		cmocka_unit_test(test_descriptor_refused),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_name_refused),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_field_outside),
		cmocka_unit_test(test_array_size),
		cmocka_unit_test(test_contains_itself),
		cmocka_unit_test(test_nested_too_deep),
		cmocka_unit_test(test_contains_too_much),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
