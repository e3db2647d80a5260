// SPDX-License-Identifier: Apache-2.0
/* Files of gccgo: the function table made of symbols, libraries, the runtime, sites. */
#include "elf/dynlink.h"
#include "elffile.h"
#include "machine/insn.h"
#include "program/functab_internal.h"
#include "program/toolchain.h"
#include "program/program.h"
#include "sites/site.h"
#include "sites/splitstack_internal.h"
#include "unit.h"

/* --- symbols --- */

enum { NAMES = ELFFILE_RODATA + 0x400, TYPES = ELFFILE_DATA };

struct symbols {
	struct elffile *f;
	Elf64_Shdr *table, *names;
	unsigned count, len;
};

static void add(struct symbols *s, const char *name, unsigned type, uint64_t addr, uint64_t size)
{
	const Elf64_Sym sym = {.st_name = s->len,
			       .st_info = type,
			       .st_shndx = 1,
			       .st_value = addr,
			       .st_size = size};

	elffile_bytes(s->f, ELFFILE_RODATA + s->count++ * sizeof(sym), &sym, sizeof(sym));
	elffile_bytes(s->f, NAMES + s->len, name, strlen(name) + 1);
	s->len += strlen(name) + 1;
	s->table->sh_size = s->count * sizeof(sym);
	s->names->sh_size = s->len;
}

static struct symbols symbols_new(void)
{
	struct symbols s = {.f = elffile_new(EM_X86_64), .len = 1};

	s.table = elffile_section(s.f, ".symtab", ELFFILE_RODATA, 0);
	s.table->sh_type = SHT_SYMTAB;
	s.table->sh_entsize = sizeof(Elf64_Sym);
	s.table->sh_link = s.f->nsections;
	s.names = elffile_section(s.f, ".strtab", NAMES, 1);
	s.names->sh_type = SHT_STRTAB;
	add(&s, "", 0, 0, 0);
	return s;
}

/* the descriptor of main.T, whose values have method V */
static void add_type(struct symbols *s)
{
	uint64_t uncommon = TYPES + 0x100, methods = TYPES + 0x200, string = TYPES + 0x300;

	add(s, "main.T..d", STT_OBJECT, TYPES, 88);
	elffile_u64(s->f, TYPES + 48, uncommon);
	elffile_u64(s->f, uncommon + 16, methods);
	elffile_u64(s->f, uncommon + 24, 1);
	elffile_u64(s->f, methods, string);
	elffile_u64(s->f, string, string + 16);
	elffile_u64(s->f, string + 8, 1);
	elffile_bytes(s->f, string + 16, "V", 1);
}

static void check_name(const struct functab *tab, size_t index, const char *name, uint64_t addr,
		       uint64_t end)
{
	struct functab_func fn;

	assert_true(functab_func(tab, index, &fn));
	assert_string_equal(fn.name, name);
	assert_int_equal(fn.addr, ELFFILE_TEXT + addr);
	assert_int_equal(fn.end, ELFFILE_TEXT + end);
}

static void add_functions(struct symbols *s)
{
	add(s, "__go_init_main", STT_FUNC, ELFFILE_TEXT, 0x10);
	add(s, "main.T.P", STT_FUNC, ELFFILE_TEXT + 0x20, 0x10);
	add(s, "main.T.V", STT_FUNC, ELFFILE_TEXT + 0x10, 0x18); /* into the next */
	add(s, "main.U.M", STT_FUNC, ELFFILE_TEXT + 0x30, 0x10);
	add(s, "main.f.isra.0", STT_FUNC, ELFFILE_TEXT + 0x40, 0x10);
	add(s, "main.f.isra.0.cold", STT_FUNC, ELFFILE_TEXT + 0x50, 0x10);
	add(s, "main.cold", STT_FUNC, ELFFILE_TEXT + 0x60, 0x10);
	add(s, "memcpy", STT_FUNC, ELFFILE_TEXT + 0x70, 0x10);
	add(s, "main.g", STT_FUNC, ELFFILE_TEXT + 0x80, UINT64_MAX);
	add(s, "main.g.localalias", STT_FUNC, ELFFILE_TEXT + 0x80, 0x10);
	add(s, "main.empty", STT_FUNC, ELFFILE_TEXT + 0x90, 0);
	add(s, "main.elsewhere", STT_FUNC, ELFFILE_DATA + 8, 0x10);
	add(s, "main.nowhere", STT_FUNC, UINT64_MAX - 8, 0x10);
}

static void test_functions(void **state)
{
	struct symbols s = symbols_new();
	struct functab_func fn;
	struct errmsg err;
	int32_t bytes;

	(void)state;
	add_functions(&s);
	add_type(&s);

	struct image *img = elffile_open(s.f, &err);
	struct functab *tab = functab_open(img, &err);

	assert_non_null(tab);
	assert_true(functab_toolchain(tab) == &toolchain_gccgo);
	assert_int_equal(functab_count(tab), 7);
	check_name(tab, 0, "main.init", 0, 0x10);
	check_name(tab, 1, "main.T.V", 0x10, 0x20);
	check_name(tab, 2, "main.(*T).P", 0x20, 0x30);
	check_name(tab, 3, "main.U.M", 0x30, 0x40); /* nothing is known of U */
	check_name(tab, 4, "main.f", 0x40, 0x50);
	check_name(tab, 5, "main.cold", 0x60, 0x70);
	check_name(tab, 6, "main.g", 0x80, 0x80 + image_left(img, ELFFILE_TEXT + 0x80));
	assert_false(functab_func(tab, 7, &fn));
	assert_true(functab_find(tab, ELFFILE_TEXT + 0x2f, &fn) && fn.index == 2);
	assert_false(functab_find(tab, ELFFILE_TEXT + 0x55, &fn));
	assert_false(functab_find(tab, ELFFILE_TEXT - 1, &fn));
	assert_true(functab_named(tab, "main.f", &fn) && fn.is_clone);
	assert_false(functab_sp_delta(tab, &fn, fn.addr, &bytes));
	assert_int_equal(functab_inlined_count(tab, &fn), 0);
	assert_int_equal(functab_funcdata(tab, &fn, 0), 0);
	functab_close(tab);
	image_close(img);
	elffile_free(s.f);
}

/* What the compiler has made for another function */
static void test_wrappers(void **state)
{
	static const struct {
		const char *symbol;
		bool is_wrapper, is_clone;
	} rows[] = {{"__go_init_main", false, false},
		    {"main.E.Bar..stub", true, false},
		    {"main.go..thunk3", true, false},
		    {"main.f", false, false},
		    {"main.g.constprop.0", false, true}};
	enum { COUNT = sizeof(rows) / sizeof(*rows) };
	struct symbols s = symbols_new();
	struct errmsg err;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		add(&s, rows[i].symbol, STT_FUNC, ELFFILE_TEXT + 0x10 * i, 0x10);

	struct image *img = elffile_open(s.f, &err);
	struct functab *tab = functab_open(img, &err);

	assert_non_null(tab);
	assert_int_equal(functab_count(tab), COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		struct functab_func fn;

		assert_true(functab_func(tab, i, &fn));
		assert_int_equal(fn.is_wrapper, rows[i].is_wrapper);
		assert_int_equal(fn.is_clone, rows[i].is_clone);
	}
	functab_close(tab);
	image_close(img);
	elffile_free(s.f);
}

static void test_not_gccgo(void **state)
{
	struct symbols s = symbols_new();
	struct errmsg err;

	(void)state;
	add(&s, "main.main", STT_FUNC, ELFFILE_TEXT, 0x10);

	struct image *img = elffile_open(s.f, &err);

	assert_null(functab_open(img, &err));
	assert_non_null(strstr(err.text, "not a Go program"));
	image_close(img);
	elffile_free(s.f);
}

/* a descriptor of nonsense is none */
static void test_bad_type(void **state)
{
	static const uint64_t wrong[][2] = {{TYPES + 48, 8},
					    {TYPES + 0x100 + 16, UINT64_MAX - 8},
					    {TYPES + 0x200, 1},
					    {TYPES + 0x300, UINT64_MAX},
					    {TYPES + 0x308, UINT64_MAX}};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct symbols s = symbols_new();
		struct errmsg err;

		add_functions(&s);
		add_type(&s);
		elffile_u64(s.f, TYPES + 0x118, UINT64_MAX); /* very many methods */
		elffile_u64(s.f, wrong[i][0], wrong[i][1]);

		struct image *img = elffile_open(s.f, &err);
		struct functab *tab = functab_open(img, &err);

		check_name(tab, 1, "main.(*T).V", 0x10, 0x20);
		functab_close(tab);
		image_close(img);
		elffile_free(s.f);
	}
}

/* --- the dynamic linker's --- */

static struct image *open_dynamic(struct elffile *f, uint64_t strings, uint64_t relocs)
{
	static const char names[] = "\0libc.so.6\0libgo.so.21\0runtime.g\0main.x";
	const Elf64_Dyn dyn[] = {{DT_NEEDED, {1}},
				 {DT_NEEDED, {11}},
				 {DT_STRTAB, {ELFFILE_RODATA}},
				 {DT_STRSZ, {strings}},
				 {DT_SYMTAB, {ELFFILE_RODATA + 0x100}},
				 {DT_RELA, {ELFFILE_RODATA + 0x200}},
				 {DT_RELASZ, {relocs}},
				 {DT_NULL, {0}}};
	const Elf64_Sym syms[] = {{0},
				  {.st_name = 23},
				  {.st_name = 33, .st_shndx = 1, .st_value = 7},
				  {.st_name = 999}};
	const Elf64_Rela rela[] = {
		{0x10, ELF64_R_INFO(0, R_X86_64_RELATIVE), 1},
		{0x20, ELF64_R_INFO(1, R_X86_64_DTPMOD64), 0},
		{0x30, ELF64_R_INFO(2, R_X86_64_64), 5},
		{0x40, ELF64_R_INFO(3, R_X86_64_64), 0},         /* no such name */
		{0x50, ELF64_R_INFO(0x7fffffff, R_X86_64_64), 0} /* no such symbol */
	};

	elffile_bytes(f, ELFFILE_DATA, dyn, sizeof(dyn));
	elffile_bytes(f, ELFFILE_RODATA, names, sizeof(names));
	elffile_bytes(f, ELFFILE_RODATA + 0x100, syms, sizeof(syms));
	elffile_bytes(f, ELFFILE_RODATA + 0x200, rela, sizeof(rela));
	*elffile_segment(f, elffile_header(f)->e_phnum++) =
		(Elf64_Phdr){.p_type = PT_DYNAMIC,
			     .p_offset = ELFFILE_DATA - 0x400000,
			     .p_vaddr = ELFFILE_DATA,
			     .p_filesz = sizeof(dyn),
			     .p_memsz = sizeof(dyn)};
	return elffile_open(f, NULL);
}

static bool see(const struct dynlink_reloc *reloc, void *ctx)
{
	char *seen = ctx;

	snprintf(seen + strlen(seen), 100, "%x %s %d %d; ", (int)reloc->addr, reloc->symbol.name,
		 reloc->symbol.defined, (int)reloc->addend);
	return true;
}

static void test_dynlink(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct image *img = open_dynamic(f, 40, 5 * 24);
	char seen[400] = "";

	(void)state;
	dynlink_each(img, see, seen);
	assert_string_equal(seen, "20 runtime.g 0 0; 30 main.x 1 5; ");
	assert_string_equal(dynlink_needs(img, "libgo.so."), "libgo.so.21");
	assert_null(dynlink_needs(img, "libm"));
	image_close(img);
	elffile_free(f);
}

static void test_dynlink_malformed(void **state)
{
	static const uint64_t sizes[][2] = {
		{0, 5 * 24}, {12, 5 * 24}, {UINT64_MAX, UINT64_MAX}, {40, 23}, {40, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct elffile *f = elffile_new(EM_X86_64);
		struct image *img = open_dynamic(f, sizes[i][0], sizes[i][1]);
		char seen[4000] = "";

		dynlink_each(img, see, seen);
		dynlink_needs(img, "libgo.so.");
		assert_true(i == 2 || !*seen);
		image_close(img);
		elffile_free(f);
	}
}

/* --- sites --- */

#define CHECK "\x64\x48\x3b\x24\x25\x70\0\0\0" /* cmp rsp, fs:0x70 */
#define GROW                                                                                       \
	"\x41\xba\x08\0\0\0" /* mov r10d, 8 */                                                     \
	"\x45\x31\xdb"       /* xor r11d, r11d */                                                  \
	"\xe8\0\0\1\0"       /* call __morestack */                                                \
	"\xc3"               /* its ret */

static const struct split_case {
	const char *what, *code;
	size_t len;
	int64_t body, ret; /* -1: no check */
} split_cases[] = {
#define TEXT(text) text, sizeof(text) - 1
	{"jb", TEXT(CHECK "\x72\x03\x55\x5d\xc3" GROW "\xeb\xec"), 11, 28},
	{"jae", TEXT(CHECK "\x73\x0f" GROW "\x55\x5d\xc3"), 26, 25},
	{"large frame",
	 TEXT("\x4c\x8d\x9c\x24\0\0\xff\xff"   /* lea r11, [rsp-0x10000] */
	      "\x64\x4c\x3b\x1c\x25\x70\0\0\0" /* cmp r11, fs:0x70 */
	      "\x73\x0f" GROW "\x55\x5d\xc3"),
	 34, 33},
	{"endbr64", TEXT("\xf3\x0f\x1e\xfa" CHECK "\x73\x0f" GROW "\x55\x5d\xc3"), 30, 29},
	{"another word of the thread's",
	 TEXT("\x64\x48\x3b\x24\x25\x28\0\0\0\x73\x0f" GROW "\x55\x5d\xc3"), -1, -1},
	{"back to elsewhere", TEXT(CHECK "\x72\x03\x55\x5d\xc3" GROW "\xeb\xed"), -1, -1},
	{"no ret after the call",
	 TEXT(CHECK "\x73\x0f\x41\xba\x08\0\0\0\x45\x31\xdb\xe8\0\0\1\0\x90\x55\x5d\xc3"), -1, -1},
	{"cut short", TEXT(CHECK "\x73"), -1, -1},
	{"nothing", TEXT(CHECK), -1, -1},
};

static void test_splitstack(void **state)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);

	(void)state;
	for (size_t i = 0; i < sizeof(split_cases) / sizeof(*split_cases); i++) {
		const struct split_case *c = &split_cases[i];
		struct insn_code code = {(const uint8_t *)c->code, c->len, ELFFILE_TEXT};
		struct splitstack split;
		bool found = splitstack_find(dec, &code, &split);

		if (found != (c->body >= 0))
			fail_msg("%s: %sfound", c->what, found ? "" : "not ");
		if (found && (split.body.addr != ELFFILE_TEXT + (uint64_t)c->body ||
			      split.ret != ELFFILE_TEXT + (uint64_t)c->ret))
			fail_msg("%s: body %#lx, ret %#lx", c->what, split.body.addr, split.ret);
	}
	insn_decoder_free(dec);
}

static const struct site_case {
	const char *what, *code;
	size_t len;
	bool want_args;
	int64_t at; /* -1: none */
	int32_t adjust;
	unsigned rets; /* 0: not known */
} site_cases[] = {
	{"push", TEXT(CHECK "\x73\x0f" GROW "\x55\x5d\xc3"), true, 26, 0, 1},
	{"push after sub and mov",
	 TEXT(CHECK "\x73\x0f" GROW "\x48\x83\xec\x18\x48\x89\xf8\x55\xc3"), true, 33, 24, 1},
	{"push after an argument is gone", TEXT(CHECK "\x73\x0f" GROW "\x48\x89\xc2\x55\xc3"), true,
	 26, 0, 1},
	{"the same, for counting", TEXT(CHECK "\x73\x0f" GROW "\x48\x89\xc2\x55\xc3"), false, 29, 0,
	 1},
	{"a loop's", TEXT(CHECK "\x73\x0f" GROW "\x48\xff\xcf\x75\xfb\xc3"), false, -1, 0, 1},
	{"jumps elsewhere", TEXT(CHECK "\x73\x0f" GROW "\x55\x5d\xe9\0\1\0\0"), true, 26, 0, 0},
	{"an indirect jump", TEXT(CHECK "\x73\x0f" GROW "\x55\x5d\xff\xe0"), true, 26, 0, 0},
	{"an indirect jump, and no push", TEXT(CHECK "\x73\x0f" GROW "\x48\x89\xf8\xff\xe0"), true,
	 -1, 0, 0},
	{"a switch", TEXT(CHECK "\x73\x0f" GROW "\x55\x5d\x48\x63\x04\x82\x48\x01\xd0\xff\xe0\xc3"),
	 true, 26, 0, 1},
};

static void check_site(const struct site_case *c)
{
	struct symbols s = symbols_new();
	struct functab_func fn;
	struct site_list rets = {0};
	struct errmsg err;
	const char *reason = NULL;
	struct site site;

	add(&s, "__go_init_main", STT_FUNC, ELFFILE_TEXT, c->len);
	elffile_bytes(s.f, ELFFILE_TEXT, c->code, c->len);

	struct image *img = elffile_open(s.f, &err);
	struct functab *tab = functab_open(img, &err);
	struct site_finder *finder = site_finder_new(&(struct program){.img = img, .tab = tab});

	assert_true(functab_func(tab, 0, &fn));
	int ret = site_entry(finder, &fn, c->want_args, &site, &reason);

	if (ret != (c->at < 0 ? -1 : 0))
		fail_msg("%s: %d, %s", c->what, ret, reason);
	if (!ret && (site.addr != ELFFILE_TEXT + (uint64_t)c->at || site.sp_adjust != c->adjust))
		fail_msg("%s: at %#lx, %d", c->what, site.addr, site.sp_adjust);
	site_returns(finder, &fn, &rets, &reason);
	if (rets.count != c->rets)
		fail_msg("%s: %zu returns, %s", c->what, rets.count, reason);
	free(rets.items);
	site_finder_free(finder);
	functab_close(tab);
	image_close(img);
	elffile_free(s.f);
}

static void test_sites(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(site_cases) / sizeof(*site_cases); i++)
		check_site(&site_cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),  cmocka_unit_test(test_wrappers),
		cmocka_unit_test(test_not_gccgo),  cmocka_unit_test(test_bad_type),
		cmocka_unit_test(test_dynlink),    cmocka_unit_test(test_dynlink_malformed),
		cmocka_unit_test(test_splitstack), cmocka_unit_test(test_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
