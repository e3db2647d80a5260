/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that a function saves before it calls runtime.morestack: all parameters that came
 * in registers, each in its slot (from Go 1.17 on, in stripped programs too). */
#ifndef SPILL_H
#define SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/abi.h"
#include "machine/insn.h"

enum { SPILLS_MAX = 32 }; /* all registers of a machine */

struct spill {
	enum abi_where where;
	uint32_t n;          /* register, as in struct abi_piece */
	uint32_t slot, size; /* bytes; slot: above the place of the first stack argument */
};

struct spills { /* count 0: no parameter came in a register, or none is used */
	struct spill items[SPILLS_MAX];
	size_t count;
	uint64_t restart; /* address after the call: there it goes on when the stack has grown */
};

/* `code` starts with the function. false: it has no stack check, or what it saves is not
 * understood. */
bool spills_read(const struct insn_decoder *dec, const struct insn_code *code, enum arch arch,
		 struct spills *out);

/* Does the function save what the layout says that it gets in registers? Only for spills that are
 * not empty. `dictionary`: it gets a hidden one as well. */
bool spills_fit(const struct spills *spills, const struct abi_layout *layout, bool dictionary);

#endif
