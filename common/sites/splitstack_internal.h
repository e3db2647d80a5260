/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room sites uses of splitstack. */
#ifndef SPLITSTACK_INTERNAL_H
#define SPLITSTACK_INTERNAL_H

#include "sites/splitstack.h"

/* `code` starts with the function. false: it has no check. */
bool splitstack_find(const struct insn_decoder *dec, const struct insn_code *code,
		     struct splitstack *out);

#endif
