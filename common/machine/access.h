/* SPDX-License-Identifier: Apache-2.0 */
/* What one instruction does with memory, by its bytes: of the instructions that compilers use with
 * variables and fields. Intel SDM volume 2, appendix A; Arm ARM, C4.1. */
#ifndef ACCESS_H
#define ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/arch.h"

struct insn_code;

enum access_how {
	ACCESS_NONE,
	ACCESS_LOAD,
	ACCESS_STORE,
	ACCESS_ADDRESS, /* it is only computed */
	ACCESS_OTHER,   /* compared, added to, of floats */
};

struct access {
	enum access_how how;
	uint8_t size;  /* of the instruction, bytes */
	uint8_t bytes; /* of memory: 1, 2, 4 or 8; 0: not known, or the address alone is meant */
	uint8_t reg, base; /* numbers in the machine's order */
	bool constant;     /* it is no register that is stored */
	bool plain;        /* the memory is at base + disp */
	bool pair;         /* arm64: and another register with the memory behind that */
	bool absolute;     /* amd64: the memory is at addr */
	int32_t disp;
	uint64_t addr;
};

/* Of the instruction `at` bytes into the code. false: it is none. */
bool access_parse(enum arch arch, const struct insn_code *code, size_t at, struct access *out);

#endif
