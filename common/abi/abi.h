/* SPDX-License-Identifier: Apache-2.0 */
/* Where Go passes parameters and results. Rules: Go's src/cmd/compile/abi-internal.md (registers,
 * from Go 1.17 on amd64, 1.18 on arm64) and its stack-based predecessor, ABI0; for gccgo C's, the
 * System V ABI's AMD64 supplement (3.2.3, Parameter Passing). */
#ifndef ABI_H
#define ABI_H

#include <stddef.h>
#include <stdint.h>

#include "golang/gofunc.h"
#include "machine/registers.h"

enum abi_convention { ABI_STACK, ABI_REGISTERS, ABI_SYSV };

enum abi_where {
	ABI_INT,   /* `n`-th integer register of REGISTERS_GO */
	ABI_FLOAT, /* `n`-th floating-point register: x0 to x14; f0 to f15 */
	ABI_SLOT,  /* memory, `n` bytes above the place of the first stack argument, which is the
		    * stack pointer at entry + 8 on both machines */
	/* in inlined copies, where debug information or a call's own rules say so, and in C: */
	ABI_HARDWARE, /* register `n` by DWARF's numbers */
	ABI_SP,       /* memory, `n` bytes above the stack pointer at the probe's site */
	ABI_AT,       /* memory, at the address in register `n` by DWARF's numbers */
};

struct abi_piece { /* bytes [off, off + size) of a value */
	enum abi_where where;
	uint32_t n;
	uint32_t off, size;
	uint32_t from; /* bytes into the register, or past the address in it, where they begin */
};

struct abi_value {
	struct abi_piece *pieces; /* in order of `off`; a value of size 0 has none */
	size_t count;
	uint32_t slot; /* where it is on the stack, as `n` above; of a parameter in registers: where
			* the function keeps it when it needs them (a result there: 0) */
};

struct abi_layout {
	struct abi_value *params, *results; /* as many as the gofunc has */
	size_t param_count, result_count;
	uint32_t stack_size; /* bytes of stack arguments and results */
	uint32_t args_size;  /* and of the slots of parameters in registers: what pclntab's
			      * `args` says of the function */
};

/* Caller frees with abi_layout_free(). What is too large for any stack (types of malformed files)
 * has no pieces. */
void abi_layout(const struct gofunc *fn, enum arch arch, enum abi_convention convention,
		struct abi_layout *out);
void abi_layout_free(struct abi_layout *layout);
/* Puts a copy of these pieces in the place of those that are there. */
void abi_keep_pieces(struct abi_value *out, const struct abi_piece *pieces, size_t count);

/* Do the pieces tell of all of what is at `off` of the value, of `type`, but for padding? */
bool abi_covers(const struct abi_value *value, const struct gotype *type, uint64_t off);

/* The n-th argument word of C, from 0: what eight bytes a function takes there, whatever they are.
 */
struct abi_piece abi_c_word(unsigned n);

/* of an integer in a register, or of an address; NULL: it is nowhere of that kind */
const struct registers_general *abi_register(enum arch arch, const struct abi_piece *piece);

/* "edi", "xmm0", "[sp+8]", "rax+4" (from its byte 4 on), "[rax+16]"; in 24 bytes. */
void abi_place_text(enum arch arch, const struct abi_piece *piece, char *out, size_t size);

/* What a program of this release passes by. (Assembly and .abi0 functions are always ABI_STACK.) */
enum abi_convention abi_convention(enum arch arch, int release);

#endif
