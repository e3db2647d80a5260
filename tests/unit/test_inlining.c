// SPDX-License-Identifier: Apache-2.0
/* Where runs of inlined code begin and end: from bytes, and through a whole small Go program. */
#include "gofile_open.h"

#include <stdlib.h>

#include "body.h"
#include "inlining.h"
#include "insn.h"
#include "site.h"

enum { BASE = 0x401000, NONE = -1 };

#define CODE(text) text, sizeof(text) - 1

struct body_case {
	const char *what, *code;
	size_t len;
	unsigned body[4];    /* offsets [0], [1]) and [2], [3]) of the callee's code */
	int mark;            /* offset of the compiler's mark */
	int start, cheapest; /* offsets expected; NONE: refused */
	int call;            /* the only call */
	int exits[3];        /* NONE first: refused; ends with 0 */
};

static const struct body_case cases[] = {
	{"straight code with a store: what the register allocator put before it shows nothing",
	 CODE("\x48\x89\xd8" /* 0: mov rax, rbx */
	      "\x48\x89\x01" /* 3: mov [rcx], rax */
	      "\x48\x85\xc0" /* 6: test rax, rax */
	      "\x74\x01"     /* 9: je 12 */
	      "\x90\xc3"),   /* 11, 12 */
	 {0, 6},
	 NONE,
	 3,
	 3,
	 NONE,
	 {6}},
	{"pure code may have been moved",
	 CODE("\x48\x01\xd8\x90\xc3"),
	 {0, 3},
	 NONE,
	 NONE,
	 NONE,
	 NONE,
	 {NONE}},
	{"unless it is marked",
	 CODE("\x48\x89\xd8\x90\x48\x01\xd8\xc3"),
	 {4, 7},
	 3,
	 3,
	 3,
	 NONE,
	 {7}},
	{"a forwarder",
	 CODE("\x48\x89\xd8"   /* 0: mov rax, rbx */
	      "\xe8\0\x10\0\0" /* 3: call */
	      "\xc3"),
	 {0, 8},
	 NONE,
	 3,
	 3,
	 3,
	 {8}},
	{"a loop of the caller's around it",
	 CODE("\x48\xff\xc1" /* 0: inc rcx */
	      "\x48\x89\x03" /* 3: mov [rbx], rax */
	      "\x48\x39\xd1" /* 6: cmp rcx, rdx */
	      "\x75\xf5"     /* 9: jne 0 */
	      "\xc3"),
	 {3, 6},
	 NONE,
	 3,
	 3,
	 NONE,
	 {6}},
	{"a loop of its own, from its first instruction on",
	 CODE("\x48\xff\xc1" /* 0: inc rcx */
	      "\x48\x39\xd1" /* 3: cmp rcx, rdx */
	      "\x75\xf8"     /* 6: jne 0 */
	      "\xc3"),
	 {0, 8},
	 NONE,
	 NONE,
	 NONE,
	 NONE,
	 {NONE}},
	{"a loop of its own with one way to it: counted on that way",
	 CODE("\x48\x89\x0a" /* 0: mov [rdx], rcx */
	      "\xeb\x03"     /* 3: jmp 8 */
	      "\x48\xff\xc1" /* 5: inc rcx */
	      "\x48\x39\xd1" /* 8: cmp rcx, rdx */
	      "\x75\xf8"     /* 11: jne 5 */
	      "\xc3"),
	 {5, 13},
	 NONE,
	 3,
	 3,
	 NONE,
	 {13}},
	{"a loop of the caller's over which the callee's branch decides: for f(x) { g() }",
	 CODE("\x48\x89\x0a"   /* 0: mov [rdx], rcx */
	      "\xeb\x05"       /* 3: jmp 10 */
	      "\xe8\0\x10\0\0" /* 5: call g */
	      "\x48\x39\xd1"   /* 10: cmp rcx, rdx */
	      "\x75\xf6"       /* 13: jne 5 */
	      "\xc3"),
	 {10, 15},
	 NONE,
	 NONE,
	 NONE,
	 NONE,
	 {NONE}},
	{"alignment that is jumped over is no way into it",
	 CODE("\xeb\x01"     /* 0: jmp 3 */
	      "\x90"         /* 2 */
	      "\x48\x89\x0b" /* 3: mov [rbx], rcx */
	      "\xc3"),
	 {3, 6},
	 NONE,
	 3,
	 3,
	 NONE,
	 {6}},
	{"a loop of its own after its first instruction",
	 CODE("\x31\xc9"     /* 0: xor ecx, ecx */
	      "\x48\x89\x0b" /* 2: mov [rbx], rcx */
	      "\x48\xff\xc1" /* 5: inc rcx */
	      "\x48\x39\xd1" /* 8: cmp rcx, rdx */
	      "\x75\xf8"     /* 11: jne 5 */
	      "\x90\xc3"),
	 {2, 13},
	 NONE,
	 2,
	 2,
	 NONE,
	 {13}},
	{"two ways into it",
	 CODE("\x74\x05"     /* 0: je 7 */
	      "\x48\x89\x03" /* 2: mov [rbx], rax */
	      "\xeb\x03"     /* 5: jmp 10 */
	      "\x48\x89\x0b" /* 7: mov [rbx], rcx */
	      "\xc3"),
	 {2, 10},
	 NONE,
	 NONE,
	 NONE,
	 NONE,
	 {NONE}},
	{"a branch in it: it ends in two places",
	 CODE("\x48\x85\xc0" /* 0: test rax, rax */
	      "\x74\x04"     /* 3: je 9 */
	      "\x48\x89\x03" /* 5: mov [rbx], rax */
	      "\xc3"         /* 8 */
	      "\x90\xc3"),   /* 9 */
	 {0, 8},
	 NONE,
	 0,
	 3,
	 NONE,
	 {9, 8}},
	{"a call of the caller's in it",
	 CODE("\x48\x89\x03"   /* 0: mov [rbx], rax */
	      "\xe8\0\x10\0\0" /* 3: call */
	      "\x48\x89\x0b"   /* 8: mov [rbx], rcx */
	      "\xc3"),
	 {0, 3, 8, 11},
	 NONE,
	 0,
	 0,
	 NONE,
	 {NONE}},
	{"a constant that the register allocator put elsewhere is not part of it",
	 CODE("\xb8\1\0\0\0" /* 0: mov eax, 1 */
	      "\x74\x03"     /* 5: je 10 */
	      "\x48\x89\x03" /* 7: mov [rbx], rax */
	      "\xc3"),
	 {0, 5, 7, 10},
	 NONE,
	 7,
	 7,
	 NONE,
	 {10}},
	{"nothing is left", CODE("\x90\xc3"), {0, 0}, NONE, NONE, NONE, NONE, {NONE}},
};

struct subject {
	struct insn_decoder *dec;
	struct flow flow;
	struct graph graph;
	bool inside[64];
	uint32_t insns[64];
	struct body body;
};

static void subject_make(struct subject *s, const struct body_case *c)
{
	struct insn_code code = {(const uint8_t *)c->code, c->len, BASE};
	struct graph_source src = {0};
	size_t count = 0;

	*s = (struct subject){.dec = insn_decoder_new(IMAGE_AMD64)};
	assert_int_equal(flow_decode(&s->flow, s->dec, &code), 0);
	assert_int_equal(graph_build(&s->graph, &s->flow, &src), 0);
	for (size_t i = 0; i < s->flow.count; i++) {
		unsigned off = s->flow.insns[i].addr - BASE;

		s->inside[i] = (off >= c->body[0] && off < c->body[1]) ||
			       (off >= c->body[2] && off < c->body[3]);
		if (s->inside[i])
			s->insns[count++] = i;
	}
	s->body = (struct body){
		.graph = &s->graph,
		.inside = s->inside,
		.insns = s->insns,
		.count = count,
		.mark = c->mark < 0 ? FLOW_NONE : flow_at(&s->flow, BASE + c->mark),
	};
}

static void subject_drop(struct subject *s)
{
	graph_free(&s->graph);
	flow_free(&s->flow);
	insn_decoder_free(s->dec);
}

static int offset(const struct subject *s, long at)
{
	return at == FLOW_NONE ? NONE : (int)(s->flow.insns[at].addr - BASE);
}

static void check_exits(const struct subject *s, const struct body_case *c, long start)
{
	struct body_exits exits = {0};
	const char *reason = NULL;
	int ret = body_exits(&s->body, start, &exits, &reason);

	if (c->exits[0] == NONE) {
		if (!ret || !reason)
			fail_msg("%s: has exits", c->what);
	} else if (ret) {
		fail_msg("%s: %s", c->what, reason);
	}
	for (size_t i = 0; !ret && i < 3 && (c->exits[i] || i < exits.count); i++)
		if (i >= exits.count || offset(s, exits.items[i]) != c->exits[i])
			fail_msg("%s: exit %zu of %zu", c->what, i, exits.count);
	free(exits.items);
}

static void check_case(const struct body_case *c)
{
	const char *reason = NULL;
	struct subject s;
	long start;

	subject_make(&s, c);
	start = body_start(&s.body, &reason);
	if (offset(&s, start) != c->start || (start == FLOW_NONE && !reason))
		fail_msg("%s: starts at %d", c->what, offset(&s, start));
	if (start != FLOW_NONE) {
		assert_int_equal(offset(&s, body_cheapest(&s.body, start)), c->cheapest);
		if (offset(&s, body_only_call(&s.body, start)) != c->call)
			fail_msg("%s: only call", c->what);
		check_exits(&s, c, start);
	}
	subject_drop(&s);
}

static void test_bodies(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_case(&cases[i]);
}

static bool answer(const void *ctx, uint32_t b)
{
	(void)b;
	return *(const bool *)ctx;
}

/* pure code is taken only where the source lines agree with its place */
static void test_pure(void **state)
{
	const struct body_case c = {"",
				    CODE("\x48\x01\xd8" /* 0: add rax, rbx */
					 "\x48\x85\xc0" /* 1: test rax, rax */
					 "\x74\x01"     /* 2: je */
					 "\x90\xc3"),
				    {0, 3},
				    NONE,
				    0,
				    0,
				    0,
				    {0}};
	const bool yes = true, no = false;
	const char *reason;
	struct subject s;

	(void)state;
	subject_make(&s, &c);
	assert_int_equal(body_start(&s.body, &reason), FLOW_NONE);
	s.body.agrees = answer;
	s.body.ctx = &yes;
	assert_int_equal(body_start(&s.body, &reason), 0);
	s.body.ctx = &no;
	assert_int_equal(body_start(&s.body, &reason), FLOW_NONE);
	assert_string_equal(reason, "its code may have been moved");
	subject_drop(&s);
}

/* main.b of gofile.h: main.inl1 is at 4..44 and main.inl2 in it at 24..44; SP stands 24 lower from
 * 4 to 44; the calls' marks are at 0 and 4 */
static const uint8_t main_b[0x40] = "\x90\x48\x89\xc3"                 /* 0: mark; mov rbx, rax */
				    "\x90\x48\x89\x03"                 /* 4: mark; mov [rbx], rax */
				    "\x48\x89\x43\x08\x48\x89\x43\x10" /* 8: two stores */
				    "\x48\x89\x43\x08\x48\x89\x43\x10" /* 16 */
				    "\xe8\0\0\0\0"                     /* 24: call */
				    "\x90\x90\x90\x48\x89\xc1"         /* 29: mov rcx, rax */
				    "\x48\x89\xc8\x48\x89\xc8\x48\x89\xc8" /* 35 */
				    "\xc3\xcc\xcc\xcc";                    /* 44: ret */

static bool keep_copy(const struct inlining_copy *copy, void *ctx)
{
	struct inlining_copy **next = ctx;

	*(*next)++ = *copy;
	return true;
}

static void check_program(struct opened *o)
{
	struct site_finder *finder = site_finder_new(o->img, o->tab);
	struct inlining_copy copies[4] = {0}, *end = copies;
	uint64_t main_b_addr = o->g.starts[1];
	struct site_list exits = {0};
	const char *reason = "";
	struct site site;

	inlining_each(o->tab, keep_copy, &end);
	assert_int_equal(end - copies, 2);
	assert_string_equal(copies[0].name, "main.inl1");
	assert_int_equal(copies[0].addr, main_b_addr + 4);
	assert_int_equal(copies[0].func, 1);
	assert_string_equal(copies[1].name, "main.inl2");
	assert_int_equal(copies[1].addr, main_b_addr + 24);

	if (inlining_entry(finder, &copies[0], &site, &reason))
		fail_msg("%s", reason);
	assert_int_equal(site.addr, main_b_addr); /* its mark */
	assert_true(site.emulated);
	assert_int_equal(inlining_entry(finder, &copies[1], &site, &reason), 0);
	assert_int_equal(site.addr, main_b_addr + 4);

	/* the inner copy is a mere forwarder */
	assert_int_equal(inlining_span(finder, &copies[1], &site, &exits, &reason), 0);
	assert_int_equal(site.kind, SITE_INLINED_CALL);
	assert_int_equal(site.addr, main_b_addr + 24);
	assert_int_equal(site.sp_adjust, 0);
	assert_int_equal(exits.count, 1);
	assert_int_equal(exits.items[0].addr, main_b_addr + 29);
	copies[0].node = 7;
	assert_int_equal(inlining_entry(finder, &copies[0], &site, &reason), -1);
	free(exits.items);
	site_finder_free(finder);
}

static void test_program(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NMINORS; i++) {
		struct opened o;

		gofile_make(&o.g, minors[i], EM_X86_64);
		elffile_bytes(o.g.f, o.g.starts[1], main_b, sizeof(main_b));
		open_it(&o);
		check_program(&o);
		close_it(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_pure),
		cmocka_unit_test(test_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
