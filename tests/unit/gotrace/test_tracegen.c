// SPDX-License-Identifier: Apache-2.0
/* What is generated of PROBEs, word for word. */
#include <string.h>

#include "machine/arch.h"
#include "genprobe.h"
#include "unit.h"
#include "gotrace/tracegen_uses_internal.h"

static const struct genprobe_how registers = {.arch = ARCH_AMD64, .convention = ABI_REGISTERS};
static const struct genprobe_how arm64 = {.arch = ARCH_ARM64, .convention = ABI_REGISTERS};
static const struct genprobe_how stack = {.arch = ARCH_AMD64, .convention = ABI_STACK};
static const struct genprobe_how several = {
	.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .several = true};

static const struct genprobe_how labelled = {
	.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .g_labels = 352, .label_map = true};

struct row {
	const char *probe;
	const struct genprobe_how *how;
	const char *save, *wanted, *fill;
	uint32_t saved_size, record_size;
};

#define STATE(at, size) "\t*(s64 *)(rec + " #at ") = bad ? bad : " #size ";\n"
#define NUMBER(name, at, state)                                                                    \
	"\t*(u64 *)(rec + " #at ") = " #name ";\n\t*(s64 *)(rec + " #state ") = bad;\n"

#define EACH(bytes, state, at, own, len)                                                           \
	"\tif (*(s64 *)(rec + 32) >= " #bytes ") {\n\t\t*(s64 *)(rec + " #state                    \
	") = fetch_elements(rec + " #at ", 80, *(u64 *)(rec + " #own "), *(u64 *)(rec + " #len     \
	"), 1);\n\t} else {\n\t\t*(s64 *)(rec + " #state ") = TRACE_NIL;\n\t}\n"

/* clang-format off */
static const struct row rows[] = {
	{"main.add(x int, y int8) \"%d %d\", goarg1, y", &registers, "", "",
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 8) = probe_register(ctx, REGISTER_AX);\n" STATE(0, 8)
	 "\tbad = 0;\n"
	 "\t*(u8 *)(rec + 24) = probe_register(ctx, REGISTER_BX);\n" STATE(16, 1), 0, 32},
	{"main.add(x int, y int8) \"%d\", goarg2", &arm64, "", "",
	 "\tbad = 0;\n"
	 "\t*(u8 *)(rec + 8) = probe_register(ctx, 8 * 1);\n" STATE(0, 1), 0, 16},
	/* the same on the stack, above the return address */
	{"main.add(x int32, y int8) (y < -1) \"%d\", x", &stack, "",
	 "\tu64 v0 = fetch_word(&bad, 1, hit->sp + 12);\n"
	 "\tv0 = (s8)v0;\n"
	 "\tu64 v1 = -1ULL;\n"
	 "\tu64 v2 = (s64)v0 < (s64)v1;\n"
	 "\twant = v2 != 0;\n",
	 "\tbad = 0;\n"
	 "\tmust(&bad, fetch(rec + 8, 4, hit->sp + 8));\n" STATE(0, 4), 0, 16},
	/* a label is a string; with r: it is read when the call begins */
	{"r:main.f() (n int) (n > 1) \"%s\", $label(\"endpoints\")", &labelled,
	 "\tbad = 0;\n"
	 "\tconst struct text_key v2 = {9, {0x746e696f70646e65ULL, 0x73ULL}};\n"
	 "\tstruct go_string v3 = find_label(&bad, ctx, (struct label_place){352, true}, &v2);\n"
	 "\tu64 v4 = v3.data;\n"
	 "\tu64 v5 = v3.len;\n"
	 "\tu64 v6 = v3.len;\n"
	 "\t*(u64 *)(rec + 8) = v4;\n"
	 "\t*(u64 *)(rec + 16) = v5;\n" STATE(0, 16)
	 "\thit->later[0] = later_elements(8, 24, 80, 1);\n",
	 "\tu64 v0 = (s64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v1 = (s64)v0 > (s64)1ULL;\n"
	 "\twant = v1 != 0;\n", "", 112, 112},
	/* how old a time is when the probe is hit: with r: what it was is kept, if not read then */
	{"main.f(at time.Time, by *time.Time) (since(at) > 1) \"%d\", since(by)", &registers, "",
	 "\tu64 v0 = (u64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v1 = (u64)probe_register(ctx, REGISTER_BX);\n"
	 "\tu64 v2 = time_unix(&bad, v0, v1);\n"
	 "\tu64 v3 = time_since(hit, v2);\n"
	 "\tu64 v4 = (s64)v3 > (s64)1ULL;\n"
	 "\twant = v4 != 0;\n",
	 "\tbad = 0;\n"
	 "\tu64 v5 = (u64)probe_register(ctx, REGISTER_DI);\n"
	 "\tmust_not_be_nil(&bad, v5);\n"
	 "\tu64 v6 = fetch_word(&bad, 8, v5 + 0);\n"
	 "\tu64 v7 = fetch_word(&bad, 8, v5 + 8);\n"
	 "\tu64 v8 = time_unix(&bad, v6, v7);\n"
	 "\tu64 v9 = time_since(hit, v8);\n" NUMBER(v9, 0, 8), 0, 16},
	{"r:main.f(at time.Time, by *time.Time) \"%d %d\", since(at), since(after(*by))", &registers,
	 "\tbad = 0;\n"
	 "\tu64 v0 = (u64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v1 = (u64)probe_register(ctx, REGISTER_BX);\n"
	 "\tu64 v2 = time_unix(&bad, v0, v1);\n" NUMBER(v2, 0, 8)
	 "\tbad = 0;\n"
	 "\tu64 v5 = (u64)probe_register(ctx, REGISTER_DI);\n"
	 "\t*(u64 *)(rec + 16) = hit->sp;\n" NUMBER(v5, 24, 32), "",
	 "\tbad = 0;\n"
	 "\tu64 v3 = *(u64 *)(rec + 0);\n"
	 "\tmust(&bad, *(s64 *)(rec + 8));\n"
	 "\tu64 v4 = time_since(hit, v3);\n" NUMBER(v4, 40, 48)
	 "\tbad = 0;\n"
	 "\tu64 v6 = *(u64 *)(rec + 24);\n"
	 "\tmust(&bad, *(s64 *)(rec + 32));\n"
	 "\tv6 = after_move(hit, *(u64 *)(rec + 16), v6);\n"
	 "\tmust_not_be_nil(&bad, v6);\n"
	 "\tu64 v7 = fetch_word(&bad, 8, v6 + 0);\n"
	 "\tu64 v8 = fetch_word(&bad, 8, v6 + 8);\n"
	 "\tu64 v9 = time_unix(&bad, v7, v8);\n"
	 "\tu64 v10 = time_since(hit, v9);\n" NUMBER(v10, 56, 64), 40, 72},
	/* strings: bytes of the literal, as numbers; the right side only where the left is true */
	{"main.f(s string, t *main.T) (t.next.a > 3 && s == \"bob\") \"%s\", s", &registers, "",
	 "\tu64 v0 = (u64)probe_register(ctx, REGISTER_CX);\n"
	 "\tmust_not_be_nil(&bad, v0);\n"
	 "\tu64 v1 = fetch_word(&bad, 8, v0 + 24);\n"
	 "\tmust_not_be_nil(&bad, v1);\n"
	 "\tu64 v2 = fetch_word(&bad, 4, v1 + 0);\n"
	 "\tv2 = (s32)v2;\n"
	 "\tu64 v3 = (s64)v2 > (s64)3ULL;\n"
	 "\tu64 v4 = v3 != 0;\n"
	 "\tif (v4) {\n"
	 "\t\tu64 v5 = (u64)probe_register(ctx, REGISTER_AX);\n"
	 "\t\tu64 v6 = (u64)probe_register(ctx, REGISTER_BX);\n"
	 "\t\tu64 v7 = v6 == 3;\n"
	 "\t\tif (v7) {\n"
	 "\t\t\tu64 text[1] = {};\n"
	 "\t\t\tmust(&bad, fetch(text, 3, v5 + 0));\n"
	 "\t\t\tv7 &= text[0] == 0x626f62ULL;\n"
	 "\t\t}\n"
	 "\t\tu64 v8 = v7;\n"
	 "\t\tv4 = v8 != 0;\n"
	 "\t}\n"
	 "\twant = v4 != 0;\n",
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 8) = probe_register(ctx, REGISTER_AX);\n"
	 "\t*(u64 *)(rec + 16) = probe_register(ctx, REGISTER_BX);\n" STATE(0, 16)
	 "\thit->later[0] = later_elements(8, 24, 80, 1);\n", 0, 112},
	/* a return probe's arguments are kept at entry, each with its own state; the predicate reads
	 * that state only where it comes to the argument */
	{"r:main.f(x int8) (n int, err error) (err != nil || x < 0) \"%d %d\", n + x, x", &stack,
	 "\tbad = 0;\n"
	 "\tu64 v3 = fetch_word(&bad, 1, hit->sp + 8);\n"
	 "\tv3 = (s8)v3;\n"
	 "\tu64 v4 = (s64)v3 < (s64)0ULL;\n" NUMBER(v4, 0, 8)
	 "\tbad = 0;\n"
	 "\tu64 v7 = fetch_word(&bad, 1, hit->sp + 8);\n"
	 "\tv7 = (s8)v7;\n" NUMBER(v7, 16, 24)
	 "\tbad = 0;\n"
	 "\tmust(&bad, fetch(rec + 40, 1, hit->sp + 8));\n" STATE(32, 1),
	 "\tu64 v0 = fetch_word(&bad, 8, hit->sp + 24);\n"
	 "\tu64 v1 = v0 != 0;\n"
	 "\tu64 v2 = v1 != 0;\n"
	 "\tif (!v2) {\n"
	 "\t\tu64 v5 = *(u64 *)(rec + 0);\n"
	 "\t\tmust(&bad, *(s64 *)(rec + 8));\n"
	 "\t\tv2 = v5 != 0;\n"
	 "\t}\n"
	 "\twant = v2 != 0;\n",
	 "\tbad = 0;\n"
	 "\tu64 v6 = fetch_word(&bad, 8, hit->sp + 16);\n"
	 "\tu64 v8 = *(u64 *)(rec + 16);\n"
	 "\tmust(&bad, *(s64 *)(rec + 24));\n"
	 "\tu64 v9 = (s64)v6 + (s64)v8;\n" NUMBER(v9, 48, 56), 48, 64},
	/* numbers of arguments alone are computed at entry: a call that panics has them too */
	{"r:main.f(x int) (n int) (x > 1) \"%d %d\", x * 2, $latency / 1000", &registers,
	 "\tbad = 0;\n"
	 "\tu64 v2 = (s64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v3 = (s64)v2 * (s64)2ULL;\n" NUMBER(v3, 0, 8),
	 "\tu64 v0 = (s64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v1 = (s64)v0 > (s64)1ULL;\n"
	 "\twant = v1 != 0;\n",
	 "", 16, 16}, /* the tool computes the other one */
	/* what is kept with the call begins with its states' times, in which it is printed as well */
	{"r:main.f(x int) ($blocked > 5) \"%d %d %d\", x + 1, $running, $syscall / 2", &registers,
	 "\tbad = 0;\n"
	 "\tu64 v2 = (s64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v3 = (s64)v2 + (s64)1ULL;\n" NUMBER(v3, 40, 48),
	 "\tu64 v0 = *(u64 *)(rec + 32);\n"
	 "\tu64 v1 = (s64)v0 > (s64)5ULL;\n"
	 "\twant = v1 != 0;\n",
	 "\tbad = 0;\n"
	 "\tu64 v4 = *(u64 *)(rec + 16);\n"
	 "\tu64 v5 = divide_signed(&bad, v4, 2ULL);\n" NUMBER(v5, 56, 64), 56, 72},
	/* promoted through an embedded pointer; an index that is an expression */
	{"main.f(p *main.Box, i int) \"%s %d\", p.name, p.T.one[i]", &registers, "", "",
	 "\tbad = 0;\n"
	 "\tu64 v0 = (u64)probe_register(ctx, REGISTER_AX);\n"
	 "\tmust_not_be_nil(&bad, v0);\n"
	 "\tu64 v1 = fetch_word(&bad, 8, v0 + 0);\n"
	 "\tmust_not_be_nil(&bad, v1);\n"
	 "\tmust(&bad, fetch(rec + 8, 16, v1 + 8));\n" STATE(0, 16)
	 "\thit->later[0] = later_elements(8, 24, 80, 1);\n"
	 "\tbad = 0;\n"
	 "\tu64 v2 = (u64)probe_register(ctx, REGISTER_AX);\n"
	 "\tmust_not_be_nil(&bad, v2);\n"
	 "\tu64 v3 = fetch_word(&bad, 8, v2 + 0);\n"
	 "\tmust_not_be_nil(&bad, v3);\n"
	 "\tu64 v4 = (s64)probe_register(ctx, REGISTER_BX);\n"
	 "\tu64 v5 = element(&bad, v3 + 32, v4, 1, 2);\n"
	 "\tmust(&bad, fetch(rec + 120, 2, v5 + 0));\n" STATE(112, 2), 0, 128},
	{"main.f(o [1]int8, i int) \"%d\", o[i]", &registers, "", "",
	 "\tbad = 0;\n"
	 "\tu64 v0 = (s64)probe_register(ctx, REGISTER_BX);\n"
	 "\telement(&bad, 0, v0, 1, 0);\n"
	 "\t*(u8 *)(rec + 8) = probe_register(ctx, REGISTER_AX);\n" STATE(0, 1), 0, 16},
	{"r:main.f(i int) (s []int16) \"%d\", s[i + 1]", &registers,
	 "\tbad = 0;\n"
	 "\tu64 v2 = (s64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v3 = (s64)v2 + (s64)1ULL;\n" NUMBER(v3, 0, 8),
	 "",
	 "\tbad = 0;\n"
	 "\tu64 v0 = (u64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v1 = (u64)probe_register(ctx, REGISTER_BX);\n"
	 "\tu64 v4 = *(u64 *)(rec + 0);\n"
	 "\tmust(&bad, *(s64 *)(rec + 8));\n"
	 "\tu64 v5 = element(&bad, v0 + 0, v4, v1, 2);\n"
	 "\tmust(&bad, fetch(rec + 24, 2, v5 + 0));\n" STATE(16, 2), 16, 32},
	/* C's promotions: a byte is signed in 64 bits, what has 64 unsigned bits is not */
	{"main.f(b uint8, u uint64, i int) (b - 1 < i || u < i || u >> 1 == i >> 1)", &registers, "",
	 "\tu64 v0 = (u8)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v1 = (s64)v0 - (s64)1ULL;\n"
	 "\tu64 v2 = (s64)probe_register(ctx, REGISTER_CX);\n"
	 "\tu64 v3 = (s64)v1 < (s64)v2;\n"
	 "\tu64 v4 = v3 != 0;\n"
	 "\tif (!v4) {\n"
	 "\t\tu64 v5 = (u64)probe_register(ctx, REGISTER_BX);\n"
	 "\t\tu64 v6 = (s64)probe_register(ctx, REGISTER_CX);\n"
	 "\t\tu64 v7 = (u64)v5 < (u64)v6;\n"
	 "\t\tv4 = v7 != 0;\n"
	 "\t}\n"
	 "\tu64 v8 = v4 != 0;\n"
	 "\tif (!v8) {\n"
	 "\t\tu64 v9 = (u64)probe_register(ctx, REGISTER_BX);\n"
	 "\t\tu64 v10 = shift_right_unsigned(v9, 1ULL);\n"
	 "\t\tu64 v11 = (s64)probe_register(ctx, REGISTER_CX);\n"
	 "\t\tu64 v12 = shift_right_signed(v11, 1ULL);\n"
	 "\t\tu64 v13 = (u64)v10 == (u64)v12;\n"
	 "\t\tv8 = v13 != 0;\n"
	 "\t}\n"
	 "\twant = v8 != 0;\n",
	 "\tbad = 0;\n"
	 "\t*(u8 *)(rec + 8) = probe_register(ctx, REGISTER_AX);\n" STATE(0, 1)
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 24) = probe_register(ctx, REGISTER_BX);\n" STATE(16, 8)
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 40) = probe_register(ctx, REGISTER_CX);\n" STATE(32, 8), 0, 48},
	/* nil maps and channels have no elements */
	{"main.f(m map[string]int, c chan int) (len(m) < cap(c)) \"\"", &registers, "",
	 "\tu64 v0 = (u64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v1 = 0;\n"
	 "\tif (v0) {\n"
	 "\t\tv1 = fetch_word(&bad, 8, v0 + 0);\n"
	 "\t}\n"
	 "\tu64 v2 = (u64)probe_register(ctx, REGISTER_BX);\n"
	 "\tu64 v3 = 0;\n"
	 "\tif (v2) {\n"
	 "\t\tv3 = fetch_word(&bad, 8, v2 + 8);\n"
	 "\t}\n"
	 "\tu64 v4 = (s64)v1 < (s64)v3;\n"
	 "\twant = v4 != 0;\n", "", 0, 0},
	/* lists; a float that is in no register that can be read */
	{"r:main.f(f float64, s string) (e []int16)", &registers,
	 "\tbad = 0;\n" STATE(0, 8)
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 24) = probe_register(ctx, REGISTER_AX);\n"
	 "\t*(u64 *)(rec + 32) = probe_register(ctx, REGISTER_BX);\n" STATE(16, 16)
	 "\thit->later[0] = later_elements(24, 40, 80, 1);\n", "",
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 136) = probe_register(ctx, REGISTER_AX);\n"
	 "\t*(u64 *)(rec + 144) = probe_register(ctx, REGISTER_BX);\n"
	 "\t*(u64 *)(rec + 152) = probe_register(ctx, REGISTER_CX);\n" STATE(128, 24)
	 "\thit->later[0] = later_elements(136, 160, 80, 2);\n", 128, 248},
	/* after(): words of entry are kept, what they point to is read at return; a pointer follows its
	 * stack, by the stack pointer that is kept with it */
	{"r:main.f(b []byte, n int) (m int) \"%q\", after(b[:m])", &registers,
	 "\tbad = 0;\n"
	 "\tu64 v0 = (u64)probe_register(ctx, REGISTER_AX);\n"
	 "\t*(u64 *)(rec + 0) = hit->sp;\n"
	 "\t*(u64 *)(rec + 8) = v0;\n"
	 "\t*(s64 *)(rec + 16) = bad;\n"
	 "\tbad = 0;\n"
	 "\tu64 v2 = (u64)probe_register(ctx, REGISTER_BX);\n"
	 "\t*(u64 *)(rec + 24) = v2;\n"
	 "\t*(s64 *)(rec + 32) = bad;\n"
	 "\tbad = 0;\n"
	 "\tu64 v4 = (u64)probe_register(ctx, REGISTER_CX);\n"
	 "\t*(u64 *)(rec + 40) = v4;\n"
	 "\t*(s64 *)(rec + 48) = bad;\n",
	 "",
	 "\tbad = 0;\n"
	 "\tu64 v1 = *(u64 *)(rec + 8);\n"
	 "\tmust(&bad, *(s64 *)(rec + 16));\n"
	 "\tv1 = after_move(hit, *(u64 *)(rec + 0), v1);\n"
	 "\tu64 v3 = *(u64 *)(rec + 24);\n"
	 "\tmust(&bad, *(s64 *)(rec + 32));\n"
	 "\tu64 v5 = *(u64 *)(rec + 40);\n"
	 "\tmust(&bad, *(s64 *)(rec + 48));\n"
	 "\tu64 v6 = (s64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v7 = slice_end(&bad, 0ULL, v6, v5);\n"
	 "\tu64 v8 = v1 + 0ULL * 1;\n"
	 "\tu64 v9 = v7 - 0ULL;\n"
	 "\tu64 v10 = v5 - 0ULL;\n"
	 "\t*(u64 *)(rec + 64) = v8;\n"
	 "\t*(u64 *)(rec + 72) = v9;\n"
	 "\t*(u64 *)(rec + 80) = v10;\n"
	 "\t*(s64 *)(rec + 56) = bad ? bad : 24;\n"
	 "\thit->later[0] = later_elements(64, 88, 80, 1);\n", 56, 176},
	{"r:main.f(s string, p *main.T) \"%s %d\", after(s), after(p.a) + 1", &stack,
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 0) = hit->sp;\n"
	 "\tmust(&bad, fetch(rec + 16, 16, hit->sp + 8));\n"
	 "\t*(s64 *)(rec + 8) = bad ? bad : 16;\n"
	 "\tbad = 0;\n"
	 "\tu64 v0 = fetch_word(&bad, 8, hit->sp + 24);\n"
	 "\t*(u64 *)(rec + 32) = v0;\n"
	 "\t*(s64 *)(rec + 40) = bad;\n",
	 "",
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 16) = after_move(hit, *(u64 *)(rec + 0), *(u64 *)(rec + 16));\n"
	 "\thit->later[0] = later_elements(16, 48, 80, 1);\n"
	 "\tbad = 0;\n"
	 "\tu64 v1 = *(u64 *)(rec + 32);\n"
	 "\tmust(&bad, *(s64 *)(rec + 40));\n"
	 "\tv1 = after_move(hit, *(u64 *)(rec + 0), v1);\n"
	 "\tmust_not_be_nil(&bad, v1);\n"
	 "\tu64 v2 = fetch_word(&bad, 4, v1 + 0);\n"
	 "\tv2 = (s32)v2;\n"
	 "\tu64 v3 = (s64)v2 + (s64)1ULL;\n"
	 "\t*(u64 *)(rec + 136) = v3;\n"
	 "\t*(s64 *)(rec + 144) = bad;\n", 48, 152},
	/* what only results tell the end of is read whole at entry */
	{"r:main.f(b []byte, n int) (m int) \"%q\", b[n:m]", &registers,
	 "\tbad = 0;\n"
	 "\tu64 v0 = (u64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v1 = (u64)probe_register(ctx, REGISTER_BX);\n"
	 "\tu64 v2 = (u64)probe_register(ctx, REGISTER_CX);\n"
	 "\tu64 v3 = (s64)probe_register(ctx, REGISTER_DI);\n"
	 "\tu64 v4 = slice_end(&bad, v3, v2, v2);\n"
	 "\tu64 v5 = v0 + v3 * 1;\n"
	 "\tu64 v6 = v4 - v3;\n"
	 "\tu64 v7 = v2 - v3;\n"
	 "\t*(u64 *)(rec + 8) = v5;\n"
	 "\t*(u64 *)(rec + 16) = v6;\n"
	 "\t*(u64 *)(rec + 24) = v7;\n"
	 "\t*(s64 *)(rec + 0) = bad ? bad : 24;\n"
	 "\thit->later[0] = later_elements(8, 32, 80, 1);\n"
	 "\t*(u64 *)(rec + 120) = v3;\n"
	 "\t*(s64 *)(rec + 128) = bad;\n",
	 "",
	 "\tbad = 0;\n"
	 "\tu64 v8 = *(u64 *)(rec + 120);\n"
	 "\tmust(&bad, *(s64 *)(rec + 128));\n"
	 "\tu64 v9 = (s64)probe_register(ctx, REGISTER_AX);\n"
	 "\tu64 v10 = slice_end(&bad, v8, v9, v8 + *(u64 *)(rec + 16));\n"
	 "\t*(u64 *)(rec + 16) = v10 - v8;\n"
	 "\t*(s64 *)(rec + 0) = bad ? bad : *(s64 *)(rec + 0);\n"
	 "\t*(s64 *)(rec + 32) = slice_state(*(s64 *)(rec + 32), (v10 - v8) * 1);\n", 136, 136},
	{"main.f(a [4]int16, i int) (len(a[i:]) > 1)", &stack,
	 "",
	 "\tu64 v0 = hit->sp + 8;\n"
	 "\tu64 v1 = fetch_word(&bad, 8, hit->sp + 16);\n"
	 "\tu64 v2 = slice_end(&bad, v1, 4ULL, 4ULL);\n"
	 "\tu64 v3 = v0 + v1 * 2;\n"
	 "\tu64 v4 = v2 - v1;\n"
	 "\tu64 v5 = 4ULL - v1;\n"
	 "\tu64 v6 = (s64)v4 > (s64)1ULL;\n"
	 "\twant = v6 != 0;\n",
	 "\tbad = 0;\n"
	 "\tmust(&bad, fetch(rec + 8, 8, hit->sp + 8));\n"
	 "\t*(s64 *)(rec + 0) = bad ? bad : 8;\n"
	 "\tbad = 0;\n"
	 "\tmust(&bad, fetch(rec + 24, 8, hit->sp + 16));\n"
	 "\t*(s64 *)(rec + 16) = bad ? bad : 8;\n", 0, 32},
	/* what elements refer to: one word for all of them, where they are alike */
	{"main.f(a []any, b []string)", &registers, "", "",
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 8) = probe_register(ctx, REGISTER_AX);\n"
	 "\t*(u64 *)(rec + 16) = probe_register(ctx, REGISTER_BX);\n"
	 "\t*(u64 *)(rec + 24) = probe_register(ctx, REGISTER_CX);\n" STATE(0, 24)
	 "\thit->later[0] = later_elements(8, 32, 128, 16);\n"
	 "\thit->later[1] = later_of_each(8, later_dynamic(40, 168, DYNAMIC_TYPE, 2));\n"
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 6832) = probe_register(ctx, REGISTER_DI);\n"
	 "\t*(u64 *)(rec + 6840) = probe_register(ctx, REGISTER_SI);\n"
	 "\t*(u64 *)(rec + 6848) = probe_register(ctx, REGISTER_R8);\n" STATE(6824, 24)
	 "\thit->later[2] = later_elements(6832, 6856, 128, 16);\n"
	 "\thit->later[3] = later_of_each(8, later_elements(6864, 6992, 80, 1));\n", 0, 7696},
	/* each of three words */
	{"main.f(b []struct{s string; n int})", &stack, "", "",
	 "\tbad = 0;\n"
	 "\tmust(&bad, fetch(rec + 8, 24, hit->sp + 8));\n" STATE(0, 24)
	 "\t*(s64 *)(rec + 32) = fetch_elements(rec + 40, 192, *(u64 *)(rec + 8), "
	 "*(u64 *)(rec + 16), 24);\n"
	 EACH(24, 232, 240, 40, 48)
	 EACH(48, 320, 328, 64, 72)
	 EACH(72, 408, 416, 88, 96)
	 EACH(96, 496, 504, 112, 120)
	 EACH(120, 584, 592, 136, 144)
	 EACH(144, 672, 680, 160, 168)
	 EACH(168, 760, 768, 184, 192)
	 EACH(192, 848, 856, 208, 216), 0, 936},
	/* what one of several functions lacks leaves no trace */
	{"r:main.f(x int, s string) (t string) \"%s %d %s %s\", s[nope], x, t[nope], t", &several,
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 8) = probe_register(ctx, REGISTER_AX);\n" STATE(0, 8), "",
	 "\tbad = 0;\n"
	 "\t*(u64 *)(rec + 24) = probe_register(ctx, REGISTER_AX);\n"
	 "\t*(u64 *)(rec + 32) = probe_register(ctx, REGISTER_BX);\n" STATE(16, 16)
	 "\thit->later[0] = later_elements(24, 40, 80, 1);\n", 16, 128},
};
/* clang-format on */

/* A variable's number says nothing where some were given up. */
static void check_row(const struct row *row)
{
	struct genprobe gp;
	struct errmsg err = {0};

	if (genprobe_make(&gp, row->probe, row->how, &err))
		fail_msg("%s: %s", row->probe, err.text);
	assert_string_equal(gp.plan.save, row->save);
	assert_string_equal(gp.plan.wanted, row->wanted);
	assert_string_equal(gp.plan.fill, row->fill);
	assert_int_equal(gp.plan.saved_size, row->saved_size);
	assert_int_equal(gp.plan.record_size, row->record_size);
	genprobe_free(&gp);
}

static void test_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
}

static void test_what_is_known_when(void **state)
{
	static const char probe[] =
		"r:main.f(x int) (n int) \"%d %d %d %d %d %d\", x, n, x + 1, n + x, $latency, $cpu";
	static const bool at_return[] = {false, true, false, true, false, false};
	struct genprobe gp;
	struct errmsg err = {0};

	(void)state;
	assert_int_equal(genprobe_make(&gp, probe, &registers, &err), 0);
	assert_true(gp.plan.wants_at_entry);
	assert_int_equal(gp.plan.arg_count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(gp.plan.args[i].at_return, at_return[i]);
	assert_true(gp.plan.args[2].at < gp.plan.saved_size);
	genprobe_free(&gp);
	assert_int_equal(genprobe_make(&gp, "r:main.f() ($latency > 5)", &registers, &err), 0);
	assert_false(gp.plan.wants_at_entry);
	genprobe_free(&gp);
	assert_int_equal(genprobe_make(&gp, "main.f() ($parent_goid > 5)", &registers, &err), 0);
	assert_true(gp.plan.uses & TRACEGEN_PARENT);
	genprobe_free(&gp);
	assert_int_equal(genprobe_make(&gp, "main.f() ($label(\"a\") == \"b\" && $parent_goid > 5)",
				       &labelled, &err),
			 0);
	assert_int_equal(gp.plan.uses, TRACEGEN_LABELS | TRACEGEN_PARENT | TRACEGEN_IDENTITY);
	genprobe_free(&gp);
}

/* What is missing in one of several functions is ?; the others are as they would be alone. */
static void test_missing(void **state)
{
	static const char probe[] = "main.f(x int) \"%d %v %d\", y, x.z, x";
	struct genprobe gp;
	struct errmsg err = {0};

	(void)state;
	assert_int_equal(genprobe_make(&gp, probe, &several, &err), 0);
	assert_int_equal(gp.plan.args[0].kind, TRACEGEN_MISSING);
	assert_int_equal(gp.plan.args[1].kind, TRACEGEN_MISSING);
	assert_int_equal(gp.plan.args[2].kind, TRACEGEN_VALUE);
	assert_int_equal(gp.plan.record_size, 16);
	genprobe_free(&gp);
}

/* What is in registers that cannot be read, in pieces of four bytes */
static void test_holes(void **state)
{
	static const struct {
		const char *probe;
		uint64_t holes;
	} probes[] = {
		{"main.f(p struct{a float64; b float64}) \"%v\", p", 0xf},
		{"main.f(p struct{a float32; n int64; b float32}) \"%v\", p", 0x11},
		{"main.f(p struct{a int; b float64; c int}) \"%v\", p", 0xc},
		{"main.f(p struct{a int; b int}) \"%v\", p", 0},
	};
	struct genprobe gp;
	struct errmsg err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
		if (genprobe_make(&gp, probes[i].probe, &registers, &err))
			fail_msg("%s", err.text);
		assert_int_equal(gp.plan.args[0].shape->holes, probes[i].holes);
		genprobe_free(&gp);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_what_is_known_when),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
