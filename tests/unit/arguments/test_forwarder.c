// SPDX-License-Identifier: Apache-2.0
/* Where the arguments of inlined forwarders are, in whole small Go programs. */
#include "gofile_open.h"

#include <stdlib.h>

#include "arguments/forwarder_internal.h"
#include "gofile_forwarder.h"
#include "golang/signature.h"
#include "program/program.h"
#include "sites/inlining.h"
#include "sites/site.h"

enum { WORD = 8 };

struct subject {
	struct opened o;
	struct site_finder *finder;
	struct gotypes *memory;
	struct inlining_copy copies[2]; /* the outer one, the inner one */
	int release;
};

static bool keep_copy(const struct inlining_copy *copy, void *ctx)
{
	struct inlining_copy **next = ctx;

	*(*next)++ = *copy;
	return true;
}

static void subject_make(struct subject *s, int release, unsigned machine,
			 const struct gofile_forwarder *names)
{
	struct inlining_copy *end = s->copies;

	*s = (struct subject){.release = release, .memory = gotypes_new()};
	gofile_make_forwarder(&s->o.g, release, machine, names);
	open_it(&s->o);
	s->finder = site_finder_new(&(struct program){.img = s->o.img, .tab = s->o.tab});
	inlining_each(s->o.tab, keep_copy, &end);
	assert_int_equal(end - s->copies, 2);
}

static void subject_drop(struct subject *s)
{
	site_finder_free(s->finder);
	gotypes_free(s->memory);
	close_it(&s->o);
}

static bool ask(struct subject *s, unsigned copy, const struct gofunc *typed,
		struct forwarder_call *out)
{
	return forwarder_find(s->finder, s->release, &s->copies[copy], s->memory, NULL, typed, out);
}

static bool is_known(struct subject *s, unsigned copy, const struct gofunc *typed)
{
	struct forwarder_call call;
	bool known = ask(s, copy, typed, &call);

	if (known)
		abi_layout_free(&call.layout);
	return known;
}

/* a string in two registers from `reg` on, or in memory at `off` */
static void check_string(const struct abi_value *value, bool registers, uint32_t reg, uint32_t off)
{
	assert_int_equal(value->pieces[0].where, registers ? ABI_INT : ABI_SP);
	assert_int_equal(value->pieces[0].n, registers ? reg : off);
	if (registers) {
		assert_int_equal(value->count, 2);
		assert_int_equal(value->pieces[1].n, reg + 1);
	}
}

static const struct {
	int release;
	unsigned machine;
	bool registers;
	uint32_t first; /* stack argument: bytes above SP at the call */
} programs[] = {
	{15, EM_X86_64, false, 0},  {16, EM_X86_64, false, 0}, {18, EM_X86_64, true, 0},
	{20, EM_X86_64, true, 0},   {27, EM_X86_64, true, 0},  {15, EM_AARCH64, false, 8},
	{16, EM_AARCH64, false, 8}, {18, EM_AARCH64, true, 0}, {27, EM_AARCH64, true, 0},
};

enum { PROGRAMS = sizeof(programs) / sizeof(*programs) };

/* os.rename(oldname, newname string) error: its bytes of arguments, without one more */
static struct gofile_forwarder renames(bool registers)
{
	return (struct gofile_forwarder){"main.inl1", "os.Rename", "os.rename",
					 registers ? 4 * WORD : 6 * WORD};
}

static void test_rename(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PROGRAMS; i++) {
		bool registers = programs[i].registers;
		struct gofile_forwarder names = renames(registers);
		struct forwarder_call call;
		struct subject s;

		subject_make(&s, programs[i].release, programs[i].machine, &names);
		assert_true(ask(&s, 1, NULL, &call));
		assert_string_equal(call.callee, "os.rename");
		assert_int_equal(call.site.addr, gofile_forwarder_call(&s.o.g));
		assert_int_equal(call.site.kind, SITE_INLINED_CALL);
		assert_int_equal(call.sig.source, GOFUNC_STDLIB);
		assert_int_equal(call.sig.param_count, 2);
		assert_string_equal(call.sig.params[1].name, "newpath");
		check_string(&call.layout.params[0], registers, 0, programs[i].first);
		check_string(&call.layout.params[1], registers, 2, programs[i].first + 16);
		assert_int_equal(call.sig.result_count, 1);
		check_string(&call.layout.results[0], registers, 0, programs[i].first + 32);
		abi_layout_free(&call.layout);
		assert_false(is_known(&s, 0, NULL)); /* nothing is known of main.inl1 */
		subject_drop(&s);
	}
}

/* strings.Contains passes all to strings.Index, and that to another one */
static void test_chain(void **state)
{
	static const struct gofile_forwarder names = {"strings.Contains", "strings.Index",
						      "internal/stringslite.Index", 4 * WORD};
	struct forwarder_call call;
	struct subject s;

	(void)state;
	subject_make(&s, 26, EM_X86_64, &names);
	assert_true(ask(&s, 0, NULL, &call));
	assert_string_equal(call.callee, "internal/stringslite.Index");
	check_string(&call.layout.params[0], true, 0, 0);
	check_string(&call.layout.params[1], true, 2, 0);
	assert_int_equal(call.sig.result_count, 0); /* strings.Contains has others */
	abi_layout_free(&call.layout);
	assert_true(is_known(&s, 1, NULL));
	subject_drop(&s);
}

static void check_refused(int release, struct gofile_forwarder names, const char *why)
{
	struct subject s;

	subject_make(&s, release, EM_X86_64, &names);
	if (is_known(&s, 1, NULL))
		fail_msg("%s", why);
	subject_drop(&s);
}

static void test_refused(void **state)
{
	struct gofile_forwarder names = renames(true);

	(void)state;
	names.args += WORD;
	check_refused(27, names, "the callee has other arguments");
	names.args = 6 * WORD;
	check_refused(27, names, "the callee takes them from the stack, as assembly calls it");
	names = renames(true);
	names.callee = "os.renamed";
	check_refused(27, names, "another callee");
	names = renames(true);
	check_refused(28, names, "a release that no one knows");
	names = (struct gofile_forwarder){"main.inl1", "time.Parse", "time.parse", 14 * WORD};
	check_refused(26, names, "a row of older releases");
}

static void test_typed(void **state)
{
	struct gofile_forwarder names = renames(true);
	static const struct {
		const char *text;
		bool known;
	} rows[] = {
		{"(a, b string)", true},
		{"(a string, b struct{p *int; n int})", true},
		{"(a string)", false},
		{"(a, b []byte)", false},
		{"(a string, b struct{p int; n float64})", false},
	};
	struct subject s;

	(void)state;
	subject_make(&s, 24, EM_X86_64, &names);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gofunc typed;

		assert_int_equal(signature_parse(s.memory, NULL, rows[i].text, &typed, NULL, NULL),
				 0);
		if (is_known(&s, 1, &typed) != rows[i].known)
			fail_msg("%s", rows[i].text);
	}
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rename),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_typed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
