/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the numbers of call frame information one after the other. Past the end, a number is 0 and
 * `bad` is set. */
#ifndef EHFRAME_BYTES_INTERNAL_H
#define EHFRAME_BYTES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct ehframe_bytes {
	const uint8_t *at, *end;
	uint64_t addr; /* of `at` */
	bool bad;
};

/* The next `len` bytes, which are passed over. */
struct ehframe_bytes ehframe_part(struct ehframe_bytes *in, uint64_t len);
uint8_t ehframe_u8(struct ehframe_bytes *in);
uint16_t ehframe_u16(struct ehframe_bytes *in);
uint32_t ehframe_u32(struct ehframe_bytes *in);
uint64_t ehframe_uleb(struct ehframe_bytes *in);
int64_t ehframe_sleb(struct ehframe_bytes *in);
/* An address in one of the encodings DW_EH_PE_* that linkers use. */
uint64_t ehframe_address(struct ehframe_bytes *in, uint8_t encoding);
const char *ehframe_text(struct ehframe_bytes *in); /* up to a zero byte; NULL: there is none */

#endif
