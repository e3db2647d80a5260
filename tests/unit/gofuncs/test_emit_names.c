// SPDX-License-Identifier: Apache-2.0
/* Scripts for other tracers: offsets that they would mistake, and names and paths that are not
 * ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/image.h"
#include "gofuncs/emit.h"
#include "gofuncs/emit_spans_internal.h"
#include "listing.h"
#include "steps.h"
#include "unit.h"

static char *written(struct listing *l, enum emit_tracer tracer)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	l->err = (struct errmsg){0};
	if (emit_print(out, l->sel, tracer, &l->err))
		fail_msg("%s", l->err.text);
	fclose(out);
	return text;
}

/* --- what bpftrace takes an offset for --- */

/* A program with symbols of 0x100 bytes at these addresses */
static void open_with_symbols(struct listing *l, const uint64_t *addrs, size_t count)
{
	static const char names[] = "\0x";
	enum { SYMBOLS = ELFFILE_RODATA + 0xc00 };

	listing_write(l, "t", "s");
	Elf64_Shdr *sh =
		elffile_section(l->d.g.f, ".symtab", SYMBOLS, (count + 1) * sizeof(Elf64_Sym));

	sh->sh_type = SHT_SYMTAB;
	sh->sh_entsize = sizeof(Elf64_Sym);
	sh->sh_link = l->d.g.f->nsections;
	for (size_t i = 0; i < count; i++) {
		const Elf64_Sym sym = {.st_name = 1,
				       .st_info = STT_FUNC,
				       .st_shndx = 2,
				       .st_value = addrs[i],
				       .st_size = 0x100};

		elffile_bytes(l->d.g.f, SYMBOLS + (i + 1) * sizeof(sym), &sym, sizeof(sym));
	}
	sh = elffile_section(l->d.g.f, ".strtab", SYMBOLS + 0x100, sizeof(names));
	sh->sh_type = SHT_STRTAB;
	elffile_bytes(l->d.g.f, SYMBOLS + 0x100, names, sizeof(names));
	listing_read(l);
	listing_add(l, "main.a");
}

static void test_spans(void **state)
{
	static const uint64_t addrs[] = {0x5000, 0x1000, 0x1080, 0x401000};
	struct emit_spans spans;
	struct listing l;

	(void)state;
	open_with_symbols(&l, addrs, 4);
	emit_spans_read(l.prog.img, &spans);
	assert_int_equal(spans.count, 3); /* those that overlap are one */
	assert_false(emit_spans_cover(&spans, 0xfff));
	assert_true(emit_spans_cover(&spans, 0x1000));
	assert_true(emit_spans_cover(&spans, 0x117f));
	assert_false(emit_spans_cover(&spans, 0x1180));
	assert_true(emit_spans_cover(&spans, 0x50ff));
	assert_false(emit_spans_cover(&spans, 0x5100));
	assert_true(emit_spans_cover(&spans, 0x401000));
	assert_false(emit_spans_cover(&spans, UINT64_MAX));
	emit_spans_free(&spans);
	listing_close(&l);
}

/* What lies in a symbol it takes as an address: that is given then, if it lies in one too; where it
 * does not, bpftrace would probe another place. */
static void test_symbols(void **state)
{
	static const uint64_t both[] = {0x1000, 0x401000}, offset[] = {0x1000}, addr[] = {0x401000};
	struct listing l;

	(void)state;
	open_with_symbols(&l, both, 2);
	char *text = written(&l, EMIT_BPFTRACE);

	assert_non_null(strstr(text, "// 2 of them are in symbols"));
	assert_non_null(strstr(text, "uprobe:/proc/1/exe:0x401000 {"));
	assert_non_null(strstr(text, "uprobe:/proc/1/exe:0x401005 {"));
	free(text);
	listing_close(&l);
	open_with_symbols(&l, offset, 1);
	text = written(&l, EMIT_BPFTRACE);
	assert_non_null(strstr(
		text, "// main.a: left out: its offsets are also addresses of other symbols\n"));
	assert_null(strstr(text, "uprobe:"));
	free(text);
	text = written(&l, EMIT_UPROBE_EVENTS);
	assert_non_null(strstr(text, "p:gotools/main_a /proc/1/exe:0x1000 "));
	free(text);
	listing_close(&l);
	open_with_symbols(&l, addr, 1);
	text = written(&l, EMIT_BPFTRACE);
	assert_non_null(strstr(text, "uprobe:/proc/1/exe:0x1000 {"));
	free(text);
	listing_close(&l);
}

/* --- names that are not ours --- */

/* A function, a parameter, a type's field: what stands outside of comments and strings is none of
 * them. */
static void test_hostile(void **state)
{
	static const enum emit_tracer tracers[] = {EMIT_BPFTRACE, EMIT_LATENCY,       EMIT_ARGS,
						   EMIT_SKELETON, EMIT_UPROBE_EVENTS, EMIT_PERF};
	struct listing l;

	(void)state;
	listing_open(&l, "p\nBEGIN{}", "f\"*/\n`x`\xe2\x80\xa8");
	listing_add(&l, "main.b");
	((char *)l.sel->rows[0].name)[4] = '\n'; /* main.b */
	for (size_t i = 0; i < sizeof(tracers) / sizeof(*tracers); i++) {
		char *text = written(&l, tracers[i]);

		assert_null(strstr(text, "\nb"));
		assert_null(strstr(text, "\nBEGIN{}"));
		assert_null(strstr(text, "*/\n"));
		assert_null(strstr(text, "\xe2\x80\xa8"));
		assert_true(i < 4 || !strpbrk(text, "`\""));
		assert_non_null(strstr(text, "main\\nb\n")); /* in a comment */
		free(text);
	}
	listing_close(&l);
}

static void test_paths(void **state)
{
	static const char *const paths[] = {"/proc/1/root/a b", "/proc/1/root/a'b",
					    "/proc/1/root/a\nb", "/proc/1/root/a:b",
					    "/proc/1/root/$(x)"};
	struct listing l;
	char *text = NULL;
	size_t len;

	(void)state;
	listing_open(&l, "t", "s");
	listing_add(&l, "main.a");
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		FILE *out = open_memstream(&text, &len);

		l.prog.path = paths[i];
		assert_int_equal(emit_print(out, l.sel, EMIT_PERF, &l.err), -1);
		fclose(out);
		assert_string_equal(text, "");
		assert_non_null(strstr(l.err.text, "other tracers cannot take such a path"));
		free(text);
	}
	listing_close(&l);
}

static void test_parse(void **state)
{
	static const struct {
		const char *name;
		enum emit_tracer tracer;
	} good[] = {
		{"bpftrace", EMIT_BPFTRACE},
		{"bpftrace:count", EMIT_BPFTRACE},
		{"bpftrace:latency", EMIT_LATENCY},
		{"bpftrace:args", EMIT_ARGS},
		{"bpftrace:skeleton", EMIT_SKELETON},
		{"uprobe_events", EMIT_UPROBE_EVENTS},
		{"perf", EMIT_PERF},
	};
	static const char *const bad[] = {"", "bpf", "bpftrace:", "perf:args", "PERF", "uprobe"};
	struct errmsg err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		enum emit_tracer got = EMIT_NONE;

		assert_int_equal(emit_parse(good[i].name, &got, &err), 0);
		assert_int_equal(got, good[i].tracer);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		enum emit_tracer got = EMIT_NONE;

		assert_int_equal(emit_parse(bad[i], &got, &err), -1);
		assert_int_equal(got, EMIT_NONE);
		assert_non_null(strstr(err.hint, "bpftrace:skeleton"));
	}
}

/* Nothing is nothing. */
static void test_empty(void **state)
{
	struct listing l;

	(void)state;
	listing_open(&l, "t", "s");
	char *text = written(&l, EMIT_BPFTRACE);

	assert_string_equal(text, "");
	free(text);
	listing_close(&l);
}

/* --- events --- */

static void add_functions(struct listing *l)
{
	listing_add(l, "main.a");
	listing_add(l, "main.b");
	listing_add(l, "main.c");
}

static void expect_events(struct listing *l, const char *wanted)
{
	char *text = written(l, EMIT_UPROBE_EVENTS);

	for (char *end = text; (end = strchr(end, '\n'));)
		*end = '|';
	steps_are("%s", text);
	free(text);
	listing_close(l);
	steps_expect(wanted);
}

/* Results are there where a call returns, not where it goes on in another function. */
static void test_results(void **state)
{
	struct listing l;
	struct dwarffile *d = &l.d;
	const uint8_t jump[] = {0x55, 0x5d, 0xe9, 0, 0, 0, 0}; /* push; pop; jmp main.a */

	(void)state;
	listing_write(&l, NULL, NULL);
	elffile_bytes(d->g.f, d->g.starts[2], jump, sizeof(jump));
	elffile_u32(d->g.f, d->g.starts[2] + 3, (uint32_t)(d->g.starts[0] - d->g.starts[2] - 7));
	dwarffile_begin(d, "main", "main");
	uint32_t whole = dwarffile_base(d, "int", 8, DWARFFILE_INT);

	for (unsigned i = 1; i <= 2; i++) {
		dwarffile_func(d, i == 1 ? "main.b" : "main.c", d->g.starts[i]);
		dwarffile_param(d, "x", whole, false);
		dwarffile_param(d, "~r0", whole, true);
		dwarffile_close(d);
	}
	dwarffile_end(d);
	listing_read(&l);
	add_functions(&l);
	expect_events(
		&l, "# main.a|p:gotools/main_a /proc/1/exe:0x1000 "
		    "goid=+152(%r14):u64|p:gotools/main_a_return /proc/1/exe:0x1005 "
		    "goid=+152(%r14):u64|# main.b|p:gotools/main_b /proc/1/exe:0x1040 "
		    "goid=+152(%r14):u64 x=+8(%sp):s64|p:gotools/main_b_return /proc/1/exe:0x106c "
		    "goid=+152(%r14):u64 ret1=+16(%sp):s64|# main.c|p:gotools/main_c "
		    "/proc/1/exe:0x1080 goid=+152(%r14):u64 x=+8(%sp):s64|p:gotools/main_c_end "
		    "/proc/1/exe:0x1082 goid=+152(%r14):u64|; ");
}

/* The last 40 bytes of a function's name, as far as they are letters and digits; each once. */
static void test_event_names(void **state)
{
	static const char *const names[] = {
		"main.(*T).Get", "main.T.Get", "main..T.Get.",
		"...",           "1.a",        "example.com/a/bc.defghijklmnopqrstuvwxyz01234.last",
	};
	struct listing l;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i += 3) {
		listing_open(&l, "t", "s");
		add_functions(&l);
		for (size_t k = 0; k < 3; k++)
			l.sel->rows[k].name = names[i + k];
		expect_events(
			&l, i ? "# ...|p:gotools/f /proc/1/exe:0x1000 goid=+152(%r14):u64 "
				"n=+8(%sp):s8 p=+16(%sp):x64|p:gotools/f_return /proc/1/exe:0x1005 "
				"goid=+152(%r14):u64|# 1.a|p:gotools/f1_a /proc/1/exe:0x1040 "
				"goid=+152(%r14):u64 t_0=%ax:x64 t_1=%bx:x64|p:gotools/f1_a_return "
				"/proc/1/exe:0x106c goid=+152(%r14):u64|# "
				"example.com/a/bc.defghijklmnopqrstuvwxyz01234.last: calls never "
				"return|p:gotools/m_a_bc_defghijklmnopqrstuvwxyz01234_last "
				"/proc/1/exe:0x1080 goid=+152(%r14):u64|; "
			      : "# main.(*T).Get|p:gotools/main_T_Get /proc/1/exe:0x1000 "
				"goid=+152(%r14):u64 n=+8(%sp):s8 "
				"p=+16(%sp):x64|p:gotools/main_T_Get_return /proc/1/exe:0x1005 "
				"goid=+152(%r14):u64|# main.T.Get|p:gotools/main_T_Get_2 "
				"/proc/1/exe:0x1040 goid=+152(%r14):u64 t_0=%ax:x64 "
				"t_1=%bx:x64|p:gotools/main_T_Get_2_return /proc/1/exe:0x106c "
				"goid=+152(%r14):u64|# main..T.Get.: calls never "
				"return|p:gotools/main_T_Get_3 /proc/1/exe:0x1080 "
				"goid=+152(%r14):u64|; ");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans),   cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_paths),
		cmocka_unit_test(test_parse),   cmocka_unit_test(test_empty),
		cmocka_unit_test(test_results), cmocka_unit_test(test_event_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
