// SPDX-License-Identifier: Apache-2.0
/* Who is asked first, and what the program contradicts: main.b of gofile.h, whose arguments and
 * results take 16 bytes, known by run-time type information or by debug information. */
#include <string.h>

#include "arguments/funcinfo_internal.h"
#include "base/errmsg.h"
#include "dwarffile.h"
#include "elf/image.h"
#include "golang/gofunc.h"
#include "program/functab_internal.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "rttifile.h"
#include "unit.h"

struct subject {
	struct image *img;
	struct program prog;
	struct gotypes *memory;
	struct funcinfo *info;
	struct gofunc fn;
	struct errmsg err;
};

static void subject_open(struct subject *s, const struct gofile *g)
{
	*s = (struct subject){.img = elffile_open(g->f, &s->err), .memory = gotypes_new()};
	s->prog = (struct program){.toolchain = &toolchain_gc,
				   .path = "prog",
				   .img = s->img,
				   .tab = functab_open(s->img, &s->err)};
	if (!s->prog.tab)
		fail_msg("%s", s->err.text);
	s->prog.release = g->release;
	s->info = funcinfo_new(&s->prog, s->memory);
}

static void subject_close(struct subject *s, struct elffile *f)
{
	funcinfo_free(s->info);
	gotypes_free(s->memory);
	functab_close(s->prog.tab);
	image_close(s->img);
	elffile_free(f);
}

static void find(struct subject *s, unsigned index)
{
	struct functab_func fn;

	assert_true(functab_func(s->prog.tab, index, &fn));
	funcinfo_find(s->info, &fn, &s->fn);
}

static int typed(struct subject *s, const char *text)
{
	struct functab_func fn;

	assert_true(functab_func(s->prog.tab, 1, &fn));
	s->err = (struct errmsg){0};
	return funcinfo_signature(s->info, &fn, text, 20, &s->fn, &s->err);
}

static void test_none(void **state)
{
	struct gofile g;
	struct subject s;
	bool direct = true;

	(void)state;
	gofile_make(&g, 23, EM_X86_64);
	subject_open(&s, &g);
	for (unsigned i = 0; i < 3; i++) {
		find(&s, i);
		assert_int_equal(s.fn.source, GOFUNC_NONE);
		assert_true(s.fn.param_count >= 9); /* raw words */
	}
	assert_null(funcinfo_rtype(s.info, g.starts[0], &direct));
	assert_false(direct);
	subject_close(&s, g.f);
}

static bool count_type(const struct gotype *type, bool direct, void *ctx)
{
	unsigned *counts = ctx;

	assert_true(type->rtype);
	counts[direct]++;
	return true;
}

static void test_rtti(void **state)
{
	unsigned counts[2] = {0, 0};
	struct rttifile r;
	struct subject s;
	bool direct;

	(void)state;
	rttifile_make(&r, 23, EM_X86_64);
	subject_open(&s, &r.g);
	const struct gotype *type = funcinfo_rtype(s.info, r.addr[RTTIFILE_POINTER], &direct);

	assert_string_equal(type->name, "*main.T");
	assert_true(direct);
	type = funcinfo_rtype(s.info, r.addr[RTTIFILE_T], &direct);
	assert_string_equal(type->name, "main.T");
	assert_false(direct);
	assert_null(funcinfo_rtype(s.info, r.addr[RTTIFILE_T] + 1, &direct));
	funcinfo_each_rtype(s.info, count_type, counts);
	assert_true(counts[0] > 5 && counts[1] > 0);
	/* a SIGNATURE may name them */
	assert_int_equal(typed(&s, "(t *main.T, list *[]main.T)"), 0);
	assert_int_equal(s.fn.params[1].type->elem->elem->size, 48 - 16);
	subject_close(&s, r.g.f);
}

/* func b(n, m int), in debug information that is right, or has one parameter less */
static void make_dwarf(struct dwarffile *d, bool right)
{
	dwarffile_make(d, 23);
	dwarffile_begin(d, "main", "main");
	uint32_t integer = dwarffile_base(d, "int", 8, DWARFFILE_INT);

	dwarffile_func(d, "main.b", d->g.starts[1]);
	dwarffile_param(d, "n", integer, false);
	if (right)
		dwarffile_param(d, "m", integer, false);
	dwarffile_close(d);
	dwarffile_end(d);
}

static void test_debuginfo(void **state)
{
	struct dwarffile d;
	struct subject s;

	(void)state;
	make_dwarf(&d, true);
	subject_open(&s, &d.g);
	find(&s, 1);
	assert_int_equal(s.fn.source, GOFUNC_DEBUGINFO);
	assert_int_equal(s.fn.param_count, 2);
	assert_string_equal(s.fn.params[1].name, "m");
	find(&s, 0);
	assert_int_equal(s.fn.source, GOFUNC_NONE);
	/* what the user says goes first */
	assert_int_equal(typed(&s, "(text string)"), 0);
	assert_int_equal(s.fn.source, GOFUNC_SIGNATURE);
	assert_int_equal(s.fn.param_count, 1);
	subject_close(&s, d.g.f);
	make_dwarf(&d, false);
	subject_open(&s, &d.g);
	find(&s, 1);
	assert_int_equal(s.fn.source, GOFUNC_NONE);
	subject_close(&s, d.g.f);
}

static void test_typed(void **state)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{"(n, m int)", NULL},
		{"(n, m int) int", NULL},
		/* results may be left out */
		{"(n int)", NULL},
		{"()", NULL},
		{"(n, m, o int)",
		 "col 20: main.b has parameters of other sizes: they take 16 bytes, not 24"},
		{"(n int) (int, error)",
		 "col 20: main.b has parameters of other sizes: they take 16 bytes, not 8"},
		{"(n main.Nope)", "col 23: "},
		{"(n int", "col 26: "},
	};
	struct gofile g;
	struct subject s;

	(void)state;
	gofile_make(&g, 23, EM_X86_64);
	subject_open(&s, &g);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int ret = typed(&s, rows[i].text);

		if (ret != (rows[i].message ? -1 : 0))
			fail_msg("%s: %d %s", rows[i].text, ret, s.err.text);
		if (rows[i].message && !strstr(s.err.text, rows[i].message))
			fail_msg("%s: %s", rows[i].text, s.err.text);
	}
	subject_close(&s, g.f);
}

/* methods are written without their receiver, of which the name may be all that is known */
static void test_receiver(void **state)
{
	struct rttifile r;
	struct subject s;

	(void)state;
	rttifile_make(&r, 23, EM_X86_64);
	subject_open(&s, &r.g);
	assert_int_equal(funcinfo_typed(s.info, "main.(*T).f", "(n int)", 1, &s.fn, &s.err), 0);
	assert_true(s.fn.receiver);
	assert_int_equal(s.fn.param_count, 2);
	assert_string_equal(s.fn.params[0].type->name, "*main.T");
	assert_int_equal(funcinfo_typed(s.info, "main.T.f", "()", 1, &s.fn, &s.err), 0);
	assert_string_equal(s.fn.params[0].type->name, "main.T");
	assert_int_equal(funcinfo_typed(s.info, "main.(*U).f", "()", 1, &s.fn, &s.err), 0);
	assert_string_equal(s.fn.params[0].type->name, "unsafe.Pointer");
	assert_int_equal(funcinfo_typed(s.info, "main.U.f", "()", 1, &s.fn, &s.err), -1);
	assert_string_equal(s.err.text, "the type of main.U.f's receiver, main.U, is not known");
	subject_close(&s, r.g.f);
}

/* The type of a receiver of which nothing but the function's name tells. */
static void test_receiver_by_name(void **state)
{
	static const struct {
		const char *func, *type;
	} rows[] = {
		{"main.(*T).f", "*main.T"},
		{"main.(*U).f", "uintptr"},       /* there is no such type */
		{"main.T.f", "uintptr"},          /* it may be in several registers */
		{"main.(*T).f.func1", "uintptr"}, /* a closure has no receiver */
		{"main.f", "uintptr"},
	};
	struct rttifile r;
	struct subject s;

	(void)state;
	rttifile_make(&r, 23, EM_X86_64);
	subject_open(&s, &r.g);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct functab_func fn;

		assert_true(functab_func(s.prog.tab, 1, &fn));
		fn.name = rows[i].func;
		find(&s, 2);
		assert_string_equal(s.fn.params[0].type->name, "uintptr");
		funcinfo_type_receiver(s.info, &fn, &s.fn);
		assert_string_equal(s.fn.params[0].type->name, rows[i].type);
		assert_string_equal(s.fn.params[1].type->name, "uintptr");
	}
	subject_close(&s, r.g.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_receiver_by_name),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_rtti),
		cmocka_unit_test(test_debuginfo),
		cmocka_unit_test(test_typed),
		cmocka_unit_test(test_receiver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
