// SPDX-License-Identifier: Apache-2.0
/* What each opcode is: all of them, by map, form and operand. */
#include <stdio.h>
#include <string.h>

#include "machine/registers.h"
#include "machine/x86.h"
#include "machine/x86kind_internal.h"
#include "steps.h"
#include "unit.h"

struct operand {
	const char *name;
	bool has_modrm;
	uint8_t modrm, base, disp_at;
};

static const struct operand none = {"", false, 0, 0, 0}, memory = {" memory", true, 0x03, 3, 0},
			    stack = {" stack", true, 0x04, X86_RSP, 0},
			    rip = {" rip", true, 0x05, 5, 2}, same = {" same", true, 0xdb, 3, 0},
			    other = {" other", true, 0xd3, 3, 0};

struct variant {
	const char *name;
	uint8_t form, map, prefixes, rex;
};

static const struct variant one_byte = {"one byte", X86_LEGACY, 0, 0, 0},
			    two_byte = {"two bytes", X86_LEGACY, 1, 0, 0},
			    three_byte = {"three bytes", X86_LEGACY, 2, 0, 0},
			    vex = {"vex", X86_VEX, 1, 0, 0}, vex_2 = {"vex 2", X86_VEX, 2, 0, 0},
			    vex_0 = {"vex 0", X86_VEX, 0, 0, 0}, evex = {"evex", X86_EVEX, 1, 0, 0};

static struct x86_op op_of(const struct variant *variant, const struct operand *operand,
			   unsigned opcode)
{
	return (struct x86_op){.size = 2,
			       .form = variant->form,
			       .map = variant->map,
			       .opcode = (uint8_t)opcode,
			       .prefixes = variant->prefixes,
			       .rex = variant->rex,
			       .has_modrm = operand->has_modrm,
			       .modrm = operand->modrm,
			       .base = operand->base,
			       .disp_at = operand->disp_at};
}

struct set {
	char text[1024];
	size_t len;
	int first, last; /* -1: none is open */
};

static void end_range(struct set *set)
{
	if (set->first < 0)
		return;
	set->len += (size_t)snprintf(set->text + set->len, sizeof(set->text) - set->len, " %x",
				     (unsigned)set->first);
	if (set->last > set->first)
		set->len += (size_t)snprintf(set->text + set->len, sizeof(set->text) - set->len,
					     "-%x", (unsigned)set->last);
	set->first = -1;
}

/* The opcodes for which it is so, as "6-7 e 16-17" */
static void list(const char *what, const struct variant *variant, const struct operand *operand,
		 bool (*is)(const struct x86_op *op, int kind), int kind)
{
	struct set set = {.first = -1};

	for (int i = 0; i <= 256; i++) {
		struct x86_op op = op_of(variant, operand, (unsigned)i);

		if (i < 256 && is(&op, kind)) {
			set.first = set.first < 0 ? i : set.first;
			set.last = i;
		} else {
			end_range(&set);
		}
	}
	if (set.len)
		steps_are("%s, %s%s:%s", what, variant->name, operand->name, set.text);
}

static bool is_kind(const struct x86_op *op, int kind)
{
	return (int)x86kind_of(op) == kind;
}

#define PREDICATE(name)                                                                            \
	static bool name(const struct x86_op *op, int kind)                                        \
	{                                                                                          \
		(void)kind;                                                                        \
		return x86kind_##name(op);                                                         \
	}
PREDICATE(refused)
PREDICATE(breaks)
PREDICATE(emulated)
PREDICATE(may_fault)
PREDICATE(floats)
PREDICATE(stays)

static void test_kinds(void **state)
{
	static const char *const kinds[] = {"other",    "move",     "call", "jump", "jump if",
					    "jump reg", "jump mem", "ret",  "trap", "nop"};
	static const int numbers[] = {INSN_OTHER,   INSN_MOVE,     INSN_CALL,     INSN_JUMP,
				      INSN_JUMP_IF, INSN_JUMP_REG, INSN_JUMP_MEM, INSN_RET,
				      INSN_TRAP,    INSN_NOP};
	const struct variant *const variants[] = {&one_byte, &two_byte, &three_byte, &vex,
						  &vex_0,    &evex,     NULL};

	(void)state;
	for (size_t i = 0; variants[i]; i++)
		for (size_t k = 1; k < sizeof(kinds) / sizeof(*kinds); k++)
			list(kinds[k], variants[i], &none, is_kind, numbers[k]);
	steps_expect(
		"move, one byte: 63 88-8b 8d a0-a3 b0-bf c6-c7; call, one byte: e8; jump, one "
		"byte: e9 eb; jump if, one byte: 70-7f e0-e3; jump reg, one byte: ca-cb cf; ret, "
		"one byte: c2-c3; trap, one byte: cc f1 f4; nop, one byte: 90; move, two bytes: "
		"10-13 16-17 28-29 6e-6f 7e-7f b6-b7 be-bf d6; jump if, two bytes: 80-8f; trap, "
		"two bytes: b b9 ff; nop, two bytes: 1f; move, vex: 10-13 16-17 28-29 6e-6f 7e-7f "
		"b6-b7 be-bf d6; move, evex: 10-13 16-17 28-29 6e-6f 7e-7f b6-b7 be-bf d6; ");
}

/* the group of calls and jumps, and that of moves of constants */
static void test_groups(void **state)
{
	static const uint8_t opcodes[] = {0xff, 0xc6, 0xc7, 0x80, 0xf6, 0xfe};

	(void)state;
	for (size_t i = 0; i < sizeof(opcodes); i++)
		for (unsigned reg = 0; reg < 8; reg++) {
			struct operand to = {"", true, (uint8_t)(reg << 3 | 0xc3), 3, 0};
			struct x86_op op = op_of(&one_byte, &to, opcodes[i]);
			struct operand at = {"", true, (uint8_t)(reg << 3 | 3), 3, 0};
			struct x86_op far = op_of(&one_byte, &at, opcodes[i]);

			steps_are("%x/%u %d %d %d%d", opcodes[i], reg, x86kind_of(&op),
				  x86kind_of(&far), x86kind_stays(&op), x86kind_stays(&far));
		}
	steps_expect(
		"ff/0 0 0 01; ff/1 0 0 01; ff/2 1 1 00; ff/3 1 1 00; ff/4 4 5 00; ff/5 4 4 00; "
		"ff/6 0 0 00; ff/7 0 0 00; c6/0 8 8 01; c6/1 0 0 01; c6/2 0 0 01; c6/3 0 0 01; "
		"c6/4 0 0 01; c6/5 0 0 01; c6/6 0 0 01; c6/7 0 0 01; c7/0 8 8 01; c7/1 0 0 01; "
		"c7/2 0 0 01; c7/3 0 0 01; c7/4 0 0 01; c7/5 0 0 01; c7/6 0 0 01; c7/7 0 0 01; "
		"80/0 0 0 01; 80/1 0 0 01; 80/2 0 0 01; 80/3 0 0 01; 80/4 0 0 01; 80/5 0 0 01; "
		"80/6 0 0 01; 80/7 0 0 00; f6/0 0 0 00; f6/1 0 0 00; f6/2 0 0 01; f6/3 0 0 01; "
		"f6/4 0 0 00; f6/5 0 0 00; f6/6 0 0 00; f6/7 0 0 00; fe/0 0 0 01; fe/1 0 0 01; "
		"fe/2 0 0 00; fe/3 0 0 00; fe/4 0 0 00; fe/5 0 0 00; fe/6 0 0 00; fe/7 0 0 00; ");
}

static void test_kernel(void **state)
{
	const struct variant *const all[] = {&one_byte, &two_byte, &three_byte, &vex,
					     &vex_2,    &evex,     NULL};
	static const struct variant prefixed[] = {{"opsize", X86_LEGACY, 0, X86_OPSIZE, 0},
						  {"rep", X86_LEGACY, 0, X86_REP, 0},
						  {"lock", X86_LEGACY, 0, X86_LOCK, 0},
						  {"segment", X86_LEGACY, 0, X86_SEG_OLD, 0},
						  {"rex b", X86_LEGACY, 0, 0, 0x41},
						  {"rex w", X86_LEGACY, 0, 0, 0x48},
						  {"opsize 2", X86_LEGACY, 1, X86_OPSIZE, 0}};

	(void)state;
	for (size_t i = 0; all[i]; i++) {
		list("refused", all[i], &none, refused, 0);
		list("breaks", all[i], &none, breaks, 0);
		list("emulated", all[i], &none, emulated, 0);
	}
	for (size_t i = 0; i < sizeof(prefixed) / sizeof(*prefixed); i++) {
		list("refused", &prefixed[i], &none, refused, 0);
		list("breaks", &prefixed[i], &none, breaks, 0);
		list("emulated", &prefixed[i], &none, emulated, 0);
	}
	steps_expect(
		"refused, one byte: 6-7 e 16-17 1e-1f 27 2f 37 3f 60-62 6c-6f 82 9a 9c-9d c4-c5 "
		"cc-cf d4-d6 e4-e7 ea ec-ef f1 f4 fa-fb; breaks, one byte: 9c-9d; emulated, one "
		"byte: 70-7f 90 e8-e9 eb; refused, two bytes: 0-1 4-c e-f 30 34-37 39 3b-3f 78-79 "
		"a6-a7 ae ff; emulated, two bytes: 80-8f; refused, vex: 6-7 e 16-17 1e-1f 27 2f 37 "
		"3f 60-62 6c-6f 82 9a c4-c5 cc-cf d4-d6 e4-e7 ea ec-ef f1 f4 fa-fb; refused, vex "
		"2: 6-7 e 16-17 1e-1f 27 2f 37 3f 60-62 6c-6f 82 9a c4-c5 cc-cf d4-d6 e4-e7 ea "
		"ec-ef f1 f4 fa-fb; refused, evex: 0-ff; refused, opsize: 6-7 e 16-17 1e-1f 27 2f "
		"37 3f 60-62 6c-7f 82 9a 9c-9d c4-c5 cc-cf d4-d6 e4-ef f1 f4 fa-fb; breaks, "
		"opsize: 9c-9d; emulated, opsize: 90; refused, rep: 6-7 e 16-17 1e-1f 27 2f 37 3f "
		"60-62 6c-6f 82 9a 9c-9d a4-a7 aa-af c4-c5 cc-cf d4-d6 e4-e7 ea ec-ef f1 f4 fa-fb; "
		"breaks, rep: 6c-6f 9c-9d a4-a7 aa-af; emulated, rep: 70-7f 90 e8-e9 eb; refused, "
		"lock: 0-ff; breaks, lock: 9c-9d; refused, segment: 0-ff; breaks, segment: 9c-9d; "
		"refused, rex b: 6-7 e 16-17 1e-1f 27 2f 37 3f 60-62 6c-6f 82 90 9a 9c-9d c4-c5 "
		"cc-cf d4-d6 e4-e7 ea ec-ef f1 f4 fa-fb; breaks, rex b: 90 9c-9d; emulated, rex b: "
		"50-57 70-7f e8-e9 eb; refused, rex w: 6-7 e 16-17 1e-1f 27 2f 37 3f 60-62 6c-6f "
		"82 9a 9c-9d c4-c5 cc-cf d4-d6 e4-e7 ea ec-ef f1 f4 fa-fb; breaks, rex w: 9c-9d; "
		"emulated, rex w: 70-7f 90 e8-e9 eb; refused, opsize 2: 0-1 4-c e-f 30 34-37 39 "
		"3b-3f 78-79 80-8f a6-a7 ae ff; ");
}

static void test_operands(void **state)
{
	const struct operand *const operands[] = {&none, &memory, &stack, &rip,
						  &same, &other,  NULL};
	const struct variant *const variants[] = {&one_byte, &two_byte, &three_byte, &vex, NULL};

	(void)state;
	for (size_t i = 0; variants[i]; i++)
		for (size_t k = 0; operands[k]; k++) {
			list("may fault", variants[i], operands[k], may_fault, 0);
			list("floats", variants[i], operands[k], floats, 0);
			list("stays", variants[i], operands[k], stays, 0);
		}
	steps_expect(
		"may fault, one byte: 6c-6f a4-a7 aa-af; floats, one byte: 90 b0-bf c7; may fault, "
		"one byte memory: 0-8c 8e-8f 91-ff; floats, one byte memory: 90 b0-bf; stays, one "
		"byte memory: 0-1 8-9 10-11 18-19 20-21 28-29 30-31 80-81 83-84 86-89 c6-c7 fe-ff; "
		"may fault, one byte stack: 6c-6f a4-a7 aa-af; floats, one byte stack: 63 88-8b 8d "
		"90 a0-a3 b0-bf c6-c7; may fault, one byte rip: 6c-6f a4-a7 aa-af; floats, one "
		"byte rip: 8d 90; stays, one byte rip: 0-1 8-9 10-11 18-19 20-21 28-29 30-31 80-81 "
		"83-84 86-89 c6-c7 fe-ff; may fault, one byte same: 6c-6f a4-a7 aa-af; floats, one "
		"byte same: 31 33 89 8b 90 b0-bf c7; may fault, one byte other: 6c-6f a4-a7 aa-af; "
		"floats, one byte other: 89 8b 90 b0-bf c7; floats, two bytes: 1f; may fault, two "
		"bytes memory: 0-1e 20-ff; floats, two bytes memory: 1f; stays, two bytes memory: "
		"11 13 17 29 7f b0-b1 c0-c1 d6 e7; floats, two bytes stack: 10-13 16-17 1f 28-29 "
		"6e-6f 7e-7f b6-b7 be-bf d6; floats, two bytes rip: 1f; stays, two bytes rip: 11 "
		"13 17 29 7f b0-b1 c0-c1 d6 e7; floats, two bytes same: 10 1f 28 57; floats, two "
		"bytes other: 10 1f 28; may fault, three bytes memory: 0-ff; may fault, vex "
		"memory: 0-ff; stays, vex memory: 11 13 17 29 7f b0-b1 c0-c1 d6 e7; floats, vex "
		"stack: 10-13 16-17 28-29 6e-6f 7e-7f b6-b7 be-bf d6; stays, vex rip: 11 13 17 29 "
		"7f b0-b1 c0-c1 d6 e7; floats, vex same: 57; ");
}

static void test_long_nops(void **state)
{
	static const struct variant wide = {"wide", X86_LEGACY, 0, 0, 0x48};

	(void)state;
	for (unsigned size = 4; size <= 11; size++)
		for (unsigned form = 0; form < 6; form++) {
			static const uint8_t opcodes[] = {0x90, 0x1f, 0x89, 0x8d, 0x8d, 0x8b};
			const struct variant *variant = form == 0   ? &one_byte
							: form == 1 ? &two_byte
								    : &wide;
			struct x86_op op =
				op_of(variant, form == 4 ? &memory : &same, opcodes[form]);

			op.size = (uint8_t)size;
			if (form == 3)
				op.plain = true;
			if (x86kind_long_nop(&op))
				steps_are("%u bytes of %x", size, opcodes[form]);
		}
	steps_expect("5 bytes of 90; 5 bytes of 1f; 5 bytes of 89; 5 bytes of 8d; 10 bytes of 90; "
		     "10 bytes of 1f; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),     cmocka_unit_test(test_groups),
		cmocka_unit_test(test_kernel),    cmocka_unit_test(test_operands),
		cmocka_unit_test(test_long_nops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
