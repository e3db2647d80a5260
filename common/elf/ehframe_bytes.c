// SPDX-License-Identifier: Apache-2.0
#include "elf/ehframe_bytes_internal.h"

#include <string.h>

enum { PCREL = 0x10, MAX_SHIFT = 63 };

struct ehframe_bytes ehframe_part(struct ehframe_bytes *in, uint64_t len)
{
	struct ehframe_bytes part = *in;

	if (in->bad || len > (uint64_t)(in->end - in->at)) {
		in->bad = true;
		return *in;
	}
	part.end = part.at + len;
	in->at += len;
	in->addr += len;
	return part;
}

static uint64_t number(struct ehframe_bytes *in, unsigned size)
{
	struct ehframe_bytes part = ehframe_part(in, size);
	uint64_t value = 0;

	if (!part.bad)
		memcpy(&value, part.at, size);
	return value;
}

uint8_t ehframe_u8(struct ehframe_bytes *in)
{
	return (uint8_t)number(in, 1);
}

uint16_t ehframe_u16(struct ehframe_bytes *in)
{
	return (uint16_t)number(in, 2);
}

uint32_t ehframe_u32(struct ehframe_bytes *in)
{
	return (uint32_t)number(in, 4);
}

/* Returns the number of bits. */
static unsigned leb(struct ehframe_bytes *in, uint64_t *value, bool *negative)
{
	unsigned shift = 0;
	uint8_t byte;

	*value = 0;
	do {
		byte = ehframe_u8(in);
		if (shift > MAX_SHIFT)
			in->bad = true;
		else
			*value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !in->bad);
	*negative = byte & 0x40;
	return shift;
}

uint64_t ehframe_uleb(struct ehframe_bytes *in)
{
	uint64_t value;
	bool negative;

	leb(in, &value, &negative);
	return in->bad ? 0 : value;
}

int64_t ehframe_sleb(struct ehframe_bytes *in)
{
	uint64_t value;
	bool negative;
	unsigned bits = leb(in, &value, &negative);

	if (negative && bits <= MAX_SHIFT)
		value |= ~UINT64_C(0) << bits;
	return in->bad ? 0 : (int64_t)value;
}

uint64_t ehframe_address(struct ehframe_bytes *in, uint8_t encoding)
{
	uint64_t base = encoding & PCREL ? in->addr : 0;

	if (encoding & 0xe0 && (encoding & 0xf0) != 0x90) { /* indirect is for personalities */
		in->bad = true;
		return 0;
	}
	switch (encoding & 0x0f) {
	case 0x00: /* DW_EH_PE_absptr */
	case 0x04: /* udata8 */
	case 0x0c: /* sdata8 */
		return base + number(in, 8);
	case 0x02: /* udata2 */
		return base + number(in, 2);
	case 0x03: /* udata4 */
		return base + number(in, 4);
	case 0x0a: /* sdata2 */
		return base + (uint64_t)(int64_t)(int16_t)number(in, 2);
	case 0x0b: /* sdata4 */
		return base + (uint64_t)(int64_t)(int32_t)number(in, 4);
	default:
		in->bad = true;
		return 0;
	}
}

const char *ehframe_text(struct ehframe_bytes *in)
{
	const uint8_t *text = in->at, *zero = memchr(text, 0, in->end - in->at);

	if (in->bad || !zero)
		return NULL;
	ehframe_part(in, (uint64_t)(zero - text) + 1);
	return (const char *)text;
}
