// SPDX-License-Identifier: Apache-2.0
/* Where runs of inlined code begin and end: from bytes. */
#include <stdlib.h>

#include "machine/arch.h"
#include "machine/insn.h"
#include "sites/body_internal.h"
#include "unit.h"

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
	{"it ends at nops of five bytes: behind them, in the same block",
	 CODE("\x48\x89\x01"       /* 0: mov [rcx], rax */
	      "\x0f\x1f\x44\0\0"   /* 3: nop */
	      "\x0f\x1f\x44\0\0"   /* 8: nop */
	      "\x48\x89\xd8\xc3"), /* 13: mov rax, rbx; ret */
	 {0, 3},
	 NONE,
	 0,
	 0,
	 NONE,
	 {13}},
	{"the last of a block, which others jump behind: not behind it",
	 CODE("\x48\x85\xc0"           /* 0: test rax, rax */
	      "\x74\x08"               /* 3: je 13 */
	      "\x48\x89\x01"           /* 5: mov [rcx], rax */
	      "\x0f\x1f\x44\0\0\xc3"), /* 8: nop; 13: ret */
	 {5, 8},
	 NONE,
	 5,
	 5,
	 NONE,
	 {8}},
	{"two ways out to one place",
	 CODE("\x48\x89\x01"       /* 0: mov [rcx], rax */
	      "\x74\x03"           /* 3: je 8 */
	      "\x48\x89\x01"       /* 5: mov [rcx], rax */
	      "\x0f\x1f\x44\0\0"   /* 8: nop */
	      "\x48\x89\xd8\xc3"), /* 13: mov rax, rbx; ret */
	 {0, 8},
	 NONE,
	 0,
	 0,
	 NONE,
	 {13}},
	{"behind the nops its next run begins",
	 CODE("\x48\x89\x01"     /* 0: mov [rcx], rax */
	      "\x75\x01"         /* 3: jne 6 */
	      "\xc3"             /* 5 */
	      "\x0f\x1f\x44\0\0" /* 6: nop */
	      "\xeb\xf3"),       /* 11: jmp 0 */
	 {0, 3},
	 NONE,
	 0,
	 0,
	 NONE,
	 {3}},
	{"it begins with a nop of five bytes: the cheapest is another",
	 CODE("\x0f\x1f\x44\0\0" /* 0: nop */
	      "\x48\x89\x01"     /* 5: mov [rcx], rax */
	      "\xc3"),           /* 8 */
	 {5, 8},
	 NONE,
	 5,
	 5,
	 NONE,
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
	{"a call at the end of a block, as a jump goes to what follows it",
	 CODE("\x48\x89\x03"   /* 0: mov [rbx], rax */
	      "\xe8\0\x10\0\0" /* 3: call */
	      "\x48\x89\xd8"   /* 8: mov rax, rbx */
	      "\x75\xfb\xc3"), /* 11: jne 8 */
	 {0, 8},
	 NONE,
	 0,
	 0,
	 3,
	 {8}},
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

	*s = (struct subject){.dec = insn_decoder_new(ARCH_AMD64)};
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
	assert_string_equal(reason, "the compiler may have moved the code");
	subject_drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_pure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
