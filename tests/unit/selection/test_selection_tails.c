// SPDX-License-Identifier: Apache-2.0
/* Functions that end with a jump to another: where their calls end. */
#include "selection_open.h"

#include "bpf-src/shared/cookie.h"
#include "tracing/probes_internal.h"

enum { FUNCS = 3, REGISTER = -2, RETURN = -3, ROUND = -4, MIDDLE = -5 };

/* What a function is: a jump to function 0, 1 or 2; or */
static void write_func(const struct gofile *g, unsigned n, int what)
{
	static const uint8_t by_register[] = {0xff, 0xe0}, ret[] = {0xc3}, round[] = {0xeb, 0xfe};
	uint64_t at = g->starts[n];
	uint8_t jump[] = {0xe9, 0, 0, 0, 0};

	memset(elffile_at(g->f, at), 0xcc, 0x40);
	if (what == REGISTER)
		elffile_bytes(g->f, at, by_register, sizeof(by_register));
	if (what == RETURN)
		elffile_bytes(g->f, at, ret, sizeof(ret));
	if (what == ROUND)
		elffile_bytes(g->f, at, round, sizeof(round));
	if (what < 0 && what != MIDDLE)
		return;
	int32_t far = (int32_t)(what == MIDDLE ? g->starts[2] + 1 : g->starts[what]) -
		      (int32_t)(at + sizeof(jump));

	memcpy(jump + 1, &far, sizeof(far));
	elffile_bytes(g->f, at, jump, sizeof(jump));
}

struct tail_case {
	int what[FUNCS];
	const char *pattern;
	/* Of each function: its calls are known by where they return to; and how many of them may
	 * end in it at once, by its return or, if negative, by its jump. */
	bool tails[FUNCS];
	int calls[FUNCS];
	const char *notes;
};

#define UNSEEN "main.*: 2 more names exist only as inlined copies, not seen without --inlined\n"

static const struct tail_case cases[] = {
	{{1, RETURN, RETURN}, "main.a", {true}, {0, 1}, NULL},
	{{1, RETURN, RETURN}, "main.b", {false}, {0}, NULL},
	{{1, 2, RETURN}, "main.a", {true}, {0, 0, 1}, NULL},
	{{1, 2, RETURN}, "main.c", {false}, {0}, NULL},
	{{1, 2, RETURN}, "main.*", {true, true, true}, {0, 0, 3}, UNSEEN},
	{{2, 2, RETURN}, "main.*", {true, true, true}, {0, 0, 2}, UNSEEN},
	{{1, RETURN, RETURN}, "main.*", {true, true}, {0, 2}, UNSEEN},
	/* some go on, and then leave for good */
	{{1, REGISTER, RETURN},
	 "main.a",
	 {true},
	 {0, -1},
	 "main.a leaves by a jump, so the ends of its calls are not seen; it leads to what is "
	 "known only when it is made: try '*.a'\n"},
	{{1, 0, RETURN},
	 "main.a",
	 {true},
	 {0, -1},
	 "main.a leaves by a jump, so the ends of its calls are not seen; it leads to what is "
	 "known only when it is made: try '*.a'\n"},
	/* none can be followed: as if they were returns, but for what is said */
	{{RETURN, REGISTER, RETURN},
	 "main.b",
	 {false},
	 {0},
	 "main.b leaves by a jump, so the ends of its calls are not seen; it leads to what is "
	 "known only when it is made: try '*.b'\n"},
	{{MIDDLE, RETURN, RETURN},
	 "main.a",
	 {false},
	 {0},
	 "main.a leaves by a jump, so the ends of its calls are not seen; it leads to what is "
	 "known only when it is made: try '*.a'\n"},
	{{1, ROUND, RETURN},
	 "main.a",
	 {false},
	 {0},
	 "main.a leaves by a jump, so the ends of its calls are not seen; it leads to main.b, "
	 "which cannot be timed: calls never return\n"},
	{{RETURN, REGISTER, REGISTER},
	 "main.*",
	 {false},
	 {0},
	 UNSEEN "2 functions (as main.b) leave by a jump, so the ends of their calls are not seen; "
		"it leads to what is known only when it is made: try '*.b'\n"},
};

static unsigned function_at(const struct subject *s, uint64_t addr)
{
	unsigned n = 0;

	while (n < FUNCS - 1 && addr >= s->o.g.starts[n + 1])
		n++;
	return n;
}

/* How many probes that end calls known by where they return to are in each function; of jumps less
 * than 0. Each item's entry has the cookie that goes with them. */
static void count_probes(const struct subject *s, int calls[FUNCS])
{
	struct probes *probes = probes_new(&(struct probes_want){.sel = s->sel, .prog = &s->prog});

	for (size_t i = 0; i < probes->count; i++) {
		uint64_t cookie = probes->items[i].cookie;
		const struct selection_item *item = &s->sel->items[probes->owners[i]];
		bool tail = cookie_copy(cookie) == COOKIE_TAIL;

		assert_int_equal(tail, item->tails);
		if (tail && cookie_kind(cookie) == COOKIE_RETURN)
			calls[function_at(s, probes->items[i].addr)]++;
		if (tail && cookie_kind(cookie) == COOKIE_JUMP)
			calls[function_at(s, probes->items[i].addr)]--;
	}
	probes_free(probes);
}

static void check(const struct tail_case *c)
{
	const struct selection_want want = {.returns = true, .tails = true};
	int calls[FUNCS] = {0};
	struct subject s;

	subject_write(&s);
	for (unsigned i = 0; i < FUNCS; i++)
		write_func(&s.o.g, i, c->what[i]);
	subject_open(&s, &want);
	subject_add(&s, c->pattern);
	if (selection_find_sites(s.sel, &s.err))
		fail_msg("%zu: %s", (size_t)(c - cases), s.err.text);
	for (size_t i = 0; i < s.sel->item_count; i++)
		assert_int_equal(s.sel->items[i].tails, c->tails[s.sel->items[i].func]);
	count_probes(&s, calls);
	assert_memory_equal(calls, c->calls, sizeof(calls));
	subject_notes(&s, c->notes);
	subject_drop(&s);
}

static void test_tails(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(&cases[i]);
}

/* A return at which calls of several functions end is refused: none of them can be timed. */
static void test_refused(void **state)
{
	const struct selection_want want = {.returns = true, .tails = true};
	struct subject s;

	(void)state;
	subject_write(&s);
	write_func(&s.o.g, 0, 2);
	write_func(&s.o.g, 1, 2);
	write_func(&s.o.g, 2, RETURN);
	subject_open(&s, &want);
	subject_add(&s, "main.a");
	subject_add(&s, "main.b");
	assert_int_equal(selection_find_sites(s.sel, &s.err), 0);
	struct probes *probes = probes_new(&(struct probes_want){.sel = s.sel, .prog = &s.prog});

	assert_int_equal(function_at(&s, probes->items[0].addr), 2);
	probes->items[0].refused = "no";
	assert_true(probes_note_refused(probes, s.sel));
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(s.sel->items[i].skipped, "no");
	probes_free(probes);
	probes = probes_new(&(struct probes_want){.sel = s.sel, .prog = &s.prog});
	assert_int_equal(probes->count, 0);
	probes_free(probes);
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tails),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
