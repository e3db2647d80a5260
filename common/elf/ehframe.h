/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information of amd64: where a function's caller goes on, and what its registers hold
 * there. Read from .eh_frame by its search table, which stripped programs have, too. Formats: DWARF
 * 5, 6.4; the Linux Standard Base, 10.6. */
#ifndef EHFRAME_H
#define EHFRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/registers.h"

struct budget;
struct image;

/* by DWARF's numbers: the return address comes after the general registers */
enum { EHFRAME_RA = AMD64_R15 + 1, EHFRAME_REGS };

enum ehframe_how {
	EHFRAME_SAME,
	EHFRAME_SAVED, /* at CFA + off */
	EHFRAME_VALUE, /* is CFA + off */
	EHFRAME_LOST,
};

struct ehframe_rule {
	enum ehframe_how how;
	int64_t off; /* bytes */
};

struct ehframe_row {
	uint64_t func; /* address of what the information is about: a function, or a part of it */
	unsigned cfa_reg; /* the canonical frame address is this register's value + cfa_off */
	int64_t cfa_off;
	struct ehframe_rule regs[EHFRAME_REGS]; /* by DWARF's numbers */
};

#endif
