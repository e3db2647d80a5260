// SPDX-License-Identifier: Apache-2.0
#include "gofile_open.h"

#include "base/json.h"
#include "program/gostack.h"
#include "program/gostack_symbols.h"
#include "steps.h"

enum { BIAS = 0x7f0000000000, SYMBOLS = ELFFILE_RODATA + 0xa00, C_CODE = ELFFILE_TEXT + 0x800 };

struct printed {
	char *text;
	size_t len;
	FILE *out;
};

static void begin(struct printed *p)
{
	p->out = open_memstream(&p->text, &p->len);
	assert_non_null(p->out);
}

static void expect(struct printed *p, const char *text)
{
	fclose(p->out);
	assert_string_equal(p->text, text);
	free(p->text);
}

static void expect_stack(struct opened *o, const struct gostack *stack, bool detail,
			 const char *text)
{
	struct gostack_symbols *syms = gostack_symbols_new(o->img, o->tab);
	struct printed p;

	/* what is remembered is the same */
	for (int i = 0; i < 2; i++) {
		begin(&p);
		gostack_print(p.out, stack, syms, detail);
		expect(&p, text);
	}
	gostack_symbols_free(syms);
}

static void expect_json(struct opened *o, const struct gostack *stack, const char *text)
{
	struct gostack_symbols *syms = gostack_symbols_new(o->img, o->tab);
	struct printed p;
	struct json json;

	begin(&p);
	json_init(&json, p.out);
	json_object(&json);
	gostack_json(&json, stack, syms);
	json_object_end(&json);
	expect(&p, text);
	gostack_symbols_free(syms);
}

/* main.inl2 in main.inl1 in main.b, called by main.a */
static void check_inlined(struct opened *o)
{
	unsigned q = o->g.quantum;
	const uint64_t frames[] = {BIAS + o->g.starts[1] + 24 * q, BIAS + o->g.starts[0] + 8 * q};
	struct gostack stack = {.frames = frames, .count = 2, .bias = BIAS};
	char text[512];

	snprintf(text, sizeof(text),
		 "        main.inl2 +0x%x (inlined)\n"
		 "        main.inl1 +0x%x (inlined)\n"
		 "        main.b +0x%x\n"
		 "        main.a +0x%x\n",
		 24 * q, 24 * q, 24 * q, 8 * q);
	expect_stack(o, &stack, false, text);
	snprintf(text, sizeof(text),
		 "        0x%016llx main.inl2 +0x%x (inlined) b.go:20\n"
		 "        0x%016llx main.inl1 +0x%x (inlined) b.go:20\n"
		 "        0x%016llx main.b +0x%x b.go:10\n"
		 "        0x%016llx main.a +0x%x a.s:20\n",
		 (unsigned long long)frames[0], 24 * q, (unsigned long long)frames[0], 24 * q,
		 (unsigned long long)frames[0], 24 * q, (unsigned long long)frames[1], 8 * q);
	expect_stack(o, &stack, true, text);
}

/* what comes after a call may be the next function's, or another inlined call's */
static void check_return_address(struct opened *o)
{
	unsigned q = o->g.quantum;
	const uint64_t frames[] = {o->g.starts[0], o->g.starts[1] + 44 * q, o->g.starts[2]};
	struct gostack stack = {.frames = frames, .count = 3};
	char text[512];

	snprintf(text, sizeof(text),
		 "        main.a +0x0\n"
		 "        main.inl2 +0x%x (inlined)\n"
		 "        main.inl1 +0x%x (inlined)\n"
		 "        main.b +0x%x\n"
		 "        main.b +0x%x\n",
		 44 * q, 44 * q, 44 * q, 64 * q);
	expect_stack(o, &stack, false, text);
}

static void test_layouts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * NRELEASES; i++) {
		struct opened o;

		gofile_make(&o.g, releases[i / 2], i % 2 ? EM_X86_64 : EM_AARCH64);
		open_it(&o);
		check_inlined(&o);
		check_return_address(&o);
		close_it(&o);
	}
}

static void open_newest(struct opened *o)
{
	gofile_make(&o->g, 27, EM_X86_64);
	open_it(o);
}

/* the probed function's own frame is what a stack begins with */
static void test_probed(void **state)
{
	struct opened o;

	(void)state;
	open_newest(&o);

	const uint64_t frames[] = {o.g.starts[1] + 24, o.g.starts[1] + 25};
	struct gostack stack = {.frames = frames, .count = 1, .probed = "main.b"};

	expect_stack(&o, &stack, false, "        main.b +0x18\n");
	stack.probed = "main.inl1";
	expect_stack(&o, &stack, false,
		     "        main.inl1 +0x18 (inlined)\n        main.b +0x18\n");
	/* an inlined copy's probe may stand outside of it */
	stack.at = frames[0];
	stack.frames = &o.g.starts[0];
	expect_stack(&o, &stack, false,
		     "        main.inl1 +0x18 (inlined)\n        main.b +0x18\n");
	stack.at = 0;
	stack.frames = frames;
	stack.probed = "main.other";
	stack.count = 2;
	expect_stack(&o, &stack, false,
		     "        main.inl2 +0x18 (inlined)\n        main.inl1 +0x18 (inlined)\n"
		     "        main.b +0x18\n"
		     "        main.inl2 +0x19 (inlined)\n        main.inl1 +0x19 (inlined)\n"
		     "        main.b +0x19\n");
	close_it(&o);
}

static void rename_func(struct gofile *g, unsigned index, const char *name)
{
	elffile_bytes(g->f, GOFILE_TAB + GOFILE_NAMES + 64, name, strlen(name) + 1);
	elffile_u32(g->f, gofile_record(g, index) + 4, 64);
}

static void say_place(struct gostack_symbols *syms, uint64_t addr, bool returns)
{
	struct gostack_place place = gostack_symbols_find(syms, addr, returns);

	for (size_t i = 0; i < place.count; i++) {
		const struct gostack_line *line = &place.lines[i];

		steps_are("%s %s:%d from %d%s%s%s", line->name ? line->name : "?",
			  line->file ? line->file : "?", line->line, line->start_line,
			  line->inlined ? " inlined" : "", line->wrapper ? " wrapper" : "",
			  line->hidden ? " hidden" : "");
		if (line->call)
			steps_are("call %lx", line->call);
	}
	steps_are("+%lx", place.off);
}

/* All that is known of an address; and as a return address, of the call before it */
static void test_places(void **state)
{
	struct gostack_symbols *syms;
	struct opened o;

	(void)state;
	open_newest(&o);
	syms = gostack_symbols_new(o.img, o.tab);
	say_place(syms, o.g.starts[1] + 24, false);
	steps_expect("main.inl2 b.go:20 from 1 inlined; main.inl1 b.go:20 from 1 inlined; main.b "
		     "b.go:10 from 7; call 401040; +18; ");
	say_place(syms, o.g.starts[1] + 24, true);
	steps_expect("main.inl1 b.go:20 from 1 inlined; main.b b.go:10 from 7; call 401040; +18; ");
	say_place(syms, o.g.starts[2] + 1, false);
	steps_expect("main.c b.go:10 from 7 wrapper; call 401081; +1; ");
	say_place(syms, o.g.starts[2], true);
	steps_expect("main.b b.go:11 from 7; call 40107f; +40; ");
	say_place(syms, C_CODE, true);
	steps_expect("? ?:0 from 0; +0; ");
	gostack_symbols_free(syms);
	close_it(&o);
}

static void test_created(void **state)
{
	struct opened o;

	(void)state;
	open_newest(&o);

	const uint64_t frames[] = {o.g.starts[0] + 1};
	struct gostack stack = {.frames = frames,
				.count = 1,
				.created_by = o.g.starts[1] + 4,
				.parent_goid = 7,
				.cut = true};

	expect_stack(&o, &stack, false,
		     "        main.a +0x1\n        ...\n"
		     "        created by main.b in goroutine 7\n");
	stack.parent_goid = 0;
	stack.cut = false;
	expect_stack(&o, &stack, true,
		     "        0x0000000000401001 main.a +0x1 a.s:10\n"
		     "        0x0000000000401044 created by main.b +0x4 b.go:10\n");
	close_it(&o);
}

/* main.c called main.b called main.a, as far as it can be told */
static void test_ends(void **state)
{
	static const struct {
		unsigned func; /* renamed */
		const char *name, *shown;
	} cases[] = {
		{2, "main.c",
		 "        main.a +0x1\n        main.b +0x1\n        main.c +0x1\n"
		 "        ...\n        created by main.a\n"},
		{1, "runtime.goexit", "        main.a +0x1\n        created by main.a\n"},
		{1, "runtime.mcall",
		 "        main.a +0x1\n        runtime.mcall +0x1\n        created by main.a\n"},
		{0, "runtime.mcall",
		 "        runtime.mcall +0x1\n        main.b +0x1\n        main.c +0x1\n        "
		 "...\n"
		 "        created by runtime.mcall\n"},
		{1, "crosscall2",
		 "        main.a +0x1\n        crosscall2 +0x1\n        ...\n"
		 "        created by main.a\n"},
		/* the first goroutine was created by no statement */
		{0, "runtime.rt0_go",
		 "        runtime.rt0_go +0x1\n        main.b +0x1\n        main.c +0x1\n"
		 "        ...\n"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct opened o;

		gofile_make(&o.g, 27, EM_X86_64);
		rename_func(&o.g, cases[i].func, cases[i].name);
		open_it(&o);

		const uint64_t frames[] = {o.g.starts[0] + 1, o.g.starts[1] + 1, o.g.starts[2] + 1};
		struct gostack stack = {
			.frames = frames, .count = 3, .created_by = o.g.starts[0] + 4, .cut = true};

		expect_stack(&o, &stack, false, cases[i].shown);
		close_it(&o);
	}
}

/* a signal's frame stands on the instruction that was interrupted, not on a call's successor */
static void test_interrupted(void **state)
{
	struct opened o;

	(void)state;
	gofile_make(&o.g, 27, EM_X86_64);
	rename_func(&o.g, 0, "runtime.sigpanic");
	open_it(&o);

	const uint64_t frames[] = {o.g.starts[0] + 1, o.g.starts[1] + 44};
	struct gostack stack = {.frames = frames, .count = 2};

	expect_stack(&o, &stack, false, "        runtime.sigpanic +0x1\n        main.b +0x2c\n");
	close_it(&o);
}

/* Without the runtime's frames; but where there are no others, they are shown. */
static void check_no_runtime(const char *name, const char *shown, const char *alone)
{
	struct opened o;
	char text[128];

	gofile_make(&o.g, 27, EM_X86_64);
	rename_func(&o.g, 0, name);
	open_it(&o);

	const uint64_t frames[] = {o.g.starts[0] + 8, o.g.starts[1] + 1};
	struct gostack stack = {.frames = frames, .count = 2, .no_runtime = true};

	snprintf(text, sizeof(text), "%s        main.b +0x1\n", shown);
	expect_stack(&o, &stack, false, text);
	stack.count = 1;
	expect_stack(&o, &stack, false, alone);
	close_it(&o);
}

static void test_no_runtime(void **state)
{
	(void)state;
	check_no_runtime("runtime.gopanic", "        panic +0x8\n",
			 "        runtime.gopanic +0x8\n");
	check_no_runtime("runtime.growslice", "", "        runtime.growslice +0x8\n");
	check_no_runtime("runtimes.f", "        runtimes.f +0x8\n", "        runtimes.f +0x8\n");
}

static void add_symbols(struct elffile *f)
{
	static const char names[] = "\0c_late\0c_early\0data";
	static const Elf64_Sym syms[] = {
		{0},
		{.st_name = 1, .st_info = STT_FUNC, .st_shndx = 2, .st_value = C_CODE + 0x40},
		{.st_name = 8,
		 .st_info = STT_FUNC,
		 .st_shndx = 2,
		 .st_value = C_CODE,
		 .st_size = 0x10},
		{.st_name = 16, .st_info = STT_OBJECT, .st_shndx = 2, .st_value = C_CODE + 8},
	};
	Elf64_Shdr *sh = elffile_section(f, ".symtab", SYMBOLS, sizeof(syms));

	sh->sh_type = SHT_SYMTAB;
	sh->sh_entsize = sizeof(*syms);
	sh->sh_link = f->nsections;
	elffile_bytes(f, SYMBOLS, syms, sizeof(syms));
	sh = elffile_section(f, ".strtab", SYMBOLS + 0x100, sizeof(names));
	sh->sh_type = SHT_STRTAB;
	elffile_bytes(f, SYMBOLS + 0x100, names, sizeof(names));
}

static void test_symbols(void **state)
{
	static const uint64_t frames[] = {C_CODE, C_CODE + 0x10, C_CODE + 0x11, C_CODE + 0x55, 1};
	struct gostack stack = {.frames = frames, .count = 5};
	struct opened o;

	(void)state;
	gofile_make(&o.g, 27, EM_X86_64);
	add_symbols(o.g.f);
	open_it(&o);
	expect_stack(&o, &stack, false,
		     "        c_early +0x0\n        c_early +0x10\n"
		     "        0x0000000000401811 [unknown]\n        c_late +0x15\n"
		     "        0x0000000000000001 [unknown]\n");
	close_it(&o);
	open_newest(&o);
	stack.count = 1;
	stack.created_by = C_CODE + 1;
	expect_stack(&o, &stack, true,
		     "        0x0000000000401800 [unknown]\n"
		     "        0x0000000000401801 created by [unknown] +0x0\n");
	close_it(&o);
}

/* more addresses than are remembered */
static void test_many(void **state)
{
	struct gostack_symbols *syms;
	struct printed p;
	struct opened o;
	char text[64];

	(void)state;
	gofile_make(&o.g, 27, EM_X86_64);
	add_symbols(o.g.f);
	open_it(&o);
	syms = gostack_symbols_new(o.img, o.tab);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned off = 0; off < 0x700; off++) {
			const uint64_t frames[] = {C_CODE + 0x40 + off};
			struct gostack stack = {.frames = frames, .count = 1};

			begin(&p);
			gostack_print(p.out, &stack, syms, false);
			snprintf(text, sizeof(text), "        c_late +0x%x\n", off);
			expect(&p, text);
		}
	}
	gostack_symbols_free(syms);
	close_it(&o);
}

static void test_json(void **state)
{
	struct opened o;

	(void)state;
	open_newest(&o);

	const uint64_t frames[] = {o.g.starts[1] + 4, C_CODE};
	struct gostack stack = {.frames = frames, .count = 2};

	expect_json(&o, &stack,
		    "{\"stack\":[{\"addr\":4198468,\"func\":\"main.inl1\",\"off\":4,"
		    "\"file\":\"b.go\",\"line\":20,\"inlined\":true},"
		    "{\"addr\":4198468,\"func\":\"main.b\",\"off\":4,\"file\":\"b.go\","
		    "\"line\":10},{\"addr\":4200448,\"func\":null}]}\n");
	stack.count = 0;
	stack.cut = true;
	stack.created_by = o.g.starts[0] + 1;
	stack.parent_goid = 3;
	expect_json(&o, &stack,
		    "{\"stack\":[],\"stack_cut\":true,\"created_by\":{\"addr\":4198401,"
		    "\"func\":\"main.a\",\"off\":1,\"file\":\"a.s\",\"line\":10,\"goid\":3}}\n");
	close_it(&o);
}

/* a node that is its own caller's callee, in a circle: it ends all the same */
static void test_endless_tree(void **state)
{
	struct gostack_symbols *syms;
	struct printed p;
	struct opened o;

	(void)state;
	gofile_make(&o.g, 27, EM_X86_64);
	elffile_u32(o.g.f, GOFILE_TREE + 8, 24); /* inl1 is called from within inl2 */
	open_it(&o);

	const uint64_t frames[] = {o.g.starts[1] + 24};
	struct gostack stack = {.frames = frames, .count = 1};

	syms = gostack_symbols_new(o.img, o.tab);
	begin(&p);
	gostack_print(p.out, &stack, syms, true);
	fclose(p.out);
	assert_in_range(p.len, 100, 100000);
	free(p.text);
	gostack_symbols_free(syms);
	close_it(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),    cmocka_unit_test(test_probed),
		cmocka_unit_test(test_created),    cmocka_unit_test(test_places),
		cmocka_unit_test(test_ends),       cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_no_runtime), cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_json),       cmocka_unit_test(test_endless_tree),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
