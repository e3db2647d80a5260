// SPDX-License-Identifier: Apache-2.0
/* Fields of struct g and m by the runtime's code: what it may look like, and what shows nothing. */
#include <stdio.h>
#include <string.h>

#include "machine/insn.h"
#include "sites/goruntime_internal.h"
#include "steps.h"
#include "unit.h"

enum { TEXT = 0x401000, PRINT = TEXT - 0x1000, CODE_MAX = 0x100 };

struct code {
	uint8_t bytes[CODE_MAX];
	size_t len;
};

/* from hex; P: the distance to PRINT */
static struct insn_code code_of(struct code *code, const char *hex)
{
	code->len = 0;
	for (; *hex; hex++) {
		unsigned byte;

		if (*hex == 'P') {
			uint32_t distance = (uint32_t)(PRINT - TEXT - code->len - 4);

			memcpy(code->bytes + code->len, &distance, 4);
			code->len += 4;
		} else if (*hex != ' ' && sscanf(hex, "%2x", &byte) == 1) {
			code->bytes[code->len++] = (uint8_t)byte;
			hex++;
		}
	}
	return (struct insn_code){code->bytes, code->len, TEXT};
}

static bool is_print(uint64_t addr, void *ctx)
{
	(void)ctx;
	return addr == PRINT;
}

/* What is loaded, kept on the stack, copied, set, until it is printed; the first from registers */
static void test_headers(void **state)
{
	static const char *const codes[] = {
		"488b8088000000 e8P",
		"488b9088000000 4889d0 e8P",                                       /* by rdx */
		"488b8088000000 48898424f8010000 e800000000 488b8424f8010000 e8P", /* by [rsp+504]
										    */
		"488b8088000000 4889842400020000 e800000000 488b842400020000 e8P", /* [rsp+512] */
		"488b8088000000 48898424f8ffffff e800000000 488b8424f8ffffff e8P", /* [rsp-8] */
		"488b8088000000 48c7c090000000 e8P", /* mov rax, 144 */
		"64488b042588000000 e8P",            /* mov rax, fs:136 */
		"488b042588000000 e8P",              /* mov rax, [136] */
		"488b8088000000 48890490 e8P",       /* another memory */
		"488b8088000000 4883f800 e8P",       /* cmp rax, 0 */
		"488b8088000000 48890424 488b8090000000 e8P",
		"488b8088000000 4889442408 488b8090000000 e8P",
		"488b8088000000 06 e8P", /* no instruction */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		uint32_t in_register = 0, on_stack = 0;
		struct code bytes;
		struct insn_code code = code_of(&bytes, codes[i]);
		bool found = goruntime_parse_header(&code, true, is_print, NULL, &in_register);
		bool old = goruntime_parse_header(&code, false, is_print, NULL, &on_stack);

		steps_are("%d %u, %d %u", found, in_register, old, on_stack);
	}
	steps_expect("1 136, 0 0; 1 136, 0 0; 1 136, 0 0; 1 512, 0 0; 1 4294967288, 0 0; 0 "
		     "0, 0 0; 0 0, 0 0; 0 0, 0 0; 1 136, 0 0; 1 136, 0 0; 1 144, 1 136; 1 "
		     "144, 0 0; 0 0, 0 0; ");
}

static void say_stack(const char *hex)
{
	struct goruntime rt = {0};
	struct code bytes;
	struct insn_code code = code_of(&bytes, hex);
	bool found = goruntime_parse_systemstack(&code, &rt);

	steps_are("%d g %+d %lx m %u g0 %u curg %u", found, rt.tls_g, rt.tls_word, rt.g_m, rt.m_g0,
		  rt.m_curg);
}

#define G "64488b0425f8ffffff"   /* mov rax, fs:-8 */
#define M "488b5838"             /* mov rbx, [rax+56] */
#define G0 "488b5310"            /* mov rdx, [rbx+16] */
#define CURG "483b83c8000000"    /* cmp rax, [rbx+200] */
#define NOPS "90 90 90 90 90 90" /* of one byte */

static void test_systemstacks(void **state)
{
	static const char *const codes[] = {
		G M G0 CURG,
		M G0 CURG,
		G G0 M CURG,
		G M CURG G0 CURG,
		G M CURG,
		G M G0,
		G "64488b0425f0ffffff" M G0 CURG, /* mov rax, fs:-16 */
		G "488b5c2438" M G0 CURG,         /* mov rbx, [rsp+56] */
		NOPS NOPS G M G0 CURG,
		NOPS NOPS "90" G M G0 CURG,
		"48c7c1f0ffffff 64488b4100" M G0 CURG, /* mov rcx, -16; mov rax, fs:[rcx] */
		"48c7c1f0ffffff 48c7c2e0ffffff 64488b4100" M G0 CURG, /* mov rdx, -32 */
		"488b0d00100000 64488b4100" M G0 CURG,                /* mov rcx, [rip+0x1000] */
		"64488b0d00100000 64488b4100" M G0 CURG,
		"488b0d00100000 48c7c1f0ffffff 64488b4100" M G0 CURG,
		"48c7c1f0ffffff 488b0d00100000 64488b4100" M G0 CURG,
		G M G0 "483b8ac8000000" CURG, /* cmp rcx, [rdx+200] */
		G M G0 "488b5320" CURG,       /* mov rdx, [rbx+32] */
		G M G0 "06" CURG,
		"06",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		say_stack(codes[i]);
	steps_expect("1 g -8 0 m 56 g0 16 curg 200; 0 g +0 0 m 0 g0 0 curg 0; 0 g -8 0 m 16 "
		     "g0 0 curg 0; 1 g -8 0 m 56 g0 16 curg 200; 0 g -8 0 m 56 g0 0 curg 0; "
		     "0 g -8 0 m 56 g0 16 curg 0; 0 g -8 0 m 4294967280 g0 56 curg 0; 1 g "
		     "-8 0 m 56 g0 16 curg 200; 1 g -8 0 m 56 g0 16 curg 200; 0 g -8 0 m 56 "
		     "g0 16 curg 0; 1 g -16 0 m 56 g0 16 curg 200; 1 g -16 0 m 56 g0 16 "
		     "curg 200; 1 g +0 402007 m 56 g0 16 curg 200; 0 g +4096 0 m 0 g0 56 "
		     "curg 0; 1 g -16 0 m 56 g0 16 curg 200; 1 g +0 40200e m 56 g0 16 curg "
		     "200; 1 g -8 0 m 56 g0 16 curg 200; 1 g -8 0 m 56 g0 32 curg 200; 0 g "
		     "-8 0 m 56 g0 16 curg 0; 0 g +0 0 m 0 g0 0 curg 0; ");
}

static void say_newproc(const char *hex)
{
	struct goruntime rt = {.g_goid = 152, .g_gopc = 1, .g_parent_goid = 2};
	struct code bytes;
	struct insn_code code = code_of(&bytes, hex);
	bool found = goruntime_parse_newproc(&code, &rt);

	steps_are("%d %u %u", found, rt.g_gopc, rt.g_parent_goid);
}

#define GOID "488b8898000000"              /* mov rcx, [rax+152] */
#define STORE(off) "48898a" off "0000"     /* mov [rdx+off], rcx */
#define STORE_RSI(off) "4889b2" off "0000" /* mov [rdx+off], rsi */

static void test_newprocs(void **state)
{
	static const char *const codes[] = {
		GOID STORE("e800") STORE("f000") STORE("f800"),
		GOID STORE("f000") STORE("f800") STORE("0001"),
		GOID STORE("7801") STORE("8001") STORE("8801"),
		GOID STORE("8001") STORE("8801") STORE("9001"),
		STORE("1801") STORE("2001") STORE("2801"),
		STORE_RSI("1801") STORE_RSI("2001") STORE_RSI("2801"),
		GOID STORE_RSI("1801") STORE_RSI("2001") STORE_RSI("2801"),
		GOID STORE_RSI("1001") STORE("1801") STORE_RSI("2001") STORE_RSI("2801"),
		GOID STORE_RSI("0801") STORE("1801") STORE_RSI("2001") STORE_RSI("2801"),
		GOID "e800000000" STORE("1801") STORE("2001") STORE("2801"),
		GOID STORE("1801") "e800000000" STORE("2001") "e800000000" STORE("2801"),
		GOID STORE("1801") STORE("2001"),
		GOID STORE("1801") STORE("2001") STORE("3001") STORE("3801"),
		GOID "48898c2418010000 48898c2420010000 48898c2428010000", /* by rsp */
		GOID "6448898a18010000 6448898a20010000 6448898a28010000", /* fs:[rdx+] */
		GOID "48890c2518010000 48890c2520010000 48890c2528010000", /* no base */
		GOID STORE("1801") STORE("2001") "06" STORE("2801"),
		"488b8890000000" STORE("1801") STORE("2001") STORE("2801"),
		GOID "48898c2408000000 488bb42408000000" STORE_RSI("1801") STORE("2001")
			STORE("2801"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		say_newproc(codes[i]);
	steps_expect("0 1 2; 1 248 240; 1 384 376; 0 1 2; 1 280 0; 1 280 0; 1 280 0; 1 272 "
		     "0; 1 288 280; 1 280 0; 1 288 280; 0 1 2; 0 1 2; 0 1 2; 0 1 2; 0 1 2; "
		     "0 1 2; 1 280 0; 1 288 280; ");
}

static void say_arm(const uint32_t *words, size_t count)
{
	const struct insn_code code = {(const uint8_t *)words, count * 4, TEXT};
	struct goruntime rt = {0};
	bool found = goruntime_parse_systemstack_arm64(&code, &rt);

	steps_are("%d m %u g0 %u curg %u", found, rt.g_m, rt.m_g0, rt.m_curg);
}

/* gccgo's: from each register behind a call, and what stands in rdi as it passes it on */
static void test_gccgo(void **state)
{
	static const char *const codes[] = {
		"488b7f38 e800000000",                 /* mov rdi, [rdi+56] */
		"488b7f38 488b7f40 e800000000",        /* mov rdi, [rdi+64] */
		"488b7f38 48c7c701000000 e800000000",  /* mov rdi, 1 */
		"64488b3c2538000000 e800000000",       /* mov rdi, fs:56 */
		"488b3c2538000000 e800000000",         /* mov rdi, [56] */
		"488b7f3c e800000000",                 /* [rdi+60] */
		"488bbf00020000 e800000000",           /* [rdi+512] */
		"488bbff8010000 e800000000",           /* [rdi+504] */
		"488b7ff8 e800000000",                 /* [rdi-8] */
		"488b7f38 48893f e800000000 488b7f40", /* what follows the call is another's */
		"488b7f38 06",
		"e800000000",
	};
	char said[17] = "";
	uint32_t goid;

	(void)state;
	for (unsigned reg = 0; reg < 16; reg++) {
		const uint8_t rex = reg < 8 ? 0x48 : 0x4c, back = reg < 8 ? 0x48 : 0x4c;
		/* mov REG, [rdi+56]; call; mov rdi, REG; call */
		const uint8_t bytes[] = {rex,  0x8b, 0x47 | (reg & 7) << 3, 56,   0xe8, 0, 0, 0, 0,
					 back, 0x89, 0xc7 | (reg & 7) << 3, 0xe8, 0,    0, 0, 0};
		const struct insn_code code = {bytes, sizeof(bytes), TEXT};

		said[reg] = goruntime_parse_gccgo(&code, &goid) && goid == 56 ? '1' : '0';
	}
	steps_are("%s", said);
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		struct code bytes;
		const struct insn_code code = code_of(&bytes, codes[i]);
		bool found = goruntime_parse_gccgo(&code, &goid);

		steps_are("%d %d", found, found ? (int)goid : 0);
	}
	steps_expect("0001010100001111; 1 56; 1 64; 0 0; 0 0; 0 0; 0 0; 0 0; 1 504; 0 0; 1 "
		     "56; 1 56; 0 0; ");
}

static void test_arm64(void **state)
{
	enum { NOP = 0xd503201f };
	/* ldr x3, [sp, #40]; ldr x4, [x28, #48]; ldr x5, [x4, #80]; str x5, [x4]; ldr x5, [x4, #8];
	 * ldr x6, [x28, #56]; ldr x6, [x4, #184] */
	static const uint32_t words[] = {0xf94017e3, 0xf9401b84, 0xf9402885, 0xf9000085,
					 0xf9400485, 0xf9401f86, 0xf9405c86};
	uint32_t late[17];

	(void)state;
	for (size_t from = 0; from < 3; from++)
		say_arm(words + from, 7 - from);
	for (size_t shift = 9; shift < 11; shift++) {
		for (size_t i = 0; i < 17; i++)
			late[i] = i < shift || i >= shift + 7 ? NOP : words[i - shift];
		say_arm(late, 17);
	}
	steps_expect("1 m 48 g0 8 curg 184; 1 m 48 g0 8 curg 184; 0 m 0 g0 0 curg 0; 1 m 48 "
		     "g0 8 curg 184; 0 m 0 g0 0 curg 0; ");
}

/* with a call of PRINT behind it */
static void say_arm_header(const uint32_t *row)
{
	uint32_t words[8], in_register = 0, on_stack = 0;
	size_t n = 0;

	while (row[n]) {
		words[n] = row[n];
		n++;
	}
	words[n] = 0x94000000 | ((uint32_t)(((int)(PRINT - TEXT) >> 2) - (int)n) & 0x3ffffff);
	struct insn_code code = {(const uint8_t *)words, (n + 1) * 4, TEXT};
	bool found = goruntime_parse_header_arm64(&code, true, is_print, NULL, &in_register);
	bool old = goruntime_parse_header_arm64(&code, false, is_print, NULL, &on_stack);

	steps_are("%d %u, %d %u", found, in_register, old, on_stack);
}

/* of arm64's header, too: what is stored and loaded again, copied, or written by another */
static void test_arm64_headers(void **state)
{
	enum { LOAD = 0xf9404c00 /* ldr x0, [x0, #152] */, NONE = 0 };
	static const uint32_t rows[][6] = {
		{LOAD, NONE},
		{LOAD, 0xf90103e0, 0xd503201f, 0xf94103e0, NONE}, /* str, ldr x0, [sp, #512] */
		{LOAD, 0xf900ffe0, 0xf9400401, 0xf940ffe0, NONE}, /* [sp, #504]; ldr x1, [x0, #8] */
		{LOAD, 0xf9000480, 0xf90007e0, NONE},             /* str x0, [x4, #8]; [sp, #8] */
		{LOAD, 0xaa0003e1, 0xd2800000, 0xaa0103e0, NONE}, /* mov x1, x0; mov x0, 0; back */
		{LOAD, 0xd2800000, NONE},
		{LOAD, 0xaa0003e1, NONE},
		{0xf9404c1f, 0xaa1f03e0, NONE}, /* ldr xzr; mov x0, xzr */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		say_arm_header(rows[i]);
	steps_expect("1 152, 0 0; 0 0, 0 0; 1 152, 0 0; 1 152, 1 152; 1 152, 0 0; 0 0, 0 0; "
		     "1 152, 0 0; 0 0, 0 0; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers),  cmocka_unit_test(test_systemstacks),
		cmocka_unit_test(test_newprocs), cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_gccgo),    cmocka_unit_test(test_arm64_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
