// SPDX-License-Identifier: Apache-2.0
/* Functions of the runtime, by a tool's list: on the program of gofile.h. */
#include <string.h>

#include "bpf-src/shared/cookie.h"
#include "selection_open.h"

#include "selection/runtime_func.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_arguments_gone),
		cmocka_unit_test(test_behind_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
