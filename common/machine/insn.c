// SPDX-License-Identifier: Apache-2.0
#include "machine/insn.h"

#include <capstone/capstone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/insn_effects.h"
#include "machine/insn_machine_internal.h"
#include "machine/insn_regs.h"
#include "machine/registers_internal.h"

enum { /* capstone's numbers of either machine are below it */
       REGS = (int)X86_REG_ENDING > (int)ARM64_REG_ENDING ? (int)X86_REG_ENDING
							  : (int)ARM64_REG_ENDING,
};

struct insn_decoder {
	enum arch arch;
	csh capstone;
	cs_insn *scratch;
	const struct registers_general *general[REGS]; /* by capstone's numbers */
};

static _Noreturn void no_capstone(cs_err err)
{
	fprintf(stderr, "capstone: %s\n", cs_strerror(err));
	exit(1);
}

/* Capstone numbers registers in its own way, so they are found by their names. */
static void find_registers(struct insn_decoder *dec)
{
	unsigned count = dec->arch == ARCH_ARM64 ? ARM64_REG_ENDING : X86_REG_ENDING;

	for (unsigned i = 0; i < count; i++) {
		const char *name = cs_reg_name(dec->capstone, i);

		dec->general[i] = name ? registers_by_name(dec->arch, name) : NULL;
	}
}

struct insn_decoder *insn_decoder_new(enum arch arch)
{
	struct insn_decoder *dec = mem_zalloc(1, sizeof(*dec));
	bool arm = arch == ARCH_ARM64;
	cs_err err = cs_open(arm ? CS_ARCH_ARM64 : CS_ARCH_X86, arm ? CS_MODE_ARM : CS_MODE_64,
			     &dec->capstone);

	if (err)
		no_capstone(err);
	cs_option(dec->capstone, CS_OPT_DETAIL, CS_OPT_ON);
	dec->arch = arch;
	dec->scratch = cs_malloc(dec->capstone);
	if (!dec->scratch)
		no_capstone(CS_ERR_MEM);
	find_registers(dec);
	return dec;
}

void insn_decoder_free(struct insn_decoder *dec)
{
	if (!dec)
		return;
	cs_free(dec->scratch, 1);
	cs_close(&dec->capstone);
	free(dec);
}

/* the bytes from addr on; NULL when it is outside */
static const uint8_t *code_at(const struct insn_code *code, uint64_t addr, size_t *len)
{
	if (addr < code->addr || addr - code->addr >= code->len)
		return NULL;
	*len = code->len - (addr - code->addr);
	return code->bytes + (addr - code->addr);
}

bool insn_decode(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
		 struct insn *out)
{
	size_t len = 0;
	const uint8_t *bytes = code_at(code, addr, &len);

	*out = (struct insn){.addr = addr};
	if (!bytes)
		return false;
	if (dec->arch == ARCH_ARM64)
		return insn_arm64(bytes, len, addr - code->addr >= sizeof(uint32_t), out);
	return insn_x86(bytes, len, out);
}

/* Bit n: the register is, or is part of, the n-th integer argument register of ABIInternal. */
static uint32_t arg_bit(const struct insn_decoder *dec, uint16_t reg)
{
	const struct registers_general *general = reg < REGS ? dec->general[reg] : NULL;

	return general && general->place[REGISTERS_GO] >= 0 ? 1u << general->place[REGISTERS_GO]
							    : 0;
}

bool insn_decode_writes(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
			struct insn *out)
{
	size_t len = 0;
	const uint8_t *bytes = code_at(code, addr, &len);
	cs_regs read, written;
	uint8_t nread = 0, nwritten = 0;

	if (!insn_decode(dec, code, addr, out))
		return false;
	if (out->kind == INSN_CALL) {
		out->writes = ~0u;
		return true;
	}
	if (!cs_disasm_iter(dec->capstone, &bytes, &len, &addr, dec->scratch) ||
	    cs_regs_access(dec->capstone, dec->scratch, read, &nread, written, &nwritten))
		return false;
	for (int i = 0; i < nwritten; i++)
		out->writes |= arg_bit(dec, written[i]);
	return true;
}

static uint32_t float_bit(enum arch arch, uint16_t reg)
{
	static const uint16_t arm64_first[] = {ARM64_REG_S0, ARM64_REG_D0, ARM64_REG_Q0,
					       ARM64_REG_V0};

	if (arch != ARCH_ARM64)
		return reg >= X86_REG_XMM0 && reg < X86_REG_XMM0 + 16 ? 1u << (reg - X86_REG_XMM0)
								      : 0;
	for (size_t i = 0; i < sizeof(arm64_first) / sizeof(*arm64_first); i++)
		if (reg >= arm64_first[i] && reg < arm64_first[i] + 16)
			return 1u << (reg - arm64_first[i]);
	return 0;
}

/* Instructions that capstone says read a register whose old value does not matter: xor of a
 * register with itself, and conversions that keep its upper bits. */
static bool x86_only_writes(const cs_insn *in)
{
	const cs_x86 *x86 = &in->detail->x86;
	const cs_x86_op *ops = x86->operands;

	switch (in->id) {
	case X86_INS_XOR:
	case X86_INS_SUB:
	case X86_INS_SBB:
	case X86_INS_PXOR:
	case X86_INS_XORPS:
	case X86_INS_XORPD:
	case X86_INS_PCMPEQB:
	case X86_INS_PCMPEQD:
		return x86->op_count == 2 && ops[0].type == X86_OP_REG &&
		       ops[1].type == X86_OP_REG && ops[0].reg == ops[1].reg;
	case X86_INS_CVTSI2SD:
	case X86_INS_CVTSI2SS:
	case X86_INS_CVTSD2SS:
	case X86_INS_CVTSS2SD:
	case X86_INS_SQRTSD:
	case X86_INS_SQRTSS:
	case X86_INS_ROUNDSD:
	case X86_INS_ROUNDSS:
		return x86->op_count && ops[0].type == X86_OP_REG && ops[1].type == X86_OP_REG &&
		       ops[0].reg != ops[1].reg;
	default:
		return false;
	}
}

static void x86_stack(const cs_insn *in, struct insn_regs *regs)
{
	const cs_x86 *x86 = &in->detail->x86;

	for (int i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RSP || op->mem.index)
			continue;
		regs->stack_off = (int32_t)op->mem.disp;
		regs->stack_read = in->id == X86_INS_LEA || (op->access & CS_AC_READ);
		regs->stack_written = op->access & CS_AC_WRITE;
	}
}

static void arm64_stack(const cs_insn *in, struct insn_regs *regs)
{
	const cs_arm64 *arm64 = &in->detail->arm64;

	for (int i = 0; i < arm64->op_count; i++) {
		const cs_arm64_op *op = &arm64->operands[i];

		if (op->type != ARM64_OP_MEM || op->mem.base != ARM64_REG_SP || op->mem.index)
			continue;
		regs->stack_off = op->mem.disp;
		regs->stack_read = !strncmp(in->mnemonic, "ld", 2);
		regs->stack_written = !regs->stack_read;
	}
}

static void add_regs(const struct insn_decoder *dec, const uint16_t *list, uint8_t count,
		     uint32_t *ints, uint32_t *floats)
{
	for (int i = 0; i < count; i++) {
		*ints |= arg_bit(dec, list[i]);
		*floats |= float_bit(dec->arch, list[i]);
	}
}

bool insn_decode_regs(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
		      struct insn *out, struct insn_regs *regs)
{
	size_t len = 0;
	const uint8_t *bytes = code_at(code, addr, &len);
	const cs_insn *in = dec->scratch;
	cs_regs read, written;
	uint8_t nread = 0, nwritten = 0;

	*regs = (struct insn_regs){0};
	if (!insn_decode(dec, code, addr, out))
		return false;
	if (out->kind == INSN_NOP) /* some have operands */
		return true;
	if (!cs_disasm_iter(dec->capstone, &bytes, &len, &addr, dec->scratch) ||
	    cs_regs_access(dec->capstone, in, read, &nread, written, &nwritten))
		return false;
	add_regs(dec, read, nread, &regs->reads, &regs->float_reads);
	add_regs(dec, written, nwritten, &regs->writes, &regs->float_writes);
	if (dec->arch == ARCH_ARM64) {
		arm64_stack(in, regs);
	} else {
		x86_stack(in, regs);
		if (x86_only_writes(in)) {
			regs->reads &= ~regs->writes;
			regs->float_reads &= ~regs->float_writes;
		}
	}
	return true;
}

static uint32_t hardware_bit(const struct insn_decoder *dec, uint16_t reg)
{
	return reg < REGS && dec->general[reg] ? 1u << dec->general[reg]->dwarf : 0;
}

static bool reads_only(unsigned id)
{
	return id == X86_INS_CMP || id == X86_INS_TEST || id == X86_INS_NOP || id == X86_INS_CALL ||
	       id == X86_INS_JMP || id == X86_INS_PUSH || id == X86_INS_UCOMISD ||
	       id == X86_INS_UCOMISS;
}

/* Capstone's flags for reads and writes are wrong for some instructions: so the first operand is
 * taken as written, and both of xchg. */
static void stack_store(const cs_insn *insn, struct insn_effects *out)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (reads_only(insn->id))
		return;
	for (unsigned i = 0; i < x86->op_count && i < 2; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type != X86_OP_MEM || (i && insn->id != X86_INS_XCHG))
			continue;
		if (op->mem.base != X86_REG_RSP && op->mem.index != X86_REG_RSP)
			continue;
		out->stores = true;
		out->disp = op->mem.disp;
		out->size = op->mem.index == X86_REG_INVALID ? op->size : UINT32_MAX;
	}
}

static bool moves_constant(const cs_insn *insn)
{
	const cs_x86_op *ops = insn->detail->x86.operands;
	bool two = insn->detail->x86.op_count == 2;

	if (insn->id == X86_INS_LEA)
		return two && ops[1].mem.base == X86_REG_RIP;
	if (insn->id == X86_INS_XOR || insn->id == X86_INS_SUB)
		return two && ops[1].type == X86_OP_REG && ops[0].type == X86_OP_REG &&
		       ops[0].reg == ops[1].reg;
	return (insn->id == X86_INS_MOV || insn->id == X86_INS_MOVABS) && two &&
	       ops[1].type == X86_OP_IMM;
}

/* Registers that an instruction writes without naming them, and that capstone does not tell of. */
static uint32_t untold(unsigned id)
{
	if (id == X86_INS_CMPXCHG)
		return 1u << AMD64_RAX;
	if (id == X86_INS_SYSCALL)
		return 1u << AMD64_RAX | 1u << AMD64_RCX | 1u << AMD64_R11;
	return 0;
}

bool insn_effects(const struct insn_decoder *dec, const struct insn_code *code, uint64_t addr,
		  struct insn_effects *out)
{
	size_t len = 0;
	const uint8_t *bytes = code_at(code, addr, &len);
	cs_regs read, written;
	uint8_t nread = 0, nwritten = 0;

	*out = (struct insn_effects){0};
	if (dec->arch == ARCH_ARM64 || !bytes ||
	    !cs_disasm_iter(dec->capstone, &bytes, &len, &addr, dec->scratch) ||
	    cs_regs_access(dec->capstone, dec->scratch, read, &nread, written, &nwritten))
		return false;
	if (dec->scratch->id == X86_INS_CALL)
		out->writes = ~(1u << AMD64_RSP);
	out->writes |= untold(dec->scratch->id);
	for (int i = 0; i < nwritten; i++)
		out->writes |= hardware_bit(dec, written[i]);
	stack_store(dec->scratch, out);
	out->constant = moves_constant(dec->scratch);
	return true;
}
