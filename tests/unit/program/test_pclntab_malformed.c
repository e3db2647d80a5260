// SPDX-License-Identifier: Apache-2.0
#include "gofile_open.h"
#include "program/functab_internal.h"
#include "program/pclntab_table_internal.h"

/* --- what is refused --- */

static void assert_refused(struct gofile *g, const char *why)
{
	struct errmsg err = {0};
	struct image *img = elffile_open(g->f, NULL);

	assert_non_null(img);
	assert_null(functab_open(img, &err));
	if (!strstr(err.text, why))
		fail_msg("\"%s\" does not hold \"%s\"", err.text, why);
	image_close(img);
	elffile_free(g->f);
}

static void test_no_go_program(void **state)
{
	struct gofile g = {.f = elffile_new(EM_X86_64)};

	(void)state;
	assert_refused(&g, "\": not a Go program");
	gofile_make(&g, 21, EM_X86_64);
	elffile_u32(g.f, GOFILE_TAB, 0xfffffff7);
	assert_refused(&g, "not a Go program");
	gofile_make(&g, 21, EM_X86_64);
	elffile_u32(g.f, GOFILE_TAB, 0xfffffff7);
	elffile_section(g.f, ".gopclntab", GOFILE_TAB, 0x600);
	assert_refused(&g, "its Go function table has an unknown format");
}

static void test_packed(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct errmsg err;

	(void)state;
	elffile_bytes(f, ELFFILE_TEXT + 0xe4, "UPX!", 4);

	struct image *img = elffile_open(f, NULL);

	assert_null(functab_open(img, &err));
	assert_non_null(strstr(err.hint, "packed by UPX"));
	image_close(img);
	elffile_free(f);
}

static void test_header_refused(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct gofile g;

		gofile_make(&g, releases[i], EM_X86_64);
		elffile_u64(g.f, GOFILE_TAB + 8, 0);
		assert_refused(&g, "is empty");
		gofile_make(&g, releases[i], EM_X86_64);
		elffile_u64(g.f, GOFILE_TAB + 8, 0x10000);
		assert_refused(&g, "ends past its end");
		gofile_make(&g, releases[i], EM_X86_64);
		elffile_u64(g.f, GOFILE_TAB + 8, UINT64_MAX / 16 + 3);
		assert_refused(&g, "ends past its end");
		gofile_make(&g, releases[i], EM_X86_64);
		elffile_bytes(g.f, gofile_functab(&g, 1), "\xff\xff\xff\x7f", 4);
		assert_refused(&g, "not in order");
	}
}

static void test_offsets_refused(void **state)
{
	(void)state;
	for (unsigned field = 0; field < 5; field++) {
		struct gofile g;

		gofile_make(&g, 17, EM_X86_64);
		elffile_u64(g.f, GOFILE_TAB + 24 + field * 8, 0x123456);
		assert_refused(&g, "malformed");
		gofile_make(&g, 19, EM_X86_64);
		elffile_u64(g.f, GOFILE_TAB + 32 + field * 8, -(uint64_t)GOFILE_TAB);
		assert_refused(&g, "malformed");
	}
}

static void test_text_start_needs_moduledata(void **state)
{
	struct gofile g;

	(void)state;
	gofile_make(&g, 26, EM_X86_64);
	gofile_put_word(&g, 16, 0);
	assert_refused(&g, "without runtime.moduledata");
}

/* What is found must end where the segment ends, though the file goes on. */
static void check_cut(struct gofile *g, const struct image *img, const struct functab *tab)
{
	const char *start = image_at(img, ELFFILE_RODATA, 1);
	uint64_t filesz = elffile_segment(g->f, 1)->p_filesz;
	struct functab_func fn;

	for (size_t i = 0; i < functab_count(tab); i++) {
		if (!functab_func(tab, i, &fn))
			continue;
		assert_in_range(fn.name + strlen(fn.name) - start, 0, filesz - 1);
		assert_in_range(fn.record + 40, 0, ELFFILE_RODATA + filesz);
	}
}

static void test_cut(void **state)
{
	unsigned opened = 0;

	(void)state;
	for (unsigned i = 0; i < NRELEASES * 100; i++) {
		struct gofile g;

		gofile_make(&g, releases[i / 100], EM_X86_64);
		/* names last, so that a cut goes through them */
		elffile_segment(g.f, 1)->p_filesz = 0x100 + i % 100 * 10 + 4;
		elffile_u32(g.f, gofile_record(&g, 0) + (g.layout >= PCLNTAB_118 ? 4 : 8),
			    g.layout == PCLNTAB_12 ? 0x350 : 0x350 - GOFILE_NAMES);
		memset(elffile_at(g.f, GOFILE_TAB + 0x350), 'x', 0x20);

		struct image *img = elffile_open(g.f, NULL);
		struct functab *tab = functab_open(img, NULL);

		if (tab) {
			check_cut(&g, img, tab);
			opened++;
		}
		functab_close(tab);
		image_close(img);
		elffile_free(g.f);
	}
	assert_in_range(opened, 100, 900);
}

/* --- malformed records: that function alone is lost --- */

/* the u32 field `n` of a record, 0 being the name */
static uint64_t field(const struct gofile *g, unsigned i, unsigned n)
{
	return gofile_record(g, i) + (g->layout >= PCLNTAB_118 ? 4 : 8) + n * 4;
}

static void test_bad_record(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct functab_func fn;
		struct opened o;

		gofile_make(&o.g, releases[i], EM_X86_64);
		elffile_u32(o.g.f, field(&o.g, 0, 0), 0xfffffff0); /* name */
		elffile_u32(o.g.f, gofile_functab(&o.g, 1) + (o.g.layout >= PCLNTAB_118 ? 4 : 8),
			    0xfffffff0);
		open_it(&o);
		assert_false(functab_func(o.tab, 0, &fn));
		assert_false(functab_func(o.tab, 1, &fn));
		assert_false(functab_find(o.tab, o.g.starts[1], &fn));
		assert_false(functab_named(o.tab, "main.b", &fn));
		assert_true(functab_func(o.tab, 2, &fn));
		close_it(&o);
	}
}

static void test_bad_tables(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct runs runs = {.limit = 8};
		struct functab_func fn;
		struct opened o;
		const char *file;
		int32_t bytes;
		int line;

		gofile_make(&o.g, releases[i], EM_X86_64);
		elffile_u32(o.g.f, field(&o.g, 1, 3), 0xffffff00); /* pcsp */
		elffile_u32(o.g.f, field(&o.g, 1, 5), 0);          /* pcln */
		elffile_u32(o.g.f, field(&o.g, 1, 6), 0xffffff00); /* npcdata */
		open_it(&o);
		get(&o, 1, &fn);
		assert_false(functab_sp_delta(o.tab, &fn, fn.addr, &bytes));
		assert_false(functab_line(o.tab, &fn, fn.addr, &file, &line));
		assert_false(functab_pcdata(o.tab, &fn, 0x7fffffff, keep_run, &runs));
		assert_int_equal(functab_funcdata(o.tab, &fn, 3), 0);
		close_it(&o);
		gofile_make(&o.g, releases[i], EM_X86_64);
		elffile_u32(o.g.f, field(&o.g, 1, 6), 2); /* one table less */
		open_it(&o);
		get(&o, 1, &fn);
		assert_false(functab_pcdata(o.tab, &fn, 2, keep_run, &runs));
		close_it(&o);
	}
}

/* a table of values that goes on past the function's end, and never ends */
static void test_endless_values(void **state)
{
	struct runs runs = {.limit = 8};
	struct functab_func fn;
	struct opened o;

	(void)state;
	gofile_make(&o.g, 27, EM_X86_64);
	elffile_bytes(o.g.f, GOFILE_TAB + GOFILE_PCS + 18, "\x02\x3f\x02\x02\x02\x02", 6);
	open_it(&o);
	get(&o, 1, &fn);
	assert_false(functab_pcdata(o.tab, &fn, 2, keep_run, &runs));
	assert_int_equal(runs.count, 1);
	assert_int_equal(functab_inlined_count(o.tab, &fn), 0);
	close_it(&o);
}

static void test_bad_tree(void **state)
{
	struct functab_inlined node;
	struct functab_func fn;
	struct opened o;

	(void)state;
	gofile_make(&o.g, 24, EM_X86_64);
	elffile_u32(o.g.f, GOFILE_TREE + 4, 0xfffffff0); /* name of node 0 */
	elffile_u32(o.g.f, GOFILE_TREE + 16 + 8, 0x18);  /* node 1's parent is node 1 */
	open_it(&o);
	get(&o, 1, &fn);
	assert_false(functab_inlined(o.tab, &fn, 0, &node));
	assert_int_equal(functab_inlined_all(o.tab, &fn, &node, 1), 0);
	assert_true(functab_inlined(o.tab, &fn, 1, &node));
	assert_int_equal(node.parent, -1);
	assert_false(functab_inlined(o.tab, &fn, INT32_MAX, &node));
	close_it(&o);
	gofile_make(&o.g, 24, EM_X86_64);
	elffile_u32(o.g.f, GOFILE_TREE + 8, 0xffffff00); /* parentPc of node 0 */
	open_it(&o);
	get(&o, 1, &fn);
	assert_true(functab_inlined(o.tab, &fn, 0, &node));
	assert_int_equal(node.parent_pc, 0);
	assert_int_equal(node.call_line, 0);
	close_it(&o);
}

/* functions whose code is not in the file, or not code */
static void test_outside_text(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct functab_func fn;
		struct opened o;

		gofile_make(&o.g, releases[i], EM_X86_64);
		elffile_segment(o.g.f, 0)->p_filesz = 0x60;
		open_it(&o);
		assert_true(functab_func(o.tab, 0, &fn));
		assert_false(functab_func(o.tab, 1, &fn)); /* ends past it */
		assert_false(functab_func(o.tab, 2, &fn));
		close_it(&o);
		gofile_make(&o.g, releases[i], EM_X86_64);
		elffile_segment(o.g.f, 0)->p_flags = PF_R;
		open_it(&o);
		assert_false(functab_func(o.tab, 0, &fn));
		close_it(&o);
	}
}

/* A word has to be there with all of its bytes. */
static void test_parts(void **state)
{
	static const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	const struct pclntab_part part = {.data = bytes, .len = sizeof(bytes)};
	uint32_t word = 0;

	(void)state;
	assert_true(pclntab_part_u32(&part, 0, &word));
	assert_int_equal(word, 0x04030201);
	assert_true(pclntab_part_u32(&part, 4, &word));
	assert_int_equal(word, 0x08070605);
	for (uint64_t off = 5; off < 12; off++)
		assert_false(pclntab_part_u32(&part, off, &word));
	assert_false(pclntab_part_u32(&part, UINT64_MAX, &word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_no_go_program),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_header_refused),
		cmocka_unit_test(test_offsets_refused),
		cmocka_unit_test(test_text_start_needs_moduledata),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bad_record),
		cmocka_unit_test(test_bad_tables),
		cmocka_unit_test(test_endless_values),
		cmocka_unit_test(test_bad_tree),
		cmocka_unit_test(test_outside_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
