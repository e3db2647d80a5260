// SPDX-License-Identifier: Apache-2.0
/* All that is known of the runtime of a program that gc built: by its release, by its code, and
 * where calls end without a return. The functions and their sites are of this test's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "elf/image.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "sites/goruntime_internal.h"
#include "sites/site.h"
#include "steps.h"
#include "unit.h"

enum { FUNC_SIZE = 0x100, TEXT = 0x401000, FUNCS_MAX = 12 };

/* code in hex; P: the distance to runtime.printint, U: to runtime.printuint, N: to another */
struct func {
	const char *name, *code;
};

static struct world {
	enum arch arch;
	const struct func *funcs; /* a NULL name ends them */
	uint8_t code[FUNCS_MAX][FUNC_SIZE];
	size_t len[FUNCS_MAX];
	bool no_code, no_entries;
} world;

enum arch image_arch(const struct image *img)
{
	(void)img;
	return world.arch;
}

const void *image_at(const struct image *img, uint64_t addr, uint64_t len)
{
	(void)img;
	(void)len;
	return world.no_code ? NULL : world.code[(addr - TEXT) / FUNC_SIZE];
}

static size_t func_count(void)
{
	size_t count = 0;

	while (world.funcs[count].name)
		count++;
	return count;
}

size_t functab_count(const struct functab *tab)
{
	(void)tab;
	return func_count();
}

bool functab_func(const struct functab *tab, size_t index, struct functab_func *out)
{
	(void)tab;
	*out = (struct functab_func){.name = world.funcs[index].name,
				     .addr = TEXT + index * FUNC_SIZE};
	out->end = out->addr + world.len[index];
	return strcmp(out->name, "broken") != 0;
}

bool functab_named(const struct functab *tab, const char *name, struct functab_func *out)
{
	for (size_t i = 0; i < func_count(); i++)
		if (functab_func(tab, i, out) && !strcmp(out->name, name))
			return true;
	return false;
}

bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *out)
{
	return addr >= TEXT && (addr - TEXT) / FUNC_SIZE < func_count() &&
	       functab_func(tab, (addr - TEXT) / FUNC_SIZE, out);
}

void goruntime_read_gccgo(const struct program *prog, struct site_finder *finder,
			  struct goruntime *out)
{
	(void)prog;
	(void)finder;
	*out = (struct goruntime){.split_stack = true};
	steps_are("gccgo");
}

int site_call(struct site_finder *finder, const struct functab_func *fn, const char *callee,
	      struct site *out)
{
	(void)finder;
	if (steps_are("call %s %s", fn->name, callee))
		return -1;
	*out = (struct site){.addr = fn->addr - TEXT + 8, .kind = SITE_CALL};
	return 0;
}

int site_entry(struct site_finder *finder, const struct functab_func *fn, bool want_args,
	       struct site *out, const char **reason)
{
	(void)finder;
	(void)reason;
	out->addr = fn->addr - TEXT + 4;
	out->kind = SITE_AFTER_CHECK;
	steps_are("entry %s%s", fn->name, want_args ? " args" : "");
	return world.no_entries ? -1 : 0;
}

static size_t index_of(const char *name)
{
	size_t i = 0;

	while (world.funcs[i].name && strcmp(world.funcs[i].name, name) != 0)
		i++;
	return i;
}

static const char *callee_of(char letter)
{
	return letter == 'P'   ? "runtime.printint"
	       : letter == 'U' ? "runtime.printuint"
			       : "runtime.printlock";
}

static size_t bytes_of(size_t func, const char *hex)
{
	uint8_t *out = world.code[func];
	size_t len = 0;

	for (; *hex; hex++) {
		unsigned byte;

		if (strchr("PUN", *hex)) {
			uint32_t distance =
				(uint32_t)((index_of(callee_of(*hex)) - func) * FUNC_SIZE - len -
					   4);

			memcpy(out + len, &distance, 4);
			len += 4;
		} else if (*hex != ' ' && sscanf(hex, "%2x", &byte) == 1) {
			out[len++] = (uint8_t)byte;
			hex++;
		}
	}
	return len;
}

static void set_funcs(const struct func *funcs)
{
	world.funcs = funcs;
	memset(world.code, 0, sizeof(world.code));
	for (size_t i = 0; funcs[i].name; i++)
		world.len[i] = bytes_of(i, funcs[i].code);
}

static void dump(const struct goruntime *rt)
{
	steps_are("g %s%s%+d %lx hi %u m %u sp %u link %u goid %u created %u by %u locked %u "
		  "status %u since %u reason %u syscall %u m.g0 %u curg %u procid %u",
		  rt->g_in_register ? "r" : "-", rt->args_in_registers ? "a" : "-", rt->tls_g,
		  rt->tls_word, rt->g_stack_hi, rt->g_m, rt->g_sched_sp, rt->g_sched_link,
		  rt->g_goid, rt->g_gopc, rt->g_parent_goid, rt->g_lockedm, rt->g_status,
		  rt->g_waitsince, rt->g_waitreason, rt->g_syscall_sp, rt->m_g0, rt->m_curg,
		  rt->m_procid);
}

static void read_fields(int release, bool told)
{
	struct goruntime rt;

	goruntime_read_fields(&(struct program){.release = release, .release_told = told}, &rt);
	dump(&rt);
}

static const struct func no_funcs[] = {{NULL, NULL}};

static void test_releases(void **state)
{
	(void)state;
	world = (struct world){.arch = ARCH_AMD64};
	set_funcs(no_funcs);
	for (int release = 14; release <= 28; release++)
		read_fields(release, true);
	steps_expect("g --+0 0 hi 8 m 48 sp 56 link 96 goid 152 created 0 by 0 locked 0 "
		     "status 144 since 168 reason 176 syscall 112 m.g0 0 curg 192 procid "
		     "72; g --+0 0 hi 8 m 48 sp 56 link 96 goid 152 created 280 by 0 locked "
		     "216 status 144 since 168 reason 176 syscall 112 m.g0 0 curg 192 "
		     "procid 72; g --+0 0 hi 8 m 48 sp 56 link 96 goid 152 created 280 by 0 "
		     "locked 216 status 144 since 168 reason 176 syscall 112 m.g0 0 curg "
		     "192 procid 72; g ra+0 0 hi 8 m 48 sp 56 link 96 goid 152 created 296 "
		     "by 0 locked 232 status 144 since 168 reason 176 syscall 112 m.g0 0 "
		     "curg 192 procid 72; g ra+0 0 hi 8 m 48 sp 56 link 96 goid 152 created "
		     "296 by 0 locked 232 status 144 since 168 reason 176 syscall 112 m.g0 "
		     "0 curg 192 procid 72; g ra+0 0 hi 8 m 48 sp 56 link 96 goid 152 "
		     "created 296 by 0 locked 232 status 144 since 168 reason 176 syscall "
		     "112 m.g0 0 curg 192 procid 72; g ra+0 0 hi 8 m 48 sp 56 link 96 goid "
		     "152 created 296 by 0 locked 232 status 144 since 168 reason 176 "
		     "syscall 112 m.g0 0 curg 192 procid 72; g ra+0 0 hi 8 m 48 sp 56 link "
		     "96 goid 152 created 280 by 272 locked 208 status 144 since 168 reason "
		     "176 syscall 112 m.g0 0 curg 192 procid 72; g ra+0 0 hi 8 m 48 sp 56 "
		     "link 96 goid 152 created 280 by 272 locked 208 status 144 since 168 "
		     "reason 176 syscall 112 m.g0 0 curg 192 procid 72; g ra+0 0 hi 8 m 48 "
		     "sp 56 link 96 goid 160 created 288 by 280 locked 216 status 152 since "
		     "176 reason 184 syscall 112 m.g0 0 curg 192 procid 72; g ra+0 0 hi 8 m "
		     "48 sp 56 link 96 goid 160 created 288 by 280 locked 216 status 152 "
		     "since 176 reason 184 syscall 112 m.g0 0 curg 192 procid 72; g ra+0 0 "
		     "hi 8 m 48 sp 56 link 88 goid 152 created 280 by 272 locked 208 status "
		     "144 since 168 reason 176 syscall 104 m.g0 0 curg 184 procid 64; g "
		     "ra+0 0 hi 8 m 48 sp 56 link 88 goid 152 created 288 by 280 locked 208 "
		     "status 144 since 168 reason 176 syscall 104 m.g0 0 curg 184 procid "
		     "64; g ra+0 0 hi 8 m 48 sp 56 link 88 goid 152 created 288 by 280 "
		     "locked 208 status 144 since 168 reason 176 syscall 104 m.g0 0 curg "
		     "184 procid 64; g ra+0 0 hi 8 m 48 sp 56 link 88 goid 152 created 0 by "
		     "0 locked 0 status 144 since 168 reason 176 syscall 104 m.g0 0 curg "
		     "184 procid 64; ");
	read_fields(27, false);
	world.arch = ARCH_ARM64;
	for (int release = 16; release <= 18; release++)
		read_fields(release, true);
	steps_expect("g ra+0 0 hi 8 m 48 sp 56 link 88 goid 152 created 0 by 0 locked 0 "
		     "status 144 since 168 reason 176 syscall 104 m.g0 0 curg 184 procid "
		     "64; g r-+0 0 hi 8 m 48 sp 56 link 96 goid 152 created 280 by 0 locked "
		     "216 status 144 since 168 reason 176 syscall 112 m.g0 0 curg 192 "
		     "procid 72; g r-+0 0 hi 8 m 48 sp 56 link 96 goid 152 created 296 by 0 "
		     "locked 232 status 144 since 168 reason 176 syscall 112 m.g0 0 curg "
		     "192 procid 72; g ra+0 0 hi 8 m 48 sp 56 link 96 goid 152 created 296 "
		     "by 0 locked 232 status 144 since 168 reason 176 syscall 112 m.g0 0 "
		     "curg 192 procid 72; ");
}

#define PRINTS                                                                                     \
	{"runtime.printlock", ""}, {"runtime.printint", ""},                                       \
	{                                                                                          \
		"runtime.printuint", ""                                                            \
	}

#define SYSTEMSTACK                                                                                \
	{"broken", ""}, {"runtime.systemstack", "e800000000 c3"},                                  \
		{"runtime.systemstack", /* mov rax, fs:-8; mov rbx, [rax+56]; mov rdx, [rbx+16];   \
					   cmp rax, [rbx+200] */                                   \
		 "64488b0425f8ffffff 488b5838 488b5310 483b83c8000000"},                           \
	{                                                                                          \
		"runtime.systemstack", "64488b0425f0ffffff 488b5840 488b5318 483b83d0000000"       \
	}

#define NEWPROC /* mov rcx, [rax+160]; mov [rdx+0x118], rcx; +0x120; +0x128 */                     \
	{                                                                                          \
		"runtime.newproc1", "488b88a0000000 48898a18010000 48898a20010000 48898a28010000"  \
	}

static const struct func all_funcs[] = {
	SYSTEMSTACK,
	PRINTS,
	/* mov rax, [rax+160]; mov [rsp], rax; call printuint */
	{"runtime.goroutineheader", "e8N 488b80a0000000 48890424 e8U"},
	NEWPROC,
	{NULL, NULL}};

static void test_code(void **state)
{
	(void)state;
	world = (struct world){.arch = ARCH_AMD64};
	set_funcs(all_funcs);
	read_fields(16, true);
	read_fields(17, false);
	read_fields(26, true);
	world.no_code = true;
	read_fields(27, true);
	steps_expect("g ---8 0 hi 8 m 56 sp 56 link 96 goid 160 created 288 by 280 locked "
		     "216 status 152 since 176 reason 184 syscall 112 m.g0 16 curg 200 "
		     "procid 72; g ra-8 0 hi 8 m 56 sp 56 link 96 goid 160 created 288 by "
		     "280 locked 0 status 152 since 176 reason 184 syscall 112 m.g0 16 curg "
		     "200 procid 72; g ra-8 0 hi 8 m 56 sp 56 link 88 goid 160 created 288 "
		     "by 280 locked 208 status 152 since 176 reason 184 syscall 104 m.g0 16 "
		     "curg 200 procid 64; g ra+0 0 hi 8 m 48 sp 56 link 88 goid 152 created "
		     "288 by 280 locked 208 status 144 since 168 reason 176 syscall 104 "
		     "m.g0 0 curg 184 procid 64; ");
}

/* what the field that is printed first may be */
static void test_goids(void **state)
{
	static const char *const codes[] = {"488b807f000000 e8P",
					    "488b8080000000 e8P",
					    "488b8084000000 e8P",
					    "488b80f8000000 e8P",
					    "488b8000010000 e8P",
					    "488b8088000000 e8N",
					    "488b8088000000 e8U",
					    "488b8000000000 e8U",
					    "488b8088000000 e8P 488b8090000000 e8P"};

	(void)state;
	world = (struct world){.arch = ARCH_AMD64};
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		const struct func funcs[] = {
			PRINTS, {"runtime.goroutineheader", codes[i]}, {NULL, NULL}};
		struct goruntime rt;

		set_funcs(funcs);
		goruntime_read_fields(&(struct program){.release = 20}, &rt);
		steps_are("%u %u", rt.g_goid, rt.g_status);
	}
	steps_expect("152 144; 128 120; 152 144; 248 240; 152 144; 152 144; 136 128; 152 "
		     "144; 136 128; ");
}

static const struct func ends[] = {{"runtime.recovery", "c3"},
				   {"runtime.Goexit", "c3"},
				   {"runtime.goexit1", "c3"},
				   {"runtime.fatalpanic", "c3"},
				   {NULL, NULL}};

static void read_ends(const char *fails)
{
	struct errmsg err = {0};
	const struct program prog = {.toolchain = &toolchain_gc, .release = 27};
	struct goruntime rt;

	steps.fails = fails;
	steps.times = 0;
	int ret = goruntime_read(&prog, NULL, &rt, &err);

	steps.fails = NULL;
	steps_are("%d recovered %lx/%d goexit %lx/%d fatal %lx/%d", ret, rt.recovered.addr,
		  rt.recovered.kind, rt.goexit.addr, rt.goexit.kind, rt.fatal.addr, rt.fatal.kind);
}

static void test_ends(void **state)
{
	(void)state;
	world = (struct world){.arch = ARCH_AMD64};
	set_funcs(ends);
	read_ends(NULL);
	read_ends("call runtime.recovery");
	read_ends("call runtime.Goexit");
	world.no_entries = true;
	read_ends("call runtime.Goexit");
	set_funcs(no_funcs);
	read_ends(NULL);
	set_funcs(ends + 2); /* no Goexit: nothing is asked of goexit1 */
	read_ends(NULL);
	steps_expect("call runtime.recovery runtime.gogo; call runtime.Goexit "
		     "runtime.goexit1; entry runtime.fatalpanic; 0 recovered 8/9 goexit "
		     "108/9 fatal 304/2; call runtime.recovery runtime.gogo; call "
		     "runtime.Goexit runtime.goexit1; entry runtime.fatalpanic; 0 recovered "
		     "0/0 goexit 108/9 fatal 304/2; call runtime.recovery runtime.gogo; "
		     "call runtime.Goexit runtime.goexit1; entry runtime.goexit1; entry "
		     "runtime.fatalpanic; 0 recovered 8/9 goexit 204/2 fatal 304/2; call "
		     "runtime.recovery runtime.gogo; call runtime.Goexit runtime.goexit1; "
		     "entry runtime.goexit1; entry runtime.fatalpanic; 0 recovered 8/9 "
		     "goexit 0/0 fatal 0/0; 0 recovered 0/0 goexit 0/0 fatal 0/0; entry "
		     "runtime.fatalpanic; 0 recovered 0/0 goexit 0/0 fatal 0/0; ");
}

static void test_not_found(void **state)
{
	struct program prog = {.toolchain = &toolchain_gc, .release = 16};
	struct errmsg err = {0};
	struct goruntime rt;

	(void)state;
	world = (struct world){.arch = ARCH_AMD64};
	set_funcs(no_funcs);
	steps_are("%d", goruntime_read(&prog, NULL, &rt, &err));
	steps_are("%s, %s", err.text, err.hint);
	set_funcs(all_funcs);
	steps_are("%d", goruntime_read(&prog, NULL, &rt, &err));
	prog.toolchain = &toolchain_gccgo;
	steps_are("%d", goruntime_read(&prog, NULL, &rt, &err));
	steps_are("%d", rt.split_stack);
	steps_expect("-1; the goroutine's thread-local variable was not found in the code "
		     "of runtime.systemstack, programs of Go 1.17 and later keep the "
		     "goroutine in a register; 0; gccgo; 0; 1; ");
}

static void test_labels(void **state)
{
	struct program prog = {.toolchain = &toolchain_gc, .release_told = true};
	struct goruntime rt = {.g_gopc = 288};

	(void)state;
	steps_are("%u", goruntime_labels(&prog, &rt));
	prog.toolchain = &toolchain_gccgo;
	steps_are("%u", goruntime_labels(&prog, &rt));
	prog.toolchain = &toolchain_gc;
	prog.release_told = false;
	steps_are("%u", goruntime_labels(&prog, &rt));
	prog.release_told = true;
	rt.g_gopc = 0;
	steps_are("%u", goruntime_labels(&prog, &rt));
	steps_expect("352; 0; 0; 0; ");
}

/* which fields make programs of two runtimes */
static void test_same(void **state)
{
	const struct goruntime a = {0};
	struct goruntime b[16];
	size_t n = 0;

	(void)state;
	memset(b, 0, sizeof(b));
	n++;
	b[n++].split_stack = true;
	b[n++].split_backoff = 1;
	b[n++].g_in_register = true;
	b[n++].args_in_registers = true;
	b[n++].tls_g = 1;
	b[n++].g_stack_hi = 1;
	b[n++].g_m = 1;
	b[n++].g_sched_sp = 1;
	b[n++].g_goid = 1;
	b[n++].m_curg = 1;
	b[n++].g_gopc = 1;
	b[n++].g_parent_goid = 1;
	b[n++].m_procid = 1;
	for (size_t i = 0; i < n; i++)
		steps_are("%d%d", goruntime_same_layout(&a, &b[i]),
			  goruntime_same_creation(&a, &b[i]));
	steps_expect("11; 01; 01; 01; 01; 01; 01; 01; 01; 01; 01; 10; 10; 11; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_releases),  cmocka_unit_test(test_code),
		cmocka_unit_test(test_goids),     cmocka_unit_test(test_ends),
		cmocka_unit_test(test_not_found), cmocka_unit_test(test_same),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
