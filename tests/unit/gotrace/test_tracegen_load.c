// SPDX-License-Identifier: Apache-2.0
/* Generated programs compile, and the kernel's verifier takes them, whatever they are compiled
 * with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "machine/arch.h"
#include "genprobe.h"
#include "gotrace/traceplan_text_internal.h"
#include "kernel/attach.h"
#include "kernel/bpfprog.h"
#include "unit.h"

/* clang-format off */
static const char *const entries[] = {
	"main.f(x int, y int8, z bool, p *int) (x > 3 && y != -1 || !z && *p == 5)",
	"main.f(s string, b []byte, t []string) (s == \"hello, world\" || STRCMP(\"x\", b) || t == nil)",
	"main.f(s string, b []byte) (hasprefix(s, \"a prefix of more than thirty-two bytes\") || hasprefix(b, \"x\"))",
	"main.f(a any, e error, d main.Deep) \"%v %v %+v\", a, e, d",
	"main.f(d *main.Deep) \"%+v\", d",
	"main.f(d *main.Deep, i int) (d.list[i].next.name != \"\" && len(d.m) < i / len(d.list)) \"%s %+v\", d.box.name, d.m",
	"main.f(m map[string]string, n map[int][]byte) \"%+v %+v\", m, n",
	"main.f(a [3]int, s struct{x, y int16; z string}, f float64, c complex128) \"%v %v %v %v\", a, s, f, c",
	"main.f(a []struct{s string; e error}) \"%v\", a",
	"main.f(t [][]string, u []main.T) \"%v %v\", t, u",
	"main.f(a, b, c, d, e, f, g, h, i, j, k, l, m, n string)",
	"main.f(a, b, c, d, e, f, g, h, i, j, k, l, m, n any)",
	"main.f(x, y int) (x % y == 0 || x / y > 1 || x << y == 1 || x >> y == 1 || (x ^ ~y & -x | 1) == 0)",
	"main.f(u uint64, v uint32) (u % 3 == 1 && u / v > 2 && u >> v < 9) \"%d %u\", u + v, ~u",
	"main.f(c chan int, d <-chan bool) (len(c) < cap(c) && len(d) == 0) \"%v\", c",
	"main.f(fn func(int) error) \"%v\", fn",
	"main.f() ($goid > 1 && $pid != 2 && $tid != 3 && $cpu < 4) \"%d %s %s\", $goid, $comm, $func",
	"main.f() \"%d\", $parent_goid",
	"main.f(p **main.T) ((*p).a > 3) \"%v\", **p",
	"main.f(a [64]uint64, i int) (a[i] == 1 && a[63] != a[0]) \"%d\", a[i]",
	"main.f(s string) (s == \"01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567\")",
	"main.f(b []byte, s string, p *[8]int, a [4]int, i, j int) (b[i:j] == \"x\" && len(a[i:]) < cap(p[:j])) \"%q %v %v %v\", b[i:j], s[1:], p[1:j], a[:2][i]",
	"main.f(s struct{}, a [0]int, _ int) \"%v %v\", s, a",
};

static const char *const returns[] = {
	"r:main.f(x int) (n int, err error) (err != nil || x < 0) \"%v %d\", err, n + x",
	"r:main.f(s string, b []byte) (t string) (s == \"a\" || t == \"b\") \"%s %s %d\", s, t, $latency",
	"r:main.f(a, b, c, d any) (e, f, g error)",
	"r:main.f(d *main.Deep) (e *main.Deep) \"%+v %+v\", d, e",
	"r:main.f(i int) (s []string) (len(s) > i) \"%s %d\", s[i], i * 2",
	"r:main.f(m map[string]int) (n map[string]int) ($latency > 1000) \"%+v %+v\", m, n",
	"r:main.f(x, y int) int (x > y) \"%d\", retval",
	"r:main.f() () ($latency > 5 || $goid == 1)",
	"r:main.f(a [1]string, b [2]string) (c [1]string, d [2]string, f float32)",
	"r:main.f(s string, t string, u string) (a, b, c, d, e string, f []int)",
	"r:main.f(d main.Deep) (t []main.T, e error)",
	"r:main.f(b []byte, p *main.T, d main.Deep) (n int) (after(b[n]) == 1 || after(p.next.name[:n]) == \"x\" || after(d.err) == nil) \"%q %q %+v %v\", b[:n], after(b[1:n]), after(d), after(p.one[n])",
	"r:main.f(e error, a any) (n int) (e.(*main.T).next.a == 1 && a.(main.T) != nil) \"%s %d %v %+v %v\", e.(main.T).name, after(a.(*main.T).a) + n, after(e.(*main.T)), a.(*main.Deep), after(e.(main.Box).n)",
	"r:main.f(a, b, c, d []byte, e, f, g, h string, i *main.T, j any) (n int) \"%q %q %q %q %s %s %s %s %+v %v\", after(a[:n]), after(b[:n]), after(c[:n]), after(d[:n]), e[:n], f[1:n], after(g), after(h), after(i), after(j)",
};

static const char *const timed[] = {
	"r:main.f(x int) (n int) ($blocked > 1000 || $running * 2 > $latency) \"%d %d %d %d\", x, n, $syscall + $runnable, $unknown",
	"r:main.f(d *main.Deep) (n int) ($blocked + $syscall > 5ms && n > 1) \"%+v %d\", d, $goid",
};
/* clang-format on */

struct made {
	struct traceplan_text *text;
	uint32_t saved_max;
};

static void add_probe(struct made *made, const char *probe, const struct genprobe_how *how)
{
	struct genprobe gp;
	struct errmsg err = {0};

	if (genprobe_make(&gp, probe, how, &err))
		fail_msg("%s: %s", probe, err.text);
	traceplan_text_add(made->text, &gp.plan, gp.spec.at_return);
	if (gp.plan.saved_size > made->saved_max)
		made->saved_max = gp.plan.saved_size;
	genprobe_free(&gp);
}

struct variant {
	bool often; /* one of those that are enough, but for `tests/run --every` */
	bool returns, stacks, parent, sleepable, process, filters, stack_abi, states;
	uint32_t string_max;
};

static void add_all(struct made *made, const char *const *probes, size_t count,
		    const struct variant *variant)
{
	struct genprobe_how how = {.arch = ARCH_AMD64,
				   .convention = variant->stack_abi ? ABI_STACK : ABI_REGISTERS,
				   .has_states = variant->states,
				   .string_max = variant->string_max};

	for (size_t i = 0; i < count; i++)
		add_probe(made, probes[i], &how);
}

static size_t define(const struct variant *how, uint32_t saved_max, struct bpfprog_define *defs)
{
	const struct {
		const char *name;
		uint64_t value;
		bool wanted;
	} all[] = {
		{"STRING_MAX", how->string_max, true},
		{"SAVED_MAX", saved_max, true},
		{"RING_PAGES", 16, true},
		{"CALLS", 1024, true},
		{"PLACES", 1024, true},
		{"ROWS", 1, true},
		{"GOID_OFF", 152, true},
		{"G_M", 48, true},
		{"G_SCHED_SP", 56, true},
		{"M_CURG", 192, true},
		{"G_GOPC", 280, true},
		{"G_PARENT_GOID", 272, true},
		{"TLS_G", -8, true},
		{"FSBASE_OFF", 4096, true},
		{"TASK_LEADER", 2048, true},
		{"TASK_START", 2056, true},
		{"TASK_EXEC", 2064, true},
		{"TASK_SIGNAL", 2072, true},
		{"SIGNAL_LIVE", 8, true},
		{"SIGNAL_FLAGS", 12, true},
		{"USER_FRAMES", how->stacks, true},
		{"KERNEL_FRAMES", how->stacks, true},
		{"RETURNS", 1, how->returns},
		{"PARENT", 1, how->parent},
		{"IDENTITY_FIRST", 1, true},
		{"SLEEPABLE", 1, how->sleepable},
		{"TGID", 1234, how->process},
		{"PIDNS_DEV", 4, how->process},
		{"PIDNS_INO", 4026531836, how->process},
		{"ONLY_TID", 5, how->filters},
		{"ONLY_GOID", 7, how->filters},
		{"CPU", 1, how->filters},
		{"G_REGISTER", 1, !how->stack_abi},
		{"ARGS_IN_REGISTERS", 1, !how->stack_abi},
		{"STATES_WANTED", 1, how->states},
		{"WAITS_AS_ONE", 1, how->states},
		{"GOROUTINES", 1024, how->states},
		{"G_STATUS", 144, how->states},
	};
	size_t count = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].wanted)
			defs[count++] = (struct bpfprog_define){all[i].name, all[i].value};
	return count;
}

static void load_parts(struct bpfprog *prog, uint32_t parts, const struct variant *how)
{
	struct errmsg err = {0};
	char name[32];

	for (uint32_t part = 0; part < parts; part++) {
		snprintf(name, sizeof(name), part ? "on_probe_%u" : "on_probe", part);
		int fd = how->sleepable ? bpfprog_load_sleepable(prog, name, 0, &err)
					: bpfprog_load(prog, name, 0, &err);

		if (fd < 0)
			fail_msg("%s: %s", name, err.text);
	}
}

/* Whether LLVM and the kernel take a program does not depend on how this test is built. Built with
 * a sanitizer, it generates all of them, but hands over none, as that takes minutes. */
static bool loads(const struct variant *how)
{
#ifdef __SANITIZE_ADDRESS__
	(void)how;
	return false;
#else
	return how->often || getenv("GOTOOLS_EVERY");
#endif
}

static void check_variant(const struct variant *how)
{
	struct made made = {traceplan_text_new(), 0};
	struct bpfprog_define defs[40];
	struct errmsg err = {0};

	add_all(&made, entries, sizeof(entries) / sizeof(entries[0]), how);
	if (how->returns)
		add_all(&made, returns, sizeof(returns) / sizeof(returns[0]), how);
	if (how->states)
		add_all(&made, timed, sizeof(timed) / sizeof(timed[0]), how);
	size_t count = define(how, made.saved_max, defs);
	traceplan_text_serve(made.text, false);
	char *plans = traceplan_text_plans(made.text);
	char *programs = traceplan_text_programs(made.text);
	uint32_t parts = traceplan_text_parts(made.text);
	char *changes = mem_printf("int on_probe_%u(struct pt_regs *ctx)\n"
				   "{\n\treturn on_state_change(ctx);\n}\n",
				   parts);
	const struct bpfprog_insert inserts[] = {
		{"plans", plans},
		{"programs", programs},
		{"state_program", changes},
	};
	if (loads(how)) {
		struct bpfprog *prog = bpfprog_compile("gotrace.bpf.c", defs, count, inserts,
						       how->states ? 3 : 2, &err);

		if (!prog)
			fail_msg("%s", err.text);
		load_parts(prog, parts + how->states, how);
		bpfprog_free(prog);
	}
	free(plans);
	free(programs);
	free(changes);
	traceplan_text_free(made.text);
}

static void test_variants(void **state)
{
	static const struct variant variants[] = {
		{.string_max = 80},
		{.string_max = 80, .returns = true, .stacks = true, .parent = true},
		{.often = true,
		 .string_max = 4096,
		 .returns = true,
		 .process = true,
		 .filters = true,
		 .stack_abi = true},
		{.string_max = 1,
		 .returns = true,
		 .stacks = true,
		 .parent = true,
		 .sleepable = true,
		 .process = true},
		{.often = true,
		 .string_max = 80,
		 .returns = true,
		 .sleepable = true,
		 .states = true},
		{.string_max = 80, .returns = true, .stack_abi = true, .states = true},
	};

	(void)state;
	if (geteuid())
		skip();
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		if (!variants[i].sleepable || attach_sleepable())
			check_variant(&variants[i]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
