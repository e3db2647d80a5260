// SPDX-License-Identifier: Apache-2.0
#include "gofile_open.h"
#include "program/functab_internal.h"

/* --- what every layout must say --- */

static void check_functions(struct opened *o)
{
	static const char *const names[] = {"main.a", "main.b", "main.c"};
	struct functab_func fn;

	assert_int_equal(pclntab_layout(o->tab), o->g.layout);
	assert_int_equal(functab_addr(o->tab), GOFILE_TAB);
	assert_int_equal(functab_moduledata(o->tab), GOFILE_MODULEDATA);
	assert_int_equal(functab_count(o->tab), 3);
	for (unsigned i = 0; i < 3; i++) {
		get(o, i, &fn);
		assert_string_equal(fn.name, names[i]);
		assert_int_equal(fn.addr, o->g.starts[i]);
		assert_int_equal(fn.end, o->g.starts[i + 1]);
		assert_int_equal(fn.record, gofile_record(&o->g, i));
		assert_int_equal(fn.is_asm, i == 0);
		assert_int_equal(fn.is_wrapper, i == 2);
		assert_int_equal(fn.func_id, i == 2 ? gofile_wrapper_id(&o->g) : 3);
		assert_int_equal(fn.flags, i == 0 && o->g.release >= 18 ? 4 : 1);
	}
	assert_false(functab_func(o->tab, 3, &fn));
	assert_false(functab_func(o->tab, SIZE_MAX, &fn));
}

static void check_find(struct opened *o)
{
	struct functab_func fn;

	for (unsigned i = 0; i < 3; i++) {
		assert_true(functab_find(o->tab, o->g.starts[i], &fn));
		assert_int_equal(fn.index, i);
		assert_true(functab_find(o->tab, o->g.starts[i + 1] - 1, &fn));
		assert_int_equal(fn.index, i);
	}
	assert_false(functab_find(o->tab, o->g.starts[0] - 1, &fn));
	assert_false(functab_find(o->tab, o->g.starts[3], &fn));
	assert_true(functab_named(o->tab, "main.c", &fn));
	assert_int_equal(fn.index, 2);
	assert_false(functab_named(o->tab, "main.", &fn));
	assert_false(functab_named(o->tab, "main.inl1", &fn));
}

static void check_line(struct opened *o, const struct functab_func *fn, unsigned quanta,
		       const char *file, int line)
{
	const char *found_file;
	int found;

	assert_true(
		functab_line(o->tab, fn, fn->addr + quanta * o->g.quantum, &found_file, &found));
	assert_string_equal(found_file, file);
	assert_int_equal(found, line);
}

static void check_values(struct opened *o)
{
	struct functab_func fn;
	const char *file;
	int32_t bytes;
	int line;

	get(o, 1, &fn);
	assert_true(functab_sp_delta(o->tab, &fn, fn.addr, &bytes));
	assert_int_equal(bytes, 0);
	assert_true(functab_sp_delta(o->tab, &fn, fn.addr + 4 * o->g.quantum, &bytes));
	assert_int_equal(bytes, 24);
	assert_true(functab_sp_delta(o->tab, &fn, fn.end - 1, &bytes));
	assert_int_equal(bytes, 0);
	assert_false(functab_sp_delta(o->tab, &fn, fn.end, &bytes));
	assert_false(functab_sp_delta(o->tab, &fn, fn.addr - 1, &bytes));
	check_line(o, &fn, 0, "b.go", 10);
	check_line(o, &fn, 4, "b.go", 20);
	check_line(o, &fn, 63, "b.go", 11);
	assert_false(functab_line(o->tab, &fn, fn.end, &file, &line));
	get(o, 0, &fn);
	check_line(o, &fn, 0, "a.s", 10);
}

static void check_pcdata(struct opened *o)
{
	static const int32_t values[] = {-1, 0, 1, -1};
	struct runs runs = {.limit = 8}, two = {.limit = 2};
	struct functab_func fn;

	get(o, 1, &fn);
	assert_true(functab_pcdata(o->tab, &fn, PCLNTAB_PCDATA_INLTREE, keep_run, &runs));
	assert_int_equal(runs.count, 4);
	assert_int_equal(runs.from[0], fn.addr);
	assert_int_equal(runs.to[3], fn.end);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(runs.value[i], values[i]);
	assert_int_equal(runs.from[1], fn.addr + 4 * o->g.quantum);
	assert_int_equal(runs.to[1], runs.from[2]);
	assert_true(functab_pcdata(o->tab, &fn, PCLNTAB_PCDATA_INLTREE, keep_run, &two));
	assert_int_equal(two.count, 2);
	assert_false(functab_pcdata(o->tab, &fn, 0, keep_run, &runs)); /* no such table */
	assert_false(functab_pcdata(o->tab, &fn, 3, keep_run, &runs));
	assert_false(functab_pcdata(o->tab, &fn, UINT32_MAX, keep_run, &runs));
}

static void check_inlined(struct opened *o)
{
	struct functab_inlined node;
	struct functab_func fn;

	get(o, 0, &fn);
	assert_int_equal(functab_inlined_count(o->tab, &fn), 0);
	assert_false(functab_inlined(o->tab, &fn, 0, &node));
	get(o, 1, &fn);
	assert_int_equal(functab_funcdata(o->tab, &fn, o->g.release < 16 ? 4 : 3), GOFILE_TREE);
	assert_int_equal(functab_funcdata(o->tab, &fn, 0), 0);
	assert_int_equal(functab_funcdata(o->tab, &fn, 5), 0);
	assert_int_equal(functab_inlined_count(o->tab, &fn), 2);
	assert_true(functab_inlined(o->tab, &fn, 0, &node));
	assert_string_equal(node.name, "main.inl1");
	assert_int_equal(node.parent, -1);
	assert_int_equal(node.parent_pc, fn.addr);
	assert_int_equal(node.call_line, 10);
	assert_true(functab_inlined(o->tab, &fn, 1, &node));
	assert_string_equal(node.name, "main.inl2");
	assert_int_equal(node.parent, 0);
	assert_int_equal(node.parent_pc, fn.addr + 4 * o->g.quantum);
	assert_int_equal(node.call_line, 20);
	assert_false(functab_inlined(o->tab, &fn, -1, &node));
}

/* as they are one by one */
static void check_all_inlined(struct opened *o)
{
	struct functab_inlined nodes[3], one;
	struct functab_func fn;

	get(o, 0, &fn);
	assert_int_equal(functab_inlined_all(o->tab, &fn, nodes, 1), 0);
	get(o, 1, &fn);
	assert_int_equal(functab_inlined_all(o->tab, &fn, nodes, 0), 0);
	assert_int_equal(functab_inlined_all(o->tab, &fn, nodes, 2), 2);
	for (int i = 0; i < 2; i++) {
		assert_true(functab_inlined(o->tab, &fn, i, &one));
		assert_ptr_equal(nodes[i].name, one.name);
		assert_int_equal(nodes[i].parent, one.parent);
		assert_int_equal(nodes[i].parent_pc, one.parent_pc);
		assert_int_equal(nodes[i].call_line, one.call_line);
	}
}

static void check_all(struct opened *o)
{
	open_it(o);
	check_functions(o);
	check_find(o);
	check_values(o);
	check_pcdata(o);
	check_inlined(o);
	check_all_inlined(o);
	close_it(o);
}

static void test_layouts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct opened o;

		gofile_make(&o.g, releases[i], EM_X86_64);
		check_all(&o);
		gofile_make(&o.g, releases[i], EM_AARCH64);
		check_all(&o);
	}
}

static void test_named_sections(void **state)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};

	(void)state;
	for (unsigned i = 0; i < 2 * NRELEASES; i++) {
		struct opened o;

		gofile_make(&o.g, releases[i / 2], EM_X86_64);
		/* one more header, which a scan would find first */
		elffile_bytes(o.g.f, ELFFILE_RODATA + 0x10, elffile_at(o.g.f, GOFILE_TAB), 0x48);
		elffile_section(o.g.f, names[i % 2], GOFILE_TAB, 0x600);
		if (releases[i / 2] >= 26)
			elffile_section(o.g.f, ".go.module", GOFILE_MODULEDATA, 0x200);
		check_all(&o);
	}
}

static void test_release_guess(void **state)
{
	static const int guesses[NRELEASES] = {15, 16, 16, 18, 18, 20, 20, 20, 26, 27};

	(void)state;
	for (unsigned i = 0; i < NRELEASES; i++) {
		struct opened o;

		gofile_make(&o.g, releases[i], EM_X86_64);
		open_it(&o);
		assert_int_equal(functab_release_guess(o.tab), guesses[i]);
		close_it(&o);
	}
}

static void test_without_moduledata(void **state)
{
	struct functab_inlined node;
	struct functab_func fn;
	struct opened o;

	(void)state;
	gofile_make(&o.g, 21, EM_X86_64);
	gofile_put_word(&o.g, 0, 0);
	open_it(&o);
	assert_int_equal(functab_moduledata(o.tab), 0);
	get(&o, 1, &fn);
	assert_string_equal(fn.name, "main.b");
	assert_int_equal(functab_funcdata(o.tab, &fn, 3), 0);
	assert_false(functab_inlined(o.tab, &fn, 0, &node));
	close_it(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_named_sections),
		cmocka_unit_test(test_release_guess),
		cmocka_unit_test(test_without_moduledata),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
