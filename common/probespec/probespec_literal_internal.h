/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, characters and strings as Go and C write them. Offsets are into `text`, a PROBE. */
#ifndef PROBESPEC_LITERAL_INTERNAL_H
#define PROBESPEC_LITERAL_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

struct errmsg;

/* 12 1_000 0x1f 0o17 017 0b101, 10ms and 4KiB in ns and bytes, and 'a' '\n'. Returns where the
 * literal ends, or 0 with *err. */
size_t probespec_literal_number(const char *text, size_t at, uint64_t *out, struct errmsg *err);
size_t probespec_literal_char(const char *text, size_t at, uint64_t *out, struct errmsg *err);

/* After the closing quote of the string at text[at], or 0: there is none. */
size_t probespec_literal_end(const char *text, size_t at);

struct probespec_string {
	char *bytes; /* NUL-terminated, may hold further NULs */
	size_t len;
	unsigned *cols; /* column of each byte, and of the closing quote */
};

/* Decodes the string at text[at], which must have an end. 0: the caller frees bytes and cols; -1
 * with *err. */
int probespec_literal_string(const char *text, size_t at, struct probespec_string *out,
			     struct errmsg *err);

#endif
