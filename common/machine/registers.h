/* SPDX-License-Identifier: Apache-2.0 */
/* The general registers of both machines: what DWARF, instructions and people call them, and in
 * which order calls pass integers in them. DWARF's numbers: System V ABI, AMD64 supplement, figure
 * 3.36; DWARF for the Arm 64-bit Architecture, 4.1. Orders: Go's src/cmd/compile/abi-internal.md;
 * the AMD64 supplement, 3.2.3. */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stdint.h>

#include "machine/arch.h"

/* amd64's by DWARF's numbers */
enum { AMD64_RAX, AMD64_RDX, AMD64_RCX, AMD64_RBX, AMD64_RSI, AMD64_RDI, AMD64_RBP, AMD64_RSP };
enum { AMD64_R8 = 8, AMD64_R9, AMD64_R10, AMD64_R11, AMD64_R12, AMD64_R13, AMD64_R14, AMD64_R15 };
/* and the first ones by the numbers that instructions have for them */
enum { X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI, X86_R14 = 14 };

enum registers_order {
	REGISTERS_GO, /* parameters, and results, by ABIInternal */
	REGISTERS_C,  /* parameters of C; on amd64 only, as is the next */
	REGISTERS_C_RESULT,
	REGISTERS_ORDERS
};

struct registers_general {
	uint8_t dwarf, hardware;        /* numbers in DWARF and in instructions */
	int8_t place[REGISTERS_ORDERS]; /* from 0; negative: it is none of these */
	const char *name, *low[3];      /* of the whole register, and of its low 4, 2 and 1 bytes */
	const char *high;               /* of its byte 1; NULL: that has no name */
	const char
		*probe; /* REGISTER_... of bpf-src/parts/probe.h; NULL: they are in order there */
};

/* Each NULL: there is none such. */
const struct registers_general *registers_by_dwarf(enum arch arch, uint64_t number);
const struct registers_general *registers_by_hardware(enum arch arch, unsigned number);
const struct registers_general *registers_nth(enum arch arch, enum registers_order order,
					      unsigned n);

/* what holds the running goroutine's g, by ABIInternal */
const struct registers_general *registers_g(enum arch arch);

/* how many there are in an order; how many floating-point registers Go passes numbers in */
unsigned registers_count(enum arch arch, enum registers_order order);
unsigned registers_go_floats(enum arch arch);

/* n of the floating-point register xmmN or vN that DWARF has this number for; -1: it is of none */
int registers_float(enum arch arch, uint64_t dwarf);

/* what the register's low `size` bytes are called, 1 to 8 */
const char *registers_name(const struct registers_general *reg, unsigned size);

#endif
