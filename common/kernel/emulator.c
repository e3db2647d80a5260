// SPDX-License-Identifier: Apache-2.0
#include "kernel/emulator.h"

#include <errno.h>
#include <stddef.h>

#include <asm/ptrace.h>
#include <linux/bpf.h>

#include "bpf-src/shared/cookie.h"
#include "kernel/bpfcall_internal.h"

#ifdef __x86_64__
enum {
	FUNC_GET_ATTACH_COOKIE = 174, /* linux/bpf.h may be older */
	SHADOW_STACK = 1,             /* ARCH_SHSTK_SHSTK of the kernel's asm/prctl.h */
	ADDRESS_BITS = 47,            /* of code; what is no address faults in the kernel's step */
	INSNS_MAX = 48,
};

/* what the registers hold that calls do not change */
enum { CONTEXT = BPF_REG_6, COOKIE = BPF_REG_7, STACK = BPF_REG_8 };

struct code {
	struct bpf_insn insns[INSNS_MAX];
	size_t count;
};

static void add(struct code *code, struct bpf_insn insn)
{
	code->insns[code->count++] = insn;
}

static void call(struct code *code, int function)
{
	add(code, (struct bpf_insn){.code = BPF_JMP | BPF_CALL, .imm = function});
}

/* to = from */
static void move(struct code *code, int to, int from)
{
	add(code,
	    (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = to, .src_reg = from});
}

/* reg = reg OP value */
static void compute(struct code *code, int op, int reg, int value)
{
	add(code, (struct bpf_insn){.code = BPF_ALU64 | op | BPF_K, .dst_reg = reg, .imm = value});
}

/* to = *(from + off) */
static void load(struct code *code, int to, int from, int off)
{
	add(code, (struct bpf_insn){.code = BPF_LDX | BPF_MEM | BPF_DW,
				    .dst_reg = to,
				    .src_reg = from,
				    .off = off});
}

/* *(CONTEXT + off) = from */
static void store(struct code *code, int off, int from)
{
	add(code, (struct bpf_insn){.code = BPF_STX | BPF_MEM | BPF_DW,
				    .dst_reg = CONTEXT,
				    .src_reg = from,
				    .off = off});
}

/* if (reg OP value) return 0; finish() fills in the distance */
static void leave_if(struct code *code, int op, int reg, int value)
{
	add(code, (struct bpf_insn){.code = BPF_JMP | op | BPF_K, .dst_reg = reg, .imm = value});
}

/* r2 = the 8 bytes that r3 points to; leaves where they cannot be read */
static void read_word(struct code *code, int function)
{
	move(code, BPF_REG_1, BPF_REG_10);
	compute(code, BPF_ADD, BPF_REG_1, -8);
	compute(code, BPF_MOV, BPF_REG_2, 8);
	call(code, function);
	leave_if(code, BPF_JNE, BPF_REG_0, 0);
	load(code, BPF_REG_2, BPF_REG_10, -8);
}

/* r1 = in which of the lowest 12 bits an address differs from the site's */
static void compare(struct code *code, int address)
{
	move(code, BPF_REG_1, address);
	add(code, (struct bpf_insn){.code = BPF_ALU64 | BPF_XOR | BPF_X,
				    .dst_reg = BPF_REG_1,
				    .src_reg = COOKIE});
	compute(code, BPF_AND, BPF_REG_1, COOKIE_PAGE - 1);
}

static void leave_if_done(struct code *code)
{
	load(code, BPF_REG_1, CONTEXT, offsetof(struct pt_regs, rip));
	compare(code, BPF_REG_1);
	leave_if(code, BPF_JNE, BPF_REG_1, 0);
}

static void leave_if_shadowed(struct code *code, uint32_t thread_features)
{
	if (!thread_features)
		return;
	call(code, BPF_FUNC_get_current_task);
	move(code, BPF_REG_3, BPF_REG_0);
	compute(code, BPF_ADD, BPF_REG_3, thread_features);
	read_word(code, BPF_FUNC_probe_read_kernel);
	leave_if(code, BPF_JSET, BPF_REG_2, SHADOW_STACK);
}

static void carry_out(struct code *code)
{
	load(code, STACK, CONTEXT, offsetof(struct pt_regs, rsp));
	move(code, BPF_REG_3, STACK);
	read_word(code, BPF_FUNC_probe_read_user);
	compare(code, BPF_REG_2);
	leave_if(code, BPF_JEQ, BPF_REG_1, 0);
	move(code, BPF_REG_1, BPF_REG_2);
	compute(code, BPF_RSH, BPF_REG_1, ADDRESS_BITS);
	leave_if(code, BPF_JNE, BPF_REG_1, 0);
	compute(code, BPF_ADD, STACK, 8);
	store(code, offsetof(struct pt_regs, rsp), STACK);
	store(code, offsetof(struct pt_regs, rip), BPF_REG_2);
}

static void finish(struct code *code)
{
	size_t end = code->count;

	for (size_t i = 0; i < end; i++)
		if (BPF_CLASS(code->insns[i].code) == BPF_JMP &&
		    BPF_OP(code->insns[i].code) != BPF_CALL)
			code->insns[i].off = end - i - 1;
	compute(code, BPF_MOV, BPF_REG_0, 0);
	add(code, (struct bpf_insn){.code = BPF_JMP | BPF_EXIT});
}

int emulator_load(int attach_type, uint32_t thread_features)
{
	struct code code = {.count = 0};

	move(&code, CONTEXT, BPF_REG_1);
	call(&code, FUNC_GET_ATTACH_COOKIE);
	move(&code, COOKIE, BPF_REG_0);
	leave_if_done(&code);
	leave_if_shadowed(&code, thread_features);
	carry_out(&code);
	finish(&code);
	return bpfcall_insns(code.insns, code.count, attach_type, 0);
}
#else
int emulator_load(int attach_type, uint32_t thread_features)
{
	(void)attach_type;
	(void)thread_features;
	errno = ENOTSUP;
	return -1;
}
#endif
