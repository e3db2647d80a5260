// SPDX-License-Identifier: Apache-2.0
/* Functions of the runtime, by a tool's list: on the program of gofile.h. */
#include <string.h>

#include "bpf-src/shared/cookie.h"
#include "selection_open.h"

#include "program/toolchain.h"
#include "selection/runtime_func.h"
#include "steps.h"
#include "tracing/probes_internal.h"

struct func_case {
	struct runtime_func func;
	const char *row;   /* the name that it is found by */
	const char *error; /* NULL: none */
};

static const struct func_case cases[] = {
	{{.names = {"main.a"}}, "main.a", NULL},
	{{.names = {"main.a", "main.b"}}, "main.a", NULL},
	{{.names = {"main.new", "main.b"}}, "main.b", NULL},
	{{.names = {"main.new", "main.old"}},
	 NULL,
	 "\"prog\": there is no main.new in its runtime: that of Go 1.15 to 1.27 is known"},
	{{.names = {"main.inl1"}},
	 NULL,
	 "\"prog\": main.inl1 is inlined in 1 place, whose arguments cannot be read: not every "
	 "call "
	 "of it would be seen"},
};

static void test_names(void **state)
{
	const struct selection_want want = {.runtime = true};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct subject s;

		subject_make(&s, &want);
		int ret = runtime_func_add(s.sel, &s.prog, &cases[i].func, &s.err);

		assert_int_equal(ret, cases[i].error ? -1 : 0);
		assert_string_equal(s.err.text, cases[i].error ? cases[i].error : "");
		assert_int_equal(strstr(s.err.text, "inlined") != NULL, *s.err.hint != 0);
		assert_int_equal(s.sel->row_count, cases[i].error ? 0 : 1);
		if (!cases[i].error)
			assert_string_equal(s.sel->rows[0].name, cases[i].row);
		subject_drop(&s);
	}
}

/* A probe tells the function's number in the list, whatever else there is. */
static void test_numbers(void **state)
{
	static const struct runtime_func funcs[] = {
		{.names = {"main.b"}}, {.names = {"main.b"}}, {.names = {"main.a"}}};
	const struct selection_want want = {.runtime = true};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	for (uint32_t n = 1; n <= 3; n++) {
		selection_group(s.sel, n, false);
		assert_int_equal(runtime_func_add(s.sel, &s.prog, &funcs[n - 1], &s.err), 0);
	}
	assert_int_equal(selection_find_sites(s.sel, &s.err), 0);
	for (size_t i = 0; i < s.sel->item_count; i++)
		assert_true(s.sel->items[i].sites.entry.args_intact);

	struct probes *probes = probes_new(&(struct probes_want){.sel = s.sel, .prog = &s.prog});

	assert_int_equal(probes->count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(cookie_row(probes->items[i].cookie),
				 s.sel->items[probes->owners[i]].group);
	probes_free(probes);
	subject_drop(&s);
}

/* Where no probe can stand while the arguments are in their registers, there is none. */
static void test_arguments_gone(void **state)
{
	static const uint8_t code[] = "\x49\x90\x55\x5d\xc3"; /* xchg; push; pop; ret */
	static const struct runtime_func func = {.names = {"main.a"}};
	const struct selection_want want = {.runtime = true};
	struct subject s;

	(void)state;
	subject_write(&s);
	elffile_bytes(s.o.g.f, s.o.g.starts[0], code, sizeof(code) - 1);
	subject_open(&s, &want);
	assert_int_equal(runtime_func_add(s.sel, &s.prog, &func, &s.err), 0);
	assert_int_equal(selection_find_sites(s.sel, &s.err), -1);
	assert_string_equal(s.err.text, "main.a cannot be probed: the arguments are gone where a "
					"probe could stand");
	subject_drop(&s);
}

#define CALL "\xe8\0\0\0\0"

/* The probe stands right behind a call, or at the branch behind that, which costs less. */
static const struct behind_case {
	const char *code;
	size_t len;
	int call, at; /* -1: none */
	bool emulated;
} behind_cases[] = {
	{"\x55" CALL "\x48\x83\xf8\xff\x74\x01\x5d\xc3", 14, 1, 10, true}, /* cmp rax, -1; je */
	{"\x55" CALL "\x48\x83\xc0\x01\x74\x01\x5d\xc3", 14, 1, 6, false}, /* add rax, 1; je */
	{"\x55" CALL "\x48\x83\xf8\xff\x48\x89\xc3\xc3", 14, 1, 6, false}, /* cmp; mov */
	{"\x55" CALL "\x74\x01\x5d\xc3", 10, 1, 6, true},                  /* je */
	{"\x55" CALL "\x49\x90\x48\x89\xc3\xc3", 12, 1, -1, false},        /* xchg rax, r8 */
	{"\x55\x5d\xc3", 3, 0, -1, false},
};

static void check_behind(const struct behind_case *c)
{
	static const struct runtime_func func = {
		.names = {"main.a"}, .callee = "main.b", .behind = true};
	const struct selection_want want = {.runtime = true};
	uint8_t code[16];
	struct subject s;

	subject_write(&s);
	memcpy(code, c->code, c->len);
	if (c->call) {
		uint64_t from = s.o.g.starts[0] + (uint64_t)c->call + 5;
		uint32_t distance = (uint32_t)(s.o.g.starts[1] - from);

		memcpy(code + c->call + 1, &distance, sizeof(distance));
	}
	elffile_bytes(s.o.g.f, s.o.g.starts[0], code, c->len);
	subject_open(&s, &want);
	assert_int_equal(runtime_func_add(s.sel, &s.prog, &func, &s.err), 0);
	assert_int_equal(s.sel->item_count, 1);
	const struct selection_item *item = &s.sel->items[0];

	assert_int_equal(item->skipped != NULL, c->at < 0);
	if (c->at >= 0) {
		assert_int_equal(item->sites.entry.addr, s.o.g.starts[0] + (uint64_t)c->at);
		assert_int_equal(item->sites.entry.kind, SITE_BEHIND_CALL);
		assert_int_equal(item->sites.entry.emulated, c->emulated);
	}
	subject_drop(&s);
}

static void test_behind_call(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(behind_cases) / sizeof(*behind_cases); i++)
		check_behind(&behind_cases[i]);
}

/* Where a function is probed at a call that it makes: main.a calls c, b and b again. */
static void say_call(const struct runtime_func *func)
{
	static const uint8_t code[] = {0xe8, 0,    0,    0, 0, 0x90, 0xe8, 0,    0,    0,   0,
				       0x55, 0x5d, 0xe8, 0, 0, 0,    0,    0x55, 0x5d, 0xc3};
	static const unsigned calls[][2] = {{0, 2}, {6, 1}, {13, 1}}; /* whom */
	const struct selection_want want = {.runtime = true};
	struct selection_item *item;
	struct subject s;

	subject_write(&s);
	uint64_t start = s.o.g.starts[0];

	memset(elffile_at(s.o.g.f, start), 0xcc, 0x40);
	elffile_bytes(s.o.g.f, start, code, sizeof(code));
	for (size_t i = 0; i < 3; i++)
		elffile_u32(s.o.g.f, start + calls[i][0] + 1,
			    (uint32_t)(s.o.g.starts[calls[i][1]] - (start + calls[i][0] + 5)));
	subject_open(&s, &want);
	assert_int_equal(runtime_func_add(s.sel, &s.prog, func, &s.err), 0);
	item = &s.sel->items[0];
	if (item->skipped)
		steps_are("%s", item->skipped);
	else
		steps_are("%lx", item->sites.entry.addr - start);
	subject_drop(&s);
}

static void test_calls(void **state)
{
	static const struct runtime_func funcs[] = {
		{.names = {"main.a"}, .callee = "main.b"},
		{.names = {"main.a"}, .callee = "main.c"},
		{.names = {"main.a"}, .callee = "main.a"},
		{.names = {"main.a"}, .callee = "main.a", .other_callee = "main.b"},
		{.names = {"main.a"}, .callee = "main.c", .other_callee = "main.b"},
		{.names = {"main.a"}, .callee = "main.b", .behind = true},
		{.names = {"main.a"}, .callee = "main.a", .behind = true},
		{.names = {"main.a"}, .callee = "main.b", .after = "main.c"},
		{.names = {"main.a"}, .callee = "main.c", .after = "main.b"},
		{.names = {"main.a"}, .callee = "main.b", .not_before = "main.b"},
		{.names = {"main.a"}, .callee = "main.c", .not_before = "main.b"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(funcs) / sizeof(*funcs); i++)
		say_call(&funcs[i]);
	steps_expect("6; 0; its call of another function is not found; 6; 0; b; its call of "
		     "another function is not found; 6; its call of another function is not "
		     "found; d; its call of another function is not found; ");
}

/* One that programs may lack; and a runtime that is another. */
static void test_others(void **state)
{
	static const struct runtime_func optional = {.names = {"main.new"}, .optional = true},
					 inlined = {.names = {"main.inl1", "main.a"},
						    .inlined = true},
					 plain = {.names = {"main.a"}};
	const struct selection_want want = {.runtime = true};
	struct subject s;

	(void)state;
	subject_make(&s, &want);
	assert_int_equal(runtime_func_add(s.sel, &s.prog, &optional, &s.err), 0);
	assert_int_equal(s.sel->item_count, 0);
	assert_int_equal(runtime_func_add(s.sel, &s.prog, &inlined, &s.err), 0);
	assert_int_equal(s.sel->item_count, 1);
	s.prog.toolchain = &toolchain_gccgo;
	assert_int_equal(runtime_func_add(s.sel, &s.prog, &plain, &s.err), -1);
	assert_string_equal(s.err.text, "\"prog\" is built by gccgo: main.a is known in the "
					"runtime of Go's gc compiler only");
	s.prog.toolchain = &toolchain_gc;
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),          cmocka_unit_test(test_others),
		cmocka_unit_test(test_names),          cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_arguments_gone), cmocka_unit_test(test_behind_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
