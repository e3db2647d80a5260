/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information put together in memory, for tests: functions of 0x40 bytes each from the
 * start of elffile.h's text segment, and the search table that they are found by. */
#ifndef FRAMEFILE_H
#define FRAMEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elffile;

enum { FRAMEFILE_FUNCTION = 0x40 /* bytes of code */ };

struct framefile_rules {
	const char *bytes;
	size_t len;
};

#define FRAMEFILE_RULES(text) ((struct framefile_rules){text, sizeof(text) - 1})

struct framefile {
	struct elffile *f;
	bool large; /* with augmentation data of a language and absolute addresses; else as for C */
	uint64_t cie, at;
	unsigned count;
};

/* Begins with what all functions have in common. */
void framefile_make(struct framefile *w, struct elffile *f, bool large,
		    struct framefile_rules rules);
/* Adds the next function. Returns the address of its record: from its byte 8 on it has the
 * function's start and length, of 8 bytes each if `large`, else 4. */
uint64_t framefile_func(struct framefile *w, struct framefile_rules rules);

#endif
