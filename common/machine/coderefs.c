// SPDX-License-Identifier: Apache-2.0
#include "machine/coderefs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "machine/arm64_internal.h"
#include "machine/insn.h"

enum { REGS = 32, WORD = 4, SP = 31 };

struct emitter {
	void (*fn)(const struct coderef *ref, void *ctx);
	void *ctx;
};

static void emit(const struct emitter *to, uint64_t addr, const struct access *access)
{
	to->fn(&(struct coderef){addr, access->bytes, access->how}, to->ctx);
}

/* --- amd64 --- */

static void each_amd64(const struct insn_code *code, const struct emitter *to)
{
	struct access access;

	for (size_t at = 0; access_parse(ARCH_AMD64, code, at, &access); at += access.size)
		if (access.absolute)
			emit(to, access.addr, &access);
}

/* --- arm64 --- */

struct known { /* addresses in registers */
	uint64_t value[REGS];
	uint32_t has;
};

static uint32_t word_at(const struct insn_code *code, size_t at)
{
	uint32_t word;

	memcpy(&word, code->bytes + at, sizeof(word));
	return word;
}

/* Which instructions are reached from elsewhere in the code. */
static unsigned char *find_joins(const struct insn_code *code)
{
	unsigned char *joins = mem_zalloc(code->len / WORD + 1, 1);
	struct arm64_op op;

	for (size_t at = 0; at + WORD <= code->len; at += WORD) {
		arm64_parse(word_at(code, at), &op);
		uint64_t target = at + (uint64_t)op.offset;

		if (op.direct && op.kind != INSN_CALL && target < code->len)
			joins[target / WORD] = 1;
	}
	return joins;
}

static void forget(struct known *known, uint8_t reg)
{
	known->has &= ~(1u << reg);
}

static void learn(struct known *known, uint8_t reg, uint64_t value)
{
	known->value[reg] = value;
	if (reg != SP)
		known->has |= 1u << reg;
}

static void emit_access(const struct known *known, const struct access *access,
			const struct emitter *to)
{
	uint64_t addr = known->value[access->base] + (int64_t)access->disp;

	if (access->how == ACCESS_NONE || !access->plain || !(known->has >> access->base & 1))
		return;
	/* of an instruction of the compiler the assembler has made several */
	if (access->how == ACCESS_ADDRESS && access->reg == ARM64_SCRATCH)
		return;
	emit(to, addr, access);
	if (access->pair)
		emit(to, addr + access->bytes, access);
}

/* What the registers that it writes hold then. Most write the first; of those that do not, few have
 * an address there. */
static void follow(struct known *known, uint32_t word, uint64_t addr, const struct access *access)
{
	uint64_t address;

	if (arm64_page(word, addr, &address)) {
		learn(known, word & 31, address);
	} else if (access->how == ACCESS_ADDRESS) {
		bool has = known->has >> access->base & 1;

		address = known->value[access->base] + (int64_t)access->disp;
		forget(known, access->reg);
		if (has)
			learn(known, access->reg, address);
	} else {
		bool vector = access->how == ACCESS_OTHER && !access->bytes;

		if (access->how != ACCESS_STORE && !vector)
			forget(known, word & 31);
		if (access->how == ACCESS_LOAD && access->pair)
			forget(known, word >> 10 & 31);
		if (access->how != ACCESS_NONE && !access->plain)
			forget(known, access->base);
	}
}

static void each_arm64(const struct insn_code *code, const struct emitter *to)
{
	unsigned char *joins = find_joins(code);
	struct known known = {0};
	struct access access;
	struct arm64_op op;

	for (size_t at = 0; at + WORD <= code->len; at += WORD) {
		uint32_t word = word_at(code, at);

		if (joins[at / WORD])
			known.has = 0;
		arm64_parse(word, &op);
		if (op.direct || op.kind == INSN_CALL || op.kind == INSN_RET ||
		    op.kind == INSN_JUMP_REG) {
			if (op.kind != INSN_JUMP_IF)
				known.has = 0;
			continue;
		}
		access_parse(ARCH_ARM64, code, at, &access);
		emit_access(&known, &access, to);
		follow(&known, word, code->addr + at, &access);
	}
	free(joins);
}

/* --- fields --- */

/* add x27, base, #near -- add x27, x27, #far -- ldr x, [x27, #nearest] */
static bool is_far(enum arch arch, const struct access *access)
{
	return arch == ARCH_ARM64 && access->how == ACCESS_ADDRESS && access->reg == ARM64_SCRATCH;
}

void coderefs_fields(enum arch arch, const struct insn_code *code,
		     void (*fn)(int32_t off, void *ctx), void *ctx)
{
	struct access access;
	int32_t far = 0;

	for (size_t at = 0; access_parse(arch, code, at, &access); at += access.size) {
		int32_t off = far + access.disp;

		if (is_far(arch, &access)) {
			far = access.base == ARM64_SCRATCH ? off : access.disp;
			continue;
		}
		if (access.plain)
			fn(off, ctx);
		if (access.plain && access.pair)
			fn(off + access.bytes, ctx);
		far = 0;
	}
}

/* --- either --- */

void coderefs_each(enum arch arch, const struct insn_code *code,
		   void (*fn)(const struct coderef *ref, void *ctx), void *ctx)
{
	static void (*const each[])(const struct insn_code *, const struct emitter *) = {
		[ARCH_AMD64] = each_amd64, [ARCH_ARM64] = each_arm64};

	each[arch](code, &(struct emitter){fn, ctx});
}
