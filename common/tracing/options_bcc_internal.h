/* SPDX-License-Identifier: Apache-2.0 */
/* Options of bcc's tools that their counterparts here lack. */
#ifndef OPTIONS_BCC_INTERNAL_H
#define OPTIONS_BCC_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errmsg;

/* A hint at what the tool ("gotrace" and so on) has in place of bcc's option; NULL: none. */
const char *options_bcc_hint(const char *tool, int letter);

/* Numbers without a letter, as bcc's tools take them. */
struct options_bcc_numbers {
	char **args; /* among which they are */
	size_t arg_count;
	size_t most;                       /* no more of them are taken */
	bool duration;                     /* the first is DURATION, not INTERVAL */
	uint64_t interval_ns, duration_ns; /* interval_ns: given already, unless 0 */
};

bool options_bcc_is_number(const char *arg);
/* Takes numbers out of `args`: [INTERVAL] [COUNT], or DURATION. 0; -1 with *err. */
int options_bcc_take(struct options_bcc_numbers *numbers, struct errmsg *err);

#endif
