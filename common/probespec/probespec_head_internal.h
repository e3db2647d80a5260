/* SPDX-License-Identifier: Apache-2.0 */
/* What a PROBE begins with: [p:|r:][BINARY:]FUNCTION[(SIGNATURE)]. This part is not read as tokens,
 * because Go names contain parentheses, stars, brackets and colons themselves. */
#ifndef PROBESPEC_HEAD_INTERNAL_H
#define PROBESPEC_HEAD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct errmsg;

struct probespec_head { /* offsets in the PROBE, bytes */
	bool values;    /* set before: EXPRs may follow, which look like types */
	bool at_return;
	size_t target, target_end;
	size_t signature, signature_end; /* equal: there is none */
	size_t end;                      /* of the whole head */
};

/* `regex`: FUNCTION is a regular expression. 0; -1 with *err. */
int probespec_head_scan(const char *text, bool regex, struct probespec_head *out,
			struct errmsg *err);

#endif
