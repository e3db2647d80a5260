// SPDX-License-Identifier: Apache-2.0
#include "goroutines/runtime_refs.h"

#include <string.h>

#include "elf/image.h"
#include "machine/insn.h"
#include "machine/x86.h"
#include "program/functab.h"
#include "program/program.h"

enum { REX_W = 8 };

static uint8_t operand_bytes(const struct x86_op *op)
{
	if (op->rex & REX_W)
		return 8;
	return op->prefixes & X86_OPSIZE ? 2 : 4;
}

/* Intel SDM volume 2, appendix A: instructions that compilers use with variables. */
static void classify(const struct x86_op *op, struct runtime_ref *ref)
{
	ref->how = REF_OTHER;
	ref->bytes = 0;
	if (op->form != X86_LEGACY)
		return;
	if (op->map == 1) { /* movzx of a byte, of two */
		bool is_byte = op->opcode == 0xb6, is_word = op->opcode == 0xb7;

		ref->how = is_byte || is_word ? REF_LOAD : REF_OTHER;
		ref->bytes = is_byte ? 1 : is_word ? 2 : 0;
		return;
	}
	if (op->map)
		return;
	switch (op->opcode) {
	case 0x8a:
	case 0x8b:
		ref->how = REF_LOAD;
		break;
	case 0x88:
	case 0x89:
	case 0xc6:
	case 0xc7:
		ref->how = REF_STORE;
		break;
	case 0x8d:
		ref->how = REF_ADDRESS;
		return;
	default:
		break;
	}
	/* of pairs, the even one is that of bytes; 83 has a short constant for a long operand */
	ref->bytes = op->opcode & 1 ? operand_bytes(op) : 1;
}

static void parse(const struct insn_code *code, struct runtime_refs *refs)
{
	struct x86_op op;

	for (size_t at = 0; at < code->len; at += op.size) {
		int32_t disp;

		if (!x86_parse(code->bytes + at, code->len - at, &op))
			return;
		if (!op.disp_at || refs->count >= RUNTIME_REFS)
			continue;
		struct runtime_ref *ref = &refs->all[refs->count++];

		memcpy(&disp, code->bytes + at + op.disp_at, sizeof(disp));
		ref->addr = code->addr + at + op.size + (int64_t)disp;
		classify(&op, ref);
	}
}

bool runtime_refs_add(const struct program *prog, const char *func, struct runtime_refs *refs)
{
	struct functab_func fn;

	if (image_arch(prog->img) != ARCH_AMD64 || !functab_named(prog->tab, func, &fn))
		return false;
	struct insn_code code = {.addr = fn.addr, .len = fn.end - fn.addr};

	code.bytes = image_at(prog->img, fn.addr, code.len);
	if (!code.bytes)
		return false;
	parse(&code, refs);
	return true;
}

bool runtime_refs_has(const struct runtime_refs *refs, uint64_t addr)
{
	for (size_t i = 0; i < refs->count; i++)
		if (refs->all[i].addr == addr)
			return true;
	return false;
}

bool runtime_refs_only(const struct runtime_refs *refs, int how, unsigned bytes, uint64_t *addr)
{
	bool found = false;

	for (size_t i = 0; i < refs->count; i++) {
		const struct runtime_ref *ref = &refs->all[i];

		if ((int)ref->how != how || ref->bytes != bytes || (found && ref->addr == *addr))
			continue;
		if (found)
			return false;
		found = true;
		*addr = ref->addr;
	}
	return found;
}
