/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of one function, and the jumps and branches among them. */
#ifndef FLOW_H
#define FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/insn.h"

struct flow {
	struct insn *insns; /* in order of address, padding at the end dropped */
	size_t count, cap;
	uint64_t addr, end; /* [addr, end) holds the instructions */
};

enum { FLOW_NONE = -1 };

/* Decodes all of `code`, into memory that a flow used before lends. Returns 0, or -1 when there is
 * something that is no instruction, or a direct branch into the middle of one: data is mixed with
 * the code, and nothing can be said of the whole; or when it is longer than functions are. */
int flow_decode(struct flow *flow, const struct insn_decoder *dec, const struct insn_code *code);
void flow_free(struct flow *flow); /* what it points to; a zeroed one is all right */

/* index of the instruction that starts at addr, or FLOW_NONE */
long flow_at(const struct flow *flow, uint64_t addr);

bool flow_is_inside(const struct flow *flow, uint64_t addr);

/* Ends a basic block: nothing after it, or not only what follows it, is executed next. */
bool flow_ends_block(const struct insn *in);

#endif
