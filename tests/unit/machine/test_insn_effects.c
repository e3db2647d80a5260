// SPDX-License-Identifier: Apache-2.0
/* What instructions do to registers and the stack: from bytes. */
#include <stdio.h>

#include "machine/insn.h"
#include "machine/insn_effects.h"
#include "steps.h"
#include "unit.h"

enum { BASE = 0x401000 };

static size_t bytes_of(const char *hex, uint8_t *out)
{
	size_t len = 0;
	unsigned byte;

	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		out[len++] = (uint8_t)byte;
	return len;
}

static void say(const struct insn_decoder *dec, const char *hex)
{
	uint8_t bytes[16];
	const struct insn_code code = {bytes, bytes_of(hex, bytes), BASE};
	struct insn_effects effects;

	if (!insn_effects(dec, &code, BASE, &effects)) {
		steps_are("%s -", hex);
		return;
	}
	steps_are("%s writes %x%s%s", hex, effects.writes, effects.constant ? " constant" : "",
		  effects.stores ? " stores" : "");
	if (effects.stores)
		steps_are("at %+d size %u", effects.disp, effects.size);
}

static const char *const rows[] = {
	"4889d8",               /* mov rax, rbx */
	"488b03",               /* mov rax, [rbx] */
	"b805000000",           /* mov eax, 5 */
	"48b80102030405060708", /* movabs rax */
	"31c0",                 /* xor eax, eax */
	"31d8",                 /* xor eax, ebx */
	"3303",                 /* xor eax, [rbx] */
	"3503000000",           /* xor eax, 3 */
	"4829c0",               /* sub rax, rax */
	"4829d8",               /* sub rax, rbx */
	"488d0500100000",       /* lea rax, [rip+0x1000] */
	"488d4308",             /* lea rax, [rbx+8] */
	"b001",                 /* mov al, 1 */
	"4883c001",             /* add rax, 1 */
	"4889442408",           /* mov [rsp+8], rax */
	"89442408",             /* mov [rsp+8], eax */
	"88442408",             /* mov [rsp+8], al */
	"48894424f8",           /* mov [rsp-8], rax */
	"48890424",             /* mov [rsp], rax */
	"4889842400010000",     /* mov [rsp+256], rax */
	"488904c4",             /* mov [rsp+rax*8], rax */
	"488945f8",             /* mov [rbp-8], rax */
	"488903",               /* mov [rbx], rax */
	"c744240805000000",     /* mov dword [rsp+8], 5 */
	"48c7442408ffffffff",   /* mov qword [rsp+8], -1 */
	"f20f11442408",         /* movsd [rsp+8], xmm0 */
	"f30f11442408",         /* movss [rsp+8], xmm0 */
	"0f11442408",           /* movups [rsp+8], xmm0 */
	"440f117c2410",         /* movups [rsp+16], xmm15 */
	"c5fe7f442420",         /* vmovdqu [rsp+32], ymm0 */
	"488344240801",         /* add qword [rsp+8], 1 */
	"48837c240801",         /* cmp qword [rsp+8], 1 */
	"50",                   /* push rax */
	"58",                   /* pop rax */
	"4154",                 /* push r12 */
	"8f442408",             /* pop [rsp+8] */
	"4883ec18",             /* sub rsp, 24 */
	"e800100000",           /* call */
	"ffd0",                 /* call rax */
	"c3",                   /* ret */
	"90",                   /* nop */
	"48f7f3",               /* div rbx */
	"48f7e3",               /* mul rbx */
	"4899",                 /* cqo */
	"f348ab",               /* rep stosq */
	"f348a5",               /* rep movsq */
	"4887c3",               /* xchg rax, rbx */
	"f0480fc103",           /* lock xadd [rbx], rax */
	"0f94c0",               /* sete al */
	"480f44c3",             /* cmove rax, rbx */
	"0fa2",                 /* cpuid */
	"f0480fb10b",           /* lock cmpxchg [rbx], rcx */
	"480fb1cb",             /* cmpxchg rbx, rcx */
	"f0480fc70b",           /* lock cmpxchg16b [rbx] */
	"f00fc70b",             /* lock cmpxchg8b [rbx] */
	"0f05",                 /* syscall */
	"0f31",                 /* rdtsc */
	"0f01f9",               /* rdtscp */
	"0f01d0",               /* xgetbv */
	"06",                   /* none */
	"e8",                   /* cut off */
};

static void test_rows(void **state)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		say(dec, rows[i]);
	insn_decoder_free(dec);
	dec = insn_decoder_new(ARCH_ARM64);
	say(dec, "1f2003d5");
	insn_decoder_free(dec);
	steps_expect("4889d8 writes 1; 488b03 writes 1; b805000000 writes 1 constant; "
		     "48b80102030405060708 writes 1 constant; 31c0 writes 1 constant; 31d8 "
		     "writes 1; 3303 writes 1; 3503000000 writes 1; 4829c0 writes 1 "
		     "constant; 4829d8 writes 1; 488d0500100000 writes 1 constant; 488d4308 "
		     "writes 1; b001 writes 1 constant; 4883c001 writes 1; 4889442408 "
		     "writes 0 stores; at +8 size 8; 89442408 writes 0 stores; at +8 size "
		     "4; 88442408 writes 0 stores; at +8 size 1; 48894424f8 writes 0 "
		     "stores; at -8 size 8; 48890424 writes 0 stores; at +0 size 8; "
		     "4889842400010000 writes 0 stores; at +256 size 8; 488904c4 writes 0 "
		     "stores; at +0 size 4294967295; 488945f8 writes 0; 488903 writes 0; "
		     "c744240805000000 writes 0 constant stores; at +8 size 4; "
		     "48c7442408ffffffff writes 0 constant stores; at +8 size 8; "
		     "f20f11442408 writes 0 stores; at +8 size 8; f30f11442408 writes 0 "
		     "stores; at +8 size 4; 0f11442408 writes 0 stores; at +8 size 16; "
		     "440f117c2410 writes 0 stores; at +16 size 16; c5fe7f442420 writes 0 "
		     "stores; at +32 size 32; 488344240801 writes 0 stores; at +8 size 8; "
		     "48837c240801 writes 0; 50 writes 80; 58 writes 81; 4154 writes 80; "
		     "8f442408 writes 80 stores; at +8 size 8; 4883ec18 writes 80; "
		     "e800100000 writes ffffffff; ffd0 writes ffffffff; c3 writes 80; 90 "
		     "writes 0; 48f7f3 writes 3; 48f7e3 writes 3; 4899 writes 3; f348ab "
		     "writes 24; f348a5 writes 34; 4887c3 writes 9; f0480fc103 writes 1; "
		     "0f94c0 writes 1; 480f44c3 writes 1; 0fa2 writes f; "
		     "f0480fb10b writes 1; 480fb1cb writes 9; f0480fc70b writes 3; "
		     "f00fc70b writes 3; 0f05 writes 805; 0f31 writes 3; 0f01f9 writes 7; "
		     "0f01d0 writes 3; 06 -; e8 -; 1f2003d5 -; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
